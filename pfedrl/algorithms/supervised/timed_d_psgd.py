"""D-PSGD, of which times within rounds are recorded."""

from typing import ClassVar

from pfedrl.algorithms.supervised.d_psgd import DPSGD
from pfedrl.algorithms.supervised.timed import Timed


class TimedDPSGD(Timed, DPSGD):
    """D-PSGD as it is, looked at within rounds as well."""

    label: ClassVar[str] = "D-PSGD"
