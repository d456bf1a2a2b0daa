"""DisPFL, of which times within rounds are recorded."""

from typing import ClassVar

from pfedrl.algorithms.supervised.dispfl import DisPFL
from pfedrl.algorithms.supervised.timed import Timed


class TimedDisPFL(Timed, DisPFL):  # type: ignore[misc]  # its learner is of a narrower class
    """DisPFL as it is, looked at within rounds as well."""

    label: ClassVar[str] = "DisPFL"
