"""Components by name: a file in a room is a component, and its name is the file's.

algorithms/tabular/qavg.py is the algorithm 'qavg', envs/tabular/windy_cliff.py the family
'windy_cliff', theory/qavg_lemma1.py the statement 'qavg_lemma1'. Where two folders of a room have
a file of one name, as FedQ-K of tables and of nets, the folder is part of it: 'dqn/fedq_k'.
Adding one needs nothing but the file.

An exchange for every method (algorithms/exchanges/) is an algorithm of each of them:
'dqn/fed_avgm' is FedAvgM in the place of DQN's plain average.

Algorithms and families may also stand outside of the package, and are then named by the path of
their file ('my_algo.py', or 'dqn:my_exchange.py'), or by an entry point of an installed package
(groups `pfedrl.algorithms` and `pfedrl.envs`). Their name is the file's, or the entry point's.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib import import_module, invalidate_caches
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from pfedrl.core.errors import PfedrlError, unknown

PACKAGE = Path(__file__).parent.parent
ROOMS = {"algorithms": "algorithm", "envs": "family", "theory": "statement"}
BASES = {"algorithms": ("Algorithm", "ExchangeOnly"), "envs": ("Family",)}  # of outside classes
# each method's algorithm with a plain average, which such an exchange takes the place of
METHODS = {
    "dqn": "dqn_avg", "ddpg": "ddpg_avg", "ppo_kl": "fed_avg", "supervised": "fed_avg_by_data",
    "tabular": "qavg", "td": "fed_td",
}  # fmt: skip
# the bases of exchanges for every method, and for every one that takes gradient steps
EXCHANGES = {
    "ExchangeOnly": tuple(METHODS),
    "GradientExchange": ("dqn", "ddpg", "ppo_kl", "supervised"),
}


class Component(NamedTuple):
    """Where a component stands."""

    module: str
    class_name: str
    on: str = ""  # of an exchange for every method: the algorithm it is put on


OUTSIDE: dict[str, dict[str, Component]] = {"algorithms": {}, "envs": {}}  # loaded by this process
FOLDERS: dict[Path, str] = {}  # where these stand, with the package that counts; "": any module


@cache
def components(room: str) -> dict[str, Component]:
    """The components of a room by name; found by reading, not importing.

    A component is a class that gives itself a label; shared bases have none.
    """
    found = {path: made for path in sorted((PACKAGE / room).rglob("*.py")) if (made := read(path))}
    stems = Counter(path.stem for path, made in found.items() if not _methods(_bases(made)))
    named = {}
    for path, made in found.items():
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for method in _methods(_bases(made)):
            named[f"{method}/{path.stem}"] = Component(module, made.name, METHODS[method])
        if not _methods(_bases(made)):
            name = path.stem if stems[path.stem] == 1 else f"{path.parent.name}/{path.stem}"
            named[name] = Component(module, made.name)
    return named


def read(path: Path) -> ast.ClassDef | None:
    """The class of a file that gives itself a label, or None."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PfedrlError(f"{path}: cannot be read ({error.strerror}).") from None
    except SyntaxError as error:
        raise PfedrlError(f"{path}, line {error.lineno}: {error.msg}.") from None
    labelled = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and any(_sets_label(line) for line in node.body)
    ]
    if len(labelled) > 1:
        names = " and ".join(node.name for node in labelled)
        raise PfedrlError(f"{path}: {names} both have a label; a file holds one component.")
    return labelled[0] if labelled else None


def _sets_label(line: ast.stmt) -> bool:
    return (
        isinstance(line, ast.AnnAssign)
        and isinstance(line.target, ast.Name)
        and line.target.id == "label"
        and line.value is not None
    )


def _bases(made: ast.ClassDef) -> list[str]:
    return [getattr(base, "attr", getattr(base, "id", "")) for base in made.bases]


def _methods(bases: Iterable[str]) -> tuple[str, ...]:
    """The methods that an exchange with these bases, the nearest first, is put on; none where it
    is no such exchange."""
    return next((EXCHANGES[base] for base in bases if base in EXCHANGES), ())


def known(room: str) -> dict[str, Component]:
    """The components of a room, and those from outside that this process loaded."""
    return components(room) | OUTSIDE.get(room, {})


def named(room: str, given: str, where: str = "") -> str:
    """The name of a component that is given by its name, by a path or by an entry point."""
    method, _, path = given.rpartition(":")
    if path.endswith(".py"):
        return _from_file(room, Path(path), method, where)
    if given not in known(room):
        method, _, name = given.rpartition("/")
        for found in installed(room):
            if found.name == name:
                return _from_package(room, found, method)
        raise _not_there(ROOMS[room], given, known(room), where)
    return given


def load(room: str, name: str, where: str = "") -> Any:
    """The class of a component; a name that is none gets the nearest one."""
    name = named(room, name, where)  # it may add one to those that are known
    found = known(room)[name]
    made = getattr(import_module(found.module), found.class_name)
    return _put_on(made, load(room, found.on)) if found.on else made


@cache
def _put_on(exchange: Any, algorithm: Any) -> Any:
    """An algorithm with an exchange for every method in the place of its own."""
    words = {"__doc__": exchange.__doc__, "__module__": exchange.__module__}
    return type(exchange.__name__, (exchange, algorithm), words)


