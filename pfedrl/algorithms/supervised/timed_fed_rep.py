"""FedRep, of which times within rounds are recorded."""

from typing import ClassVar

from pfedrl.algorithms.supervised.fed_rep import FedRep
from pfedrl.algorithms.supervised.timed import Timed


class TimedFedRep(Timed, FedRep):
    """FedRep as it is, looked at within rounds as well."""

    label: ClassVar[str] = "FedRep"
