"""A killed run goes on to the numbers of an unbroken one: all that learn on bodies that walk."""

import pytest

from pfedrl.core.registry import is_control
from pfedrl.pipeline.contract import killed_and_resumed
from tests.tiny import every_short_run

CELLS = {
    name: cell
    for name, cell in every_short_run().items()
    if cell.family_name == "hopper" and not is_control(cell.algorithm)
}


@pytest.mark.parametrize("name", CELLS)
def test_a_killed_run_goes_on_to_the_same_numbers(name: str):
    assert not list(killed_and_resumed(CELLS[name]))
