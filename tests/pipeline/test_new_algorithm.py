"""`pfedrl new` writes files that hold the contract, in any folder."""

from pathlib import Path

import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.core.registry import METHODS
from pfedrl.pipeline.contract import check
from pfedrl.pipeline.new_algorithm import write
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

pytestmark = pytest.mark.usefixtures("outside", "runs_made_once")


@pytest.mark.parametrize("on", [*METHODS, "exchange"])
def test_what_it_writes_holds_the_contract(tmp_path: Path, on: str):
    path, test = write(tmp_path / f"fresh_{on}", on)
    assert path.name == f"fresh_{on}.py" and test.name == f"test_fresh_{on}.py"
    compile(test.read_text(), str(test), "exec")
    given = f"dqn:{path}" if on == "exchange" else str(path)
    for name, faults, _ in check(Project.here(ROOT), given):
        assert not faults, (name, faults)


def test_it_overwrites_nothing_and_takes_no_name_that_is_taken(tmp_path: Path):
    write(tmp_path / "fresh_one.py", "td")
    with pytest.raises(PfedrlError, match="is there already"):
        write(tmp_path / "fresh_one.py", "td")
    with pytest.raises(PfedrlError, match="belongs to an algorithm"):
        write(tmp_path / "fed_avgm.py", "td")
    with pytest.raises(PfedrlError, match=r"unknown method 'dqm'\. Did you mean 'dqn'"):
        write(tmp_path / "fresh_two.py", "dqm")
