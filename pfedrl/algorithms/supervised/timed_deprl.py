"""DePRL, of which times within rounds are recorded."""

from typing import ClassVar

from pfedrl.algorithms.supervised.deprl import DePRL
from pfedrl.algorithms.supervised.timed import Timed


class TimedDePRL(Timed, DePRL):
    """DePRL as it is, looked at within rounds as well."""

    label: ClassVar[str] = "DePRL"
