"""Rooms import one way: core <- stack <- envs <- algorithms <- theory <- pipeline <- analysis."""

import ast
from collections import defaultdict

from pfedrl.core.registry import PACKAGE

FLOORS = (
    "core", "stack", "envs", "algorithms", "theory", "pipeline", "analysis", "benchmarks", "cli"
)  # fmt: skip


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "pfedrl"


def imports() -> dict[str, dict[str, list[str]]]:
    """Room to the rooms that it imports, each with the files that do, lazily or at once."""
    graph: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pfedrl."):
                names = [str(node.module)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names if alias.name.startswith("pfedrl.")]
            else:
                continue
            for name in names:
                if room(name) != room(module):
                    graph[room(module)][room(name)].append(module)
    return graph


def drawn(graph: dict[str, dict[str, list[str]]]) -> str:
    return "\n".join(
        f"{above} -> {', '.join(sorted(below))}" for above, below in sorted(graph.items())
    )


def test_every_room_imports_only_the_floors_below_it():
    graph = imports()
    wrong = [
        f"{above} imports {below}, in {', '.join(sorted(set(modules)))}"
        for above, rooms in graph.items()
        if above in FLOORS
        for below, modules in rooms.items()
        if below not in FLOORS or FLOORS.index(below) > FLOORS.index(above)
    ]
    assert not wrong, "\n".join([*wrong, "", "the graph:", drawn(graph)])


def test_every_room_has_a_floor():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == set(FLOORS)
