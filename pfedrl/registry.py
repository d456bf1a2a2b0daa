"""Components by name: a file in a room is a component, and its name is the file's.

algorithms/qavg.py is the algorithm 'qavg', envs/windy_cliff.py the family 'windy_cliff',
theory/lemma1.py the statement 'lemma1'. Adding one needs nothing but the file.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from pfedrl.errors import unknown

PACKAGE = Path(__file__).parent
ROOMS = {"algorithms": "algorithm", "envs": "family", "theory": "statement"}


@cache
def components(room: str) -> dict[str, str]:
    """Name of each component in a room to its class's name; found by reading, not importing.

    A component is a class that gives itself a label; shared bases have none.
    """
    found = {}
    for path in sorted((PACKAGE / room).glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and any(_sets_label(line) for line in node.body):
                found[path.stem] = node.name
    return found


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
        raise unknown(ROOMS[room], name, known, where)
    return getattr(import_module(f"pfedrl.{room}.{name}"), known[name])


def load_runnable(name: str, where: str = "") -> Any:
    """An algorithm or a statement: whatever an experiment's variant may name."""
    if name in components("theory"):
        return load("theory", name)
    if name not in components("algorithms"):
        known = [*components("algorithms"), *components("theory")]
        raise unknown("algorithm", name, known, where)
    return load("algorithms", name)


def module_of(name: str) -> str:
    """The module an algorithm or a statement stands in."""
    return f"pfedrl.{'theory' if name in components('theory') else 'algorithms'}.{name}"
