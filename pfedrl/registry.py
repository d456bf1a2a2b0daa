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
ROOMS = {  # room: (the class its components derive from, what a person calls one)
    "algorithms": ("Algorithm", "algorithm"),
    "envs": ("Family", "family"),
    "theory": ("Statement", "statement"),
}


@cache
def components(room: str) -> dict[str, str]:
    """Name of each component in a room to its class's name; found by reading, not importing."""
    base, _ = ROOMS[room]
    found = {}
    for path in sorted((PACKAGE / room).glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and path.stem != "base" and _derives(node, base):
                found[path.stem] = node.name
    return found


def _derives(node: ast.ClassDef, base: str) -> bool:
    """Whether a class names a base that is, or ends like, the room's: Family, TabularFamily."""
    return any(isinstance(parent, ast.Name) and parent.id.endswith(base) for parent in node.bases)


def load(room: str, name: str) -> Any:
    """The class of a component; a name that is none gets the nearest one."""
    known = components(room)
    if name not in known:
        raise unknown(ROOMS[room][1], name, known)
    return getattr(import_module(f"pfedrl.{room}.{name}"), known[name])


def load_runnable(name: str) -> Any:
    """An algorithm or a statement: whatever an experiment's variant may name."""
    if name in components("theory"):
        return load("theory", name)
    if name not in components("algorithms"):
        raise unknown("algorithm", name, [*components("algorithms"), *components("theory")])
    return load("algorithms", name)


def module_of(name: str) -> str:
    """The module an algorithm or a statement stands in."""
    return f"pfedrl.{'theory' if name in components('theory') else 'algorithms'}.{name}"
