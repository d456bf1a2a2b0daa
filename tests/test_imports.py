"""Rooms import one way: core <- stack <- envs <- algorithms <- theory <- pipeline <- analysis.

Snakemake's plugin is beside them, and imports from core only.
"""

import ast
import subprocess
import sys
from collections import defaultdict

from pfedrl.core.registry import PACKAGE

FLOORS = (
    "core", "stack", "envs", "algorithms", "theory", "pipeline", "analysis", "benchmarks", "suites",
    "cli",
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


def test_the_plugin_imports_core_only_and_nothing_before_it_is_used():
    folder = PACKAGE.parent / "snakemake_logger_plugin_pfedrl"
    found = {
        path.stem: {
            str(getattr(node, "module", None) or alias.name)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        for path in folder.glob("*.py")
    }
    ours = {name for names in found.values() for name in names if name.startswith("pfedrl")}
    assert ours and {room(name) for name in ours} == {"core"}
    others = {name.split(".")[0] for names in found.values() for name in names}
    assert not others & {"numpy", "pandas", "torch", "yaml", "numba", "pyarrow"}
    # Snakemake imports the plugin in every workflow of the environment
    program = f"import {folder.name}, sys; assert 'pfedrl' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], cwd=PACKAGE.parent, check=True)
