"""Code as an input: a digest of the code that shapes a cell's numbers.

It is a parameter of the rules, part of a checkpoint's key and a fact about a run: where it differs,
a run is made anew and a checkpoint refused; where it does not, nothing reruns.

In it: the algorithm, the family, the training loop and all modules of pfedrl that these import, and
of the package or folder that an algorithm or family from outside comes from; the versions of the
libraries among their imports that compute, because another version may round differently; and the
instruction set that the libraries are held to (see `core.processor`).

Not in it, because no number can depend on it:
- comments, formatting, docstrings;
- annotations of functions and variables, and imports for them. Those in a class stay: dataclasses
  and settings are made from them;
- the texts in `raise`, in errors and after an assertion's comma;
- other words: `description` of a setting, and the class attributes `label` and `varies`;
- `skip` and `metrics`, which say whether a cell exists and what it will record, not the numbers;
- hooks that nothing in it fills: calls of methods that do nothing, or return what they are given;
- the modules APART.

Tables, figures, verdicts and pages show such words: their rules keep them by `words=True`.
"""

import ast
import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfedrl.core.errors import PfedrlError
from pfedrl.core.processor import flags, held
from pfedrl.core.registry import module_file, outside_file

if TYPE_CHECKING:
    from pfedrl.pipeline.cells import Cell

ROOT = Path(__file__).parent.parent.parent
PACKAGE = "pfedrl"
LOOP = "pfedrl.stack.loop"
LIBRARIES = ("numpy", "scipy", "numba", "torch", "gymnasium", "mujoco", "libsumo")
WORDS = {"label", "varies"}  # attributes of components
ERRORS = {"unknown", "broken"}  # functions that make an error, besides the classes named ...Error
HOOKS = {"adjust", "attacked", "begin"}  # methods that do nothing unless an algorithm fills them
FOR_ANNOTATIONS = {"typing", "collections.abc", "__future__"}
APART = {
    "pfedrl/__init__.py",  # calls what follows
    "pfedrl/core/caches.py",  # removes compiled code that may be old
    "pfedrl/core/errors.py",  # words
    "pfedrl/core/files.py",  # how a file takes the place of another
    "pfedrl/core/processor.py",  # what it sets is in the digest, value by value
    "pfedrl/core/settings.py",  # how settings are checked; their values are in the key
}


