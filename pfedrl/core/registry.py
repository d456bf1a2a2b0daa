"""Components by name: a file in a room is a component, and its name is the file's.

algorithms/tabular/qavg.py is the algorithm 'qavg', envs/tabular/windy_cliff.py the family
'windy_cliff', theory/qavg_lemma1.py the statement 'qavg_lemma1'. Where two folders of a room have
a file of one name, as FedQ-K of tables and of nets, the folder is part of it: 'dqn/fedq_k'.
Adding one needs nothing but the file.
"""

import ast
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pfedrl.core.errors import PfedrlError, unknown

PACKAGE = Path(__file__).parent.parent
ROOMS = {"algorithms": "algorithm", "envs": "family", "theory": "statement"}


class Component(NamedTuple):
    """Where a component stands."""

    module: str
    class_name: str


@cache
def components(room: str) -> dict[str, Component]:
    """The components of a room by name; found by reading, not importing.

    A component is a class that gives itself a label; shared bases have none.
    """
    found = {}
    for path in sorted((PACKAGE / room).rglob("*.py")):
        labelled = [
            node.name
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.ClassDef) and any(_sets_label(line) for line in node.body)
        ]
        if len(labelled) > 1:
            raise PfedrlError(
                f"{path}: {' and '.join(labelled)} both have a label; a file holds one component."
            )
        if labelled:
            found[path] = labelled[0]
    stems = Counter(path.stem for path in found)
    return {
        path.stem if stems[path.stem] == 1 else f"{path.parent.name}/{path.stem}": Component(
            ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts), class_name
        )
        for path, class_name in found.items()
    }


def _sets_label(line: ast.stmt) -> bool:
    return (
        isinstance(line, ast.AnnAssign)
        and isinstance(line.target, ast.Name)
        and line.target.id == "label"
        and line.value is not None
    )


def load(room: str, name: str, where: str = "") -> Any:
    """The class of a component; a name that is none gets the nearest one."""
    known = components(room)
    if name not in known:
        raise _not_there(ROOMS[room], name, known, where)
    return getattr(import_module(known[name].module), known[name].class_name)


def load_runnable(name: str, where: str = "") -> Any:
    """An algorithm or a statement: whatever an experiment's variant may name."""
    if name in components("theory"):
        return load("theory", name)
    if name not in components("algorithms"):
        known = [*components("algorithms"), *components("theory")]
        raise _not_there("algorithm", name, known, where)
    return load("algorithms", name)


def _not_there(kind: str, name: str, known: Iterable[str], where: str) -> PfedrlError:
    """The error for a name that is none, or that a second file of the same name took away."""
    shared = [one for one in known if one.endswith(f"/{name}")]
    if not shared:
        return unknown(kind, name, known, where)
    return PfedrlError(
        f"{where}{': ' if where else ''}two files are called {name}.py ({' and '.join(shared)}). "
        "Rename the newer one: the name is part of every run's key."
    )


def is_control(name: str) -> bool:
    """Whether an algorithm is a floor or a ceiling, which learns nothing."""
    return ".controls." in module_of(name)


def module_of(name: str) -> str:
    """The module an algorithm or a statement stands in."""
    room = "theory" if name in components("theory") else "algorithms"
    return components(room)[name].module
