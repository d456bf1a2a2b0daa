"""FedAvg: whole models averaged by a server (McMahan et al. 2017)."""

from collections.abc import Sequence
from typing import ClassVar

from pfedrl.algorithms.supervised.supervised import Supervised
from pfedrl.envs.data.task import DataTask
from pfedrl.stack.mixing import Mixing, ServerAverage


class FedAvgByData(Supervised):
    """Local epochs of SGD, then the server's mean, workers weighted by their samples."""

    label: ClassVar[str] = "FedAvg"

    def mixing(self, task: DataTask, seeds: Sequence[int]) -> Mixing:
        return ServerAverage(weights=task.train.sizes.astype(float))