def fingerprint(
    *modules: str,
    words: bool = False,
    only: tuple[str, ...] = ("",),
    root: Path = ROOT,
    pins: Mapping[str, str] | None = None,
) -> str:
    """A digest of the modules and of all that they import, under this process's pins or others;
    `only` names the beginnings of the paths that count."""
    sources, elsewhere = closure(*modules, root=root)
    idle = frozenset(HOOKS).difference(*(_filled(source) for source in sources.values()))
    parts = [
        f"{path}\n{_kept(source, words, idle)}"
        for path, source in sorted(sources.items())
        if path not in APART and path.startswith(only)
    ]
    if not words:
        parts += [f"{name} {_version(name)}" for name in LIBRARIES if name in elsewhere]
        kept = held(os.environ, flags()) if pins is None else pins
        parts += [f"{name} {value}" for name, value in sorted(kept.items())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def run_code(cell: "Cell", pins: Mapping[str, str] | None = None) -> str:
    """The code behind the numbers of a cell's runs, here or under other pins."""
    modules = (*_modules(cell.runnable), *_modules(cell.family), LOOP)
    return _of(*modules) if pins is None else fingerprint(*modules, pins=pins)


def build_code(cell: "Cell") -> str:
    """The code behind the draws of a cell's family."""
    return _of(*_modules(cell.family))


def _modules(component: Any) -> list[str]:
    """Where the classes of a component stand: those that were put together have several."""
    return [] if component is None else [made.__module__ for made in type(component).__mro__]


def check_code(expected: str | None, found: str) -> None:
    """A job that began after an edit must not stand for the code that was planned, in a cache."""
    if expected is not None and expected != found:
        raise PfedrlError(
            "the code was edited after the pipeline had started. Run the same command again."
        )


@cache
def _of(*modules: str) -> str:
    return fingerprint(*modules)


@cache
def _version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "none"


@cache
def _kept(source: str, words: bool, idle: frozenset[str]) -> str:
    """The source in one form, whatever its comments and line breaks; with or without its words,
    and without hooks that nothing fills."""
    return ast.unparse(_Effects(words, idle).visit(running(source)))


@cache
def _filled(source: str) -> frozenset[str]:
    """The hooks that a source fills: by a method that does something, or by an assignment."""
    if not any(hook in source for hook in HOOKS):
        return frozenset()
    found = set()
    for node in ast.walk(running(source)):
        if isinstance(node, ast.FunctionDef) and not _does_nothing(node):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            lines = [line for line in node.body if isinstance(line, ast.Assign | ast.AnnAssign)]
            targets = [name for line in lines for name in ast.walk(line)]
            found |= {name.id for name in targets if isinstance(name, ast.Name)}
    return frozenset(found & HOOKS)


def _does_nothing(method: ast.FunctionDef) -> bool:
    """Whether a method has an empty body, or returns its first argument."""
    body = [line for line in method.body if not isinstance(line, ast.Pass)]
    body = [line for line in body if not (isinstance(line, ast.Expr) and _is_text(line.value))]
    given = [argument.arg for argument in method.args.args[1:2]]
    returned = [getattr(getattr(line, "value", None), "id", None) for line in body]
    returns = all(isinstance(line, ast.Return) for line in body)
    return not body or (returns and returned == given)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


class _Silent(ast.NodeTransformer):
    """Texts made empty; what else an error carries stays."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant("")

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant("") if _is_text(node) else node


class _Effects(ast.NodeTransformer):
    """Of a module that runs, what can shape a number; or, with words, a page."""

    def __init__(self, words: bool, idle: frozenset[str]) -> None:
        self._words, self._idle = words, idle
        self._of_classes: set[ast.stmt] = set()  # lines whose annotations make fields

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [line for line in node.body if not self._says_nothing(line)] or [ast.Pass()]
        return node

    @staticmethod
    def _says_nothing(line: ast.stmt) -> bool:
        """A docstring."""
        return isinstance(line, ast.Expr) and _is_text(line.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [line for line in node.body if self._words or not self._is_word(line)]
        self._of_classes.update(node.body)
        return self.generic_visit(node)

    @staticmethod
    def _is_word(line: ast.stmt) -> bool:
        if isinstance(line, ast.FunctionDef):
            return line.name in ("skip", "metrics")
        targets: list[Any] = getattr(line, "targets", [getattr(line, "target", None)])
        return getattr(targets[0], "id", None) in WORDS

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        node.returns = None
        return None if node.name in self._idle else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if self._is_idle(node.value) else self.generic_visit(node)

    def _is_idle(self, node: ast.AST) -> bool:
        """A call of a hook that nothing fills."""
        return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in self._idle

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if node in self._of_classes:
            return node
        if node.value is None:
            return None
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module in FOR_ANNOTATIONS else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        return _Silent().visit(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.msg = None
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self._is_idle(node):  # it returns what it was given
            return node.args[0]
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name.endswith("Error") or name in ERRORS:
            return _Silent().visit(node)
        if name == "Field" and not self._words:
            node.keywords = [word for word in node.keywords if word.arg != "description"]
        return node


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


def _file(root: Path, module: str) -> tuple[str, Path] | None:
    """The name and place of a module's file; None of one that is neither of pfedrl nor of the code
    from outside that this process loaded."""
    if module.split(".")[0] != PACKAGE:
        return outside_file(module)
    found = module_file(root, module)
    return None if found is None else (found.relative_to(root).as_posix(), found)


def closure(*modules: str, root: Path = ROOT) -> tuple[dict[str, str], set[str]]:
    """The sources of the modules and of all they import within pfedrl or their own folder, by path
    from its root; and the names of whatever else is imported."""
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
        file = _file(root, module)
        if file is None:
            elsewhere.add(module)
            continue
        name, path = file
        source = path.read_text(encoding="utf-8")
        found[name] = source
        waiting.extend(imported(source, module if path.name == "__init__.py" else above))
    return found, elsewhere
