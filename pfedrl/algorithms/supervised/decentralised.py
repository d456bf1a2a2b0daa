"""Workers on a graph, who mix with their neighbours and have no server."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from pfedrl.algorithms.supervised.supervised import Supervised
from pfedrl.core.recorder import Recorder
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.envs.data.task import DataTask
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.communication import Weights, mixing_matrices, spectral_gaps
from pfedrl.stack.loop import Control
from pfedrl.stack.mixing import Mixing, NeighbourAverage


class Decentralised(Supervised):
    """phi_i <- sum_j P_ij phi_j after every round, for all that is shared."""

    graph: Literal["ring", "random", "fully_connected"] = Field(
        description="who is whose neighbour; random: Erdos and Renyi's, a seed each, connected"
    )
    mixing_weights: Weights = Field(
        "metropolis", description="P: doubly stochastic, or 1 / (deg_i + 1) as in the authors' code"
    )

    def matrices(self, agents: int, seeds: Sequence[int]) -> np.ndarray:
        """P of every seed; the same for every algorithm."""
        return mixing_matrices(self.graph, self.mixing_weights, agents, seeds)

    def mixing(self, task: DataTask, seeds: Sequence[int]) -> Mixing:
        return NeighbourAverage(self.matrices(task.agents, seeds))

    def metrics(self, family: LabelledData) -> set[str]:
        return super().metrics(family) | {"spectral_gap"}

    def run(
        self,
        seeds: Sequence[int],
        family: Family | None,
        draws: Draws,
        recorder: Recorder,
        control: Control,
    ) -> None:
        super().run(seeds, family, draws, recorder, control)
        assert isinstance(family, LabelledData)
        gaps = spectral_gaps(self.matrices(family.agents, seeds))
        recorder.add("round", self.communication_rounds, "spectral_gap", gaps)
