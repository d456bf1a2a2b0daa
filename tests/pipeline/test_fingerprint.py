"""The fingerprint of code: what can shape a number is in it, and what cannot is not; by imports."""

import shutil
from pathlib import Path

import pytest

from pfedrl.core.registry import components, load
from pfedrl.pipeline import fingerprint as fingerprint_module
from pfedrl.pipeline.fingerprint import LOOP, closure, fingerprint, run_code
from tests.tiny import ROOT, every_short_run

QAVG = ("pfedrl.algorithms.tabular.qavg", "pfedrl.envs.tabular.random_mdp", LOOP)
DQN = ("pfedrl.algorithms.dqn.dqn_avg", "pfedrl.envs.classic.cartpole", LOOP)
DRAWS = ("pfedrl.envs.tabular.random_mdp",)
FIGURE = ("pfedrl.analysis.figures.qavg_table1",)

SOURCE = '''
"""What it is for."""
from typing import ClassVar, TYPE_CHECKING
from pydantic import Field
from pfedrl.core.errors import PfedrlError, unknown

if TYPE_CHECKING:
    import torch


class Thing:
    """A thing."""

    label: ClassVar[str] = "A label"
    rate: float = Field(0.1, gt=0, description="of learning")
    other: float = 0.3

    def skip(self, family):
        return "for a reason"

    def step(self, size: int) -> float:
        """One step."""
        total: float = size * 0.5  # a half
        assert total >= 0, "negative"
        if size > 3:
            raise PfedrlError(f"{size} is too large", exit_code=3)
        if size > 2:
            raise ValueError("too large: " + str(size))
        return total


def find(name):
    return unknown("thing", name, ["a"])
'''


def of(root: Path, source: str, words: bool = False) -> str:
    (root / "pfedrl").mkdir(exist_ok=True)
    (root / "pfedrl" / "__init__.py").write_text("")
    (root / "pfedrl" / "thing.py").write_text(source)
    return fingerprint("pfedrl.thing", words=words, root=root)


def changed(old: str, new: str) -> str:
    assert SOURCE.count(old) == 1, old
    return SOURCE.replace(old, new)


SILENT = {
    "comment": ("# a half", "# one half"),
    "formatting": ("size * 0.5", "(\n            size * 0.5\n        )"),
    "docstring of a module": ("What it is for.", "Other words."),
    "docstring of a class": ("A thing.", "Other words."),
    "docstring of a function": ('"""One step."""', ""),
    "annotation of an argument": ("size: int", "size: float"),
    "annotation of a result": (" -> float", ""),
    "annotation of a variable": ("total: float =", "total ="),
    "import for annotations": ("ClassVar, TYPE_CHECKING", "Any, ClassVar, TYPE_CHECKING"),
    "import for types": ("    import torch", "    import torch\n    import numpy"),
    "reworded error": ("is too large", "must be at most 3"),
    "reworded error in parts": ("too large: ", "at most 2, not "),
    "reworded unknown": ('unknown("thing"', 'unknown("item"'),
    "reworded assertion": ("negative", "below zero"),
}
WORDS = {
    "label": ("A label", "Another"),
    "description": ("of learning", "the step size"),
    "reason to skip": ("for a reason", "for another"),
}
EFFECTS = {
    "number": ("size * 0.5", "size * 0.6"),
    "default": ("0.1, gt", "0.2, gt"),
    "field's type": ("other: float", "other: int"),
    "field's name": ("other", "rest"),
    "condition": ("size > 3", "size >= 3"),
    "what an error carries": ("exit_code=3", "exit_code=4"),
    "kind of error": ("raise ValueError", "raise KeyError"),
}


@pytest.mark.parametrize("edit", SILENT)
def test_what_changes_nothing_leaves_it_as_it_is(tmp_path: Path, edit: str):
    for words in (False, True):
        after = of(tmp_path, changed(*SILENT[edit]), words)
        assert after == of(tmp_path, SOURCE, words)


@pytest.mark.parametrize("edit", WORDS)
def test_words_change_what_is_drawn_but_no_number(tmp_path: Path, edit: str):
    after = changed(*WORDS[edit])
    assert of(tmp_path, after) == of(tmp_path, SOURCE)
    assert of(tmp_path, after, words=True) != of(tmp_path, SOURCE, words=True)


@pytest.mark.parametrize("edit", EFFECTS)
def test_what_may_change_a_number_changes_it(tmp_path: Path, edit: str):
    assert of(tmp_path, changed(*EFFECTS[edit])) != of(tmp_path, SOURCE)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package, to edit."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "pfedrl", tmp_path / "pfedrl", ignore=ignored)
    return tmp_path


