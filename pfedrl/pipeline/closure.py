"""The modules of pfedrl that run when a module is used, found by reading the source."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGE = "pfedrl"


class _Running(ast.NodeTransformer):
    """Without what stands under `if TYPE_CHECKING`: it never runs."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        name = getattr(node.test, "attr", getattr(node.test, "id", ""))
        return node.orelse if name == "TYPE_CHECKING" else node


def running(source: str) -> ast.Module:
    """What of a module runs, parsed."""
    tree = ast.parse(source)
    # every start of the pipeline and every job reads some hundred modules: most need no look
    return _Running().visit(tree) if "TYPE_CHECKING" in source else tree


@cache
def imported(source: str, package: str) -> frozenset[str]:
    """Every module that a source names in an import, wherever it stands in the file.

    `package` is where the source's relative imports start. `from package import name` may name a
    module or something in one: both are given, and who asks knows which of them there are.
    """
    return frozenset(_names(running(source), package))


def _names(tree: ast.Module, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            start = [".".join(above)] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            name = getattr(node.args[0], "value", None)
            if called == "import_module" and isinstance(name, str):
                yield name


def _path(root: Path, module: str) -> Path | None:
    """The file of a module of pfedrl, or None where it is not one."""
    if module.split(".")[0] != PACKAGE:
        return None
    base = root / Path(*module.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def closure(*modules: str, root: Path = ROOT) -> tuple[dict[str, str], set[str]]:
    """The sources of the modules and of all they import within pfedrl, by path from the root; and
    the names of whatever else is imported."""
    found: dict[str, str] = {}
    elsewhere: set[str] = set()
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        # importing a module runs the packages above it first
        above, _, _ = module.rpartition(".")
        if above:
            waiting.append(above)
        path = _path(root, module)
        if path is None:
            elsewhere.add(module)
            continue
        source = path.read_text(encoding="utf-8")
        found[path.relative_to(root).as_posix()] = source
        waiting.extend(imported(source, module if path.name == "__init__.py" else above))
    return found, elsewhere
