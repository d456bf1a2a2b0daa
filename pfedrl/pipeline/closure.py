"""Code as an input: the modules of pfedrl that a module imports, found by reading the source."""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
ROOT = PACKAGE.parent


def _path(module: str) -> Path | None:
    """The file of a module of pfedrl, or None where it is not one."""
    base = ROOT / Path(*module.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imports(module: str) -> frozenset[str]:
    """The pfedrl modules that a module names in an import, anywhere in the file."""
    path = _path(module)
    assert path is not None
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from package import module` names a module too
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        found.update(name for name in names if name.startswith("pfedrl.") and _path(name))
    return frozenset(found)


def closure(*modules: str) -> list[str]:
    """The files of the modules and of all they import within pfedrl, relative to the root."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting.extend(_imports(module))
    files = {_path(module) for module in seen}
    # __init__ files hold a docstring only; a change there changes no number
    return sorted(str(f.relative_to(ROOT)) for f in files if f and f.name != "__init__.py")
