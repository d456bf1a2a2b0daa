"""Components by name, found by reading their files."""

from pathlib import Path

import pytest

from pfedrl.core import registry
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.fingerprint import fingerprint

LABELLED = 'class {0}:\n    label: str = "{0}"\n'


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty room of algorithms in a package of its own."""
    monkeypatch.setattr(registry, "PACKAGE", tmp_path / "pfedrl")
    registry.components.cache_clear()
    yield tmp_path / "pfedrl" / "algorithms"
    registry.components.cache_clear()


def write(path: Path, *classes: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(LABELLED.format(name) for name in classes))


def test_two_labelled_classes_in_one_file_are_refused(room: Path):
    write(room / "dqn" / "twins.py", "First", "Second")
    with pytest.raises(PfedrlError, match=r"twins.py: First and Second both have a label"):
        registry.components("algorithms")


def test_the_folder_tells_files_of_one_name_apart(room: Path):
    for path in ("td/fedq_k.py", "dqn/fedq_k.py", "dqn/lfrl.py"):
        write(room / path, "Made")
    assert set(registry.components("algorithms")) == {"td/fedq_k", "dqn/fedq_k", "lfrl"}


ALGORITHM = """
from typing import ClassVar
from pfedrl.algorithms.dqn.dqn_avg import DQNAvg
{more}

class Mine(DQNAvg):
    label: ClassVar[str] = "Mine"
"""
EXCHANGE = """
from typing import ClassVar
from pfedrl.algorithms.exchange_only import ExchangeOnly


class Mine(ExchangeOnly):
    label: ClassVar[str] = "Mine"

    def instead(self, average, seeds):
        return average
"""


def saved(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_an_algorithm_from_a_path_has_the_name_of_its_file(tmp_path: Path, outside: None):
    given = saved(tmp_path / "of_my_own.py", ALGORITHM.format(more=""))
    assert registry.named("algorithms", given) == "of_my_own"
    assert registry.load_runnable(given).label == "Mine"
    assert registry.load("algorithms", "of_my_own") is registry.load_runnable(given)
    assert "of_my_own" in registry.known("algorithms")
    assert "of_my_own" not in registry.components("algorithms")


def test_an_exchange_from_a_path_is_put_on_a_method(tmp_path: Path, outside: None):
    given = saved(tmp_path / "exchange_of_my_own.py", EXCHANGE)
    with pytest.raises(PfedrlError, match="Say which before its name: dqn, ddpg"):
        registry.named("algorithms", given)
    assert registry.named("algorithms", f"td:{given}") == "td/exchange_of_my_own"
    made = registry.load("algorithms", f"td:{given}")
    assert issubclass(made, registry.load("algorithms", "fed_td")) and made.label == "Mine"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("dqn_avg.py", ALGORITHM.format(more=""), "belongs to pfedrl.algorithms.dqn.dqn_avg"),
        ("fedq_k.py", ALGORITHM.format(more=""), "belongs to pfedrl.algorithms"),
        ("json.py", ALGORITHM.format(more=""), "another module is called json"),
        ("broken_one.py", "class Mine(:", "broken_one.py, line 1"),
        ("no_label.py", "class Mine: pass", "no class with a label"),
        ("of_nothing.py", "class Mine:\n    label: str = 'Mine'", "must be derived from Algorithm"),
        ("lacks_one.py", ALGORITHM.format(more="import not_there"), "cannot be imported"),
        ("of-dashes.py", ALGORITHM.format(more=""), "letters, digits and '_' only"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    tmp_path: Path, outside: None, name: str, text: str, message: str
):
    with pytest.raises(PfedrlError, match=message):
        registry.load("algorithms", saved(tmp_path / name, text))


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(PfedrlError, match="there is no file"):
        registry.load("algorithms", str(tmp_path / "nowhere.py"))


def test_an_exchange_for_every_method_needs_one():
    with pytest.raises(PfedrlError, match=r"Say which: .*dqn/fed_avgm"):
        registry.load_runnable("fed_avgm")


def test_an_installed_package_offers_components_by_entry_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outside: None
):
    package = tmp_path / "a_package_of_theirs"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helper.py").write_text("NUMBER = 1")
    more = "from a_package_of_theirs.helper import NUMBER"
    (package / "algos.py").write_text(ALGORITHM.format(more=more))
    metadata = tmp_path / "a_package_of_theirs-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: a-package-of-theirs\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(
        "[pfedrl.algorithms]\ntheirs = a_package_of_theirs.algos:Mine\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert registry.load_runnable("theirs").label == "Mine"
    before = fingerprint("a_package_of_theirs.algos")
    (package / "helper.py").write_text("NUMBER = 2")
    assert fingerprint("a_package_of_theirs.algos") != before


def test_code_from_outside_is_in_the_fingerprint_with_its_neighbours(tmp_path: Path, outside: None):
    (tmp_path / "a_neighbour.py").write_text("NUMBER = 1  # one")
    text = ALGORITHM.format(more="from a_neighbour import NUMBER")
    registry.load("algorithms", saved(tmp_path / "with_a_neighbour.py", text))
    before = fingerprint("with_a_neighbour")
    assert before != fingerprint("pfedrl.algorithms.dqn.dqn_avg")
    (tmp_path / "a_neighbour.py").write_text("NUMBER = 1  # uno")
    assert fingerprint("with_a_neighbour") == before
    (tmp_path / "a_neighbour.py").write_text("NUMBER = 2")
    assert fingerprint("with_a_neighbour") != before