def affected(root: Path, path: str, *texts: str) -> set[str]:
    """Which of QAvg, DQN and a table see an edit; with one text appended, or one replaced."""

    def all_three() -> dict[str, str]:
        return {
            "qavg": fingerprint(*QAVG, root=root),
            "dqn": fingerprint(*DQN, root=root),
            "table": fingerprint(*FIGURE, words=True, root=root),
        }

    before = all_three()
    file = root / "pfedrl" / path
    source = file.read_text()
    assert len(texts) == 1 or texts[0] in source, texts[0]
    file.write_text(source + texts[0] if len(texts) == 1 else source.replace(*texts))
    after = all_three()
    return {name for name in before if before[name] != after[name]}


CODE = "\n\nEDITED = 1\n"


@pytest.mark.parametrize(
    ("path", "who"),
    [
        ("algorithms/dqn/learner.py", {"dqn"}),
        ("algorithms/tabular/learner.py", {"qavg"}),
        ("envs/tabular/random_mdp.py", {"qavg"}),
        ("stack/loop.py", {"qavg", "dqn"}),
        ("core/recorder.py", {"qavg", "dqn", "table"}),
        ("__init__.py", set()),
        ("analysis/figures/qavg_table1.py", {"table"}),
        ("cli/jobs.py", set()),
        ("core/errors.py", set()),
        ("core/processor.py", set()),
        ("core/settings.py", set()),
    ],
)
def test_an_edit_reaches_what_runs_it_and_nothing_else(copy: Path, path: str, who: set[str]):
    assert affected(copy, path, CODE) - {"table"} == who - {"table"}
    if "table" in who or path.startswith(("analysis", "cli")):
        assert ("table" in affected(copy, path, CODE)) == ("table" in who)


def test_no_edit_of_the_pipeline_or_the_analysis_reaches_a_run(copy: Path):
    before = fingerprint(*QAVG, root=copy), fingerprint(*DQN, root=copy)
    for room in ("pipeline", "analysis", "cli"):
        for path in (copy / "pfedrl" / room).rglob("*.py"):
            path.write_text(path.read_text() + CODE)
    assert (fingerprint(*QAVG, root=copy), fingerprint(*DQN, root=copy)) == before


def test_the_roots_are_the_algorithm_the_family_and_the_loop():
    cell = every_short_run()["qavg-random_mdp-plateau"]
    assert run_code(cell) == fingerprint(*QAVG)
    lemma = every_short_run()["qavg_lemma1"]
    assert run_code(lemma) == fingerprint("pfedrl.theory.qavg_lemma1", LOOP)


def test_a_label_reaches_no_run(copy: Path):
    assert affected(copy, "algorithms/tabular/qavg.py", '"QAvg"', '"Q-Avg"') == set()


def test_versions_count_where_the_library_computes(monkeypatch):
    def both() -> tuple[str, str]:
        return fingerprint(*DRAWS), fingerprint(*DQN)

    def upgrade(library: str) -> None:
        real = fingerprint_module._version
        monkeypatch.setattr(
            fingerprint_module, "_version", lambda name: "99" if name == library else real(name)
        )

    draws, dqn = both()
    upgrade("torch")
    assert both()[0] == draws and both()[1] != dqn
    upgrade("numpy")
    assert both()[0] != draws


@pytest.mark.parametrize(
    ("name", "value"),
    [("MKL_CBWR", "COMPATIBLE"), ("NUMBA_DISABLE_JIT", "1"), ("NPY_DISABLE_CPU_FEATURES", "")],
)
def test_what_holds_the_processor_counts(monkeypatch, name: str, value: str):
    wide = frozenset({"avx2", "fma", "avx512vl"})
    monkeypatch.setattr(fingerprint_module, "flags", lambda: wide)
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "X86_V4")
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    pinned = fingerprint(*QAVG)
    monkeypatch.setenv(name, value)
    assert fingerprint(*QAVG) != pinned


def test_processors_that_are_held_alike_have_one_fingerprint(monkeypatch):
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "X86_V4")
    monkeypatch.setattr(fingerprint_module, "flags", lambda: frozenset({"avx2", "avx512vl"}))
    wide = fingerprint(*QAVG)
    monkeypatch.delenv("NPY_DISABLE_CPU_FEATURES")
    monkeypatch.setattr(fingerprint_module, "flags", lambda: frozenset({"avx2"}))
    assert fingerprint(*QAVG) == wide


def test_every_component_has_one_of_its_own():
    for room in ("algorithms", "envs", "theory"):
        made = [load(room, name) for name in components(room)]
        modules = [[base.__module__ for base in one.__mro__] for one in made]
        assert len({fingerprint(*own) for own in modules}) == len(modules)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / "pfedrl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def files(*modules: str, root: Path) -> set[str]:
    return {name.removeprefix("pfedrl/") for name in closure(*modules, root=root)[0]}