def runnable_name(given: str, where: str = "") -> str:
    """The name of an algorithm or a statement: whatever an experiment's variant may name."""
    if given in components("theory"):
        return given
    try:
        return named("algorithms", given, where)
    except PfedrlError:
        if given.endswith(".py"):
            raise
        names = [*known("algorithms"), *components("theory")]
        raise _not_there("algorithm", given, names, where) from None


def load_runnable(given: str, where: str = "") -> Any:
    """An algorithm or a statement."""
    name = runnable_name(given, where)
    return load("theory" if name in components("theory") else "algorithms", name)


def _not_there(kind: str, name: str, known: Iterable[str], where: str) -> PfedrlError:
    """The error for a name that is none, or that a second file of the same name took away."""
    shared = [one for one in known if one.endswith(f"/{name}")]
    place = f"{where}: " if where else ""
    if not shared:
        return unknown(kind, name, known, where)
    if {tuple(one.rpartition("/")[0] for one in shared)} <= {*EXCHANGES.values()}:
        return PfedrlError(
            f"{place}{name} is an exchange for several methods. Say which: {', '.join(shared)}."
        )
    return PfedrlError(
        f"{place}two files are called {name}.py ({' and '.join(shared)}). "
        "Rename the newer one: the name is part of every run's key."
    )


def is_control(name: str) -> bool:
    """Whether an algorithm is a floor or a ceiling, which learns nothing."""
    return ".controls." in module_of(name)


def module_of(name: str) -> str:
    """The module an algorithm or a statement stands in; of an exchange for every method, that of
    the algorithm it is put on."""
    room = "theory" if name in components("theory") else "algorithms"
    found = known(room)[name]
    return module_of(found.on) if found.on else found.module


def installed(room: str) -> Iterable[EntryPoint]:
    """The components of other installed packages, not loaded."""
    return entry_points(group=f"pfedrl.{room}")


def _from_file(room: str, path: Path, method: str, where: str) -> str:
    """Take in the component of a file, which is imported as a script would be: by its own name,
    beside its neighbours."""
    place, path = f"{where}: " if where else "", path.resolve()
    if not path.is_file():
        raise PfedrlError(f"{place}there is no file {path}.")
    made = read(path)
    if made is None:
        raise PfedrlError(
            f'{place}{path} has no class with a label, as in `label: ClassVar[str] = "MyAlgo"`.'
        )
    if not path.stem.isidentifier():
        raise PfedrlError(f"{place}{path}: letters, digits and '_' only in the name of the file.")
    if path.parent not in FOLDERS:
        FOLDERS[path.parent] = ""
        sys.path.append(str(path.parent))
        invalidate_caches()
    spec = find_spec(path.stem)
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != path:
        raise PfedrlError(f"{place}{path}: another module is called {path.stem}. Rename the file.")
    return _take_in(room, path.stem, Component(path.stem, made.name), method, f"{place}{path}")


def _from_package(room: str, found: EntryPoint, method: str) -> str:
    package = found.module.split(".")[0]
    spec = find_spec(package)
    if spec is not None and spec.origin is not None:
        above = Path(spec.origin).resolve().parent
        FOLDERS[above.parent if spec.submodule_search_locations else above] = package
    where = f"the entry point {found.name} of {package}"
    return _take_in(room, found.name, Component(found.module, found.attr), method, where)


def _take_in(room: str, stem: str, component: Component, method: str, where: str) -> str:
    """Keep a component from outside under its name, if it is one and no other has that name."""
    taken = [
        found.module
        for name, found in known(room).items()
        if name.rpartition("/")[2] == stem and found[:2] != component[:2]
    ]
    if taken:
        raise PfedrlError(
            f"{where}: the name {stem} belongs to {taken[0]}. Rename the newer one: the name is "
            "part of every run's key."
        )
    try:
        made = getattr(import_module(component.module), component.class_name)
    except (ImportError, AttributeError, SyntaxError) as error:
        raise PfedrlError(f"{where}: cannot be imported ({error}).") from None
    bases = [base.__name__ for base in made.__mro__[1:]]
    if not {*bases} & {*BASES[room]}:
        raise PfedrlError(
            f"{where}: {made.__name__} must be derived from {' or '.join(BASES[room])}."
        )
    methods = _methods(bases)
    if not methods:
        if method:
            raise PfedrlError(f"{where}: its method is its own; leave out '{method}'.")
        OUTSIDE[room][stem] = component
        return stem
    if method not in methods:
        raise PfedrlError(
            f"{where}: an exchange for several methods. Say which before its name: "
            f"{', '.join(methods)}; as in dqn:my_exchange.py."
        )
    name = f"{method}/{stem}"
    OUTSIDE[room][name] = component._replace(on=METHODS[method])
    return name


def outside_file(module: str) -> tuple[str, Path] | None:
    """The name and place of a module's file, if it is of the code from outside that this process
    loaded."""
    top = module.split(".")[0]
    for folder, package in FOLDERS.items():
        found = module_file(folder, module) if package in ("", top) else None
        if found is not None and _imported_from(folder, top):
            return found.relative_to(folder).as_posix(), found
    return None


@cache
def _imported_from(folder: Path, top: str) -> bool:
    """Whether Python finds a module or package in this folder, and not an installed one."""
    spec = find_spec(top)
    return spec is not None and folder in Path(str(spec.origin)).resolve().parents


def module_file(folder: Path, module: str) -> Path | None:
    """The file of a module below a folder, or None where there is none."""
    base = folder / Path(*module.split("."))
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None
