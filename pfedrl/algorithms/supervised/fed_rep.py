"""FedRep: a shared representation by a server, and private heads (Collins et al. 2021)."""

from collections.abc import Sequence
from typing import ClassVar

from pfedrl.algorithms.supervised.head_first import HeadFirst
from pfedrl.envs.data.task import DataTask
from pfedrl.stack.mixing import Mixing, ServerAverage


class FedRep(HeadFirst):
    """DePRL's two phases; the server averages the representations, all workers' alike."""

    label: ClassVar[str] = "FedRep"

    def mixing(self, task: DataTask, seeds: Sequence[int]) -> Mixing:
        return ServerAverage()
