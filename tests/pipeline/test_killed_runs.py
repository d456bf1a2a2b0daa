"""A killed run goes on to the numbers of an unbroken one: all that learn on bodies that walk."""

from pathlib import Path

import pytest

from pfedrl.core.registry import is_control
from pfedrl.pipeline.execute import run
from tests.pipeline.test_execute import Killed, numbers
from tests.tiny import every_short_run

CELLS = {
    name: cell
    for name, cell in every_short_run().items()
    if cell.family_name == "hopper" and not is_control(cell.algorithm)
}


@pytest.mark.parametrize("name", CELLS)
def test_a_killed_run_goes_on_to_the_same_numbers(name: str, tmp_path: Path):
    cell, seeds, path = CELLS[name], range(2), tmp_path / "killed.parquet"
    run(cell, seeds, tmp_path / "whole.parquet")

    def kill(done: int, total: int) -> None:
        if done * 2 > total:
            raise Killed

    with pytest.raises(Killed):
        run(cell, seeds, path, progress=kill, checkpoint_seconds=0)
    assert path.with_suffix(".checkpoint").exists() and not path.exists()
    later: list[int] = []
    run(cell, seeds, path, progress=lambda done, total: later.append(done))
    assert later[0] > 1, "went on from the checkpoint, not from the start"
    # as text, where a number that is none equals itself
    assert str(numbers(path)) == str(numbers(tmp_path / "whole.parquet"))