def test_follows_imports_of_every_form(tmp_path: Path):
    write(
        tmp_path,
        {
            "__init__.py": "from pfedrl.pins import pin",
            "pins.py": "",
            "top.py": "import numpy\nimport pfedrl.plain\nfrom pfedrl.room import part",
            "plain.py": "def f():\n    from pfedrl.late import something",
            "late.py": "import pfedrl.top\nimport_module('pfedrl.named')\nimport_module('libsumo')",
            "named.py": "",
            "room/__init__.py": "",
            "room/part.py": "",
            "room/other.py": "import torch",
        },
    )
    always = {"__init__.py", "pins.py"}  # importing anything runs the package first
    top = {"late.py", "plain.py", "room/__init__.py", "room/part.py", "top.py", "named.py"}
    assert files("pfedrl.top", root=tmp_path) == always | top
    part = {"room/__init__.py", "room/part.py"}
    assert files("pfedrl.room.part", root=tmp_path) == always | part
    elsewhere = closure("pfedrl.top", root=tmp_path)[1]
    assert {"numpy", "libsumo"} <= elsewhere and "torch" not in elsewhere


def test_follows_relative_imports(tmp_path: Path):
    write(
        tmp_path,
        {
            "__init__.py": "",
            "floor.py": "",
            "room/__init__.py": "from .first import thing",
            "room/first.py": "from . import second\nfrom .. import floor",
            "room/second.py": "from ..hall.third import thing",
            "hall/__init__.py": "",
            "hall/third.py": "",
            "hall/fourth.py": "",
        },
    )
    room = {"room/__init__.py", "room/first.py", "room/second.py"}
    hall = {"hall/__init__.py", "hall/third.py"}
    assert files("pfedrl.room", root=tmp_path) == {"__init__.py", "floor.py"} | room | hall


def test_what_is_imported_for_types_only_does_not_run(tmp_path: Path):
    write(
        tmp_path,
        {
            "__init__.py": "",
            "top.py": "import typing\nfrom typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from pfedrl.types import Thing\n"
            "if typing.TYPE_CHECKING:\n    import pfedrl.types\nelse:\n    import pfedrl.run",
            "types.py": "",
            "run.py": "",
        },
    )
    assert files("pfedrl.top", root=tmp_path) == {"__init__.py", "run.py", "top.py"}


def test_an_algorithm_depends_on_its_learner_but_not_on_others():
    qavg, elsewhere = closure(*QAVG)
    tabular = ("algorithms/tabular/qavg", "algorithms/tabular/learner", "stack/mixing")
    for needed in (*tabular, "stack/loop", "stack/checkpoint", "core/recorder"):
        assert f"pfedrl/{needed}.py" in qavg
    assert "pfedrl/algorithms/tabular/soft_pavg.py" not in qavg
    apart = ("pfedrl/analysis", "pfedrl/cli", "pfedrl/algorithms/dqn", "pfedrl/pipeline")
    assert not [name for name in qavg if name.startswith(apart)]
    assert "numba" in elsewhere


HOOKED = """
class Base:
    def begin(self, parts):
        {body}

    def attacked(self, exchange):
        return {returned}


def train(exchange, learner):
    {call}
    return family.attacked(exchange.of(learner))
"""
UNHOOKED = """
class Base:
    pass


def train(exchange, learner):
    return exchange.of(learner)
"""


def test_hooks_that_nothing_fills_are_not_in_it_and_others_are(tmp_path: Path):
    def hooked(**changes: str) -> str:
        idle = {"body": "'Words.'", "returned": "exchange", "call": "exchange.begin(learner.parts)"}
        return of(tmp_path, HOOKED.format(**(idle | changes)))

    without = of(tmp_path, UNHOOKED)
    assert hooked() == without == hooked(body="pass")
    filled = hooked(body="self.start = parts")
    assert filled != without != hooked(returned="self.wrapped(exchange)")
    assert filled != hooked(body="self.start = parts", call="pass"), "where it is called counts"
    elsewhere = HOOKED + "\n\ndef fill(one):\n    one.begin = print\n"
    assert of(tmp_path, elsewhere.format(
        body="pass", returned="exchange", call="exchange.begin(learner.parts)"
    )) != of(tmp_path, UNHOOKED + "\n\ndef fill(one):\n    one.begin = print\n")  # fmt: skip


def test_an_algorithm_that_fills_a_hook_sees_where_it_is_called(copy: Path):
    prox = ("pfedrl.algorithms.dqn.dqn_prox", "pfedrl.envs.classic.cartpole", LOOP)
    before = fingerprint(*prox, root=copy), fingerprint(*DQN, root=copy)
    path = copy / "pfedrl" / "algorithms" / "dqn" / "learner.py"
    source = path.read_text()
    assert source.count("slice(None), columns, learning") == 1
    path.write_text(source.replace("slice(None), columns, learning", "slice(1), columns, learning"))
    after = fingerprint(*prox, root=copy), fingerprint(*DQN, root=copy)
    assert after[0] != before[0] and after[1] == before[1]
