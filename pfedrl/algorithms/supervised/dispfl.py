"""DisPFL: personal sparse models on a graph (Dai et al. 2022)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.supervised.decentralised import Decentralised
from pfedrl.envs.data.task import DataTask
from pfedrl.stack.by_mask import ByMask
from pfedrl.stack.exchange import Exchange

if TYPE_CHECKING:
    from pfedrl.algorithms.supervised.sparse_learner import SparseLearner


class DisPFL(Decentralised):
    """Models under masks of each worker's own; neighbours average the weights that they have."""

    label: ClassVar[str] = "DisPFL"

    density: float = Field(0.8, gt=0, lt=1, description="share of a tensor's weights that are kept")
    exchanged: float = Field(
        0.5, ge=0, le=1, description="share of them that a round gives up for others, at first"
    )
    exchanged_rounds: int = Field(20, gt=0, description="rounds over which that falls as a cosine")

    def learner(self, task: DataTask, seeds: Sequence[int]) -> "SparseLearner":
        from pfedrl.algorithms.supervised.sparse_learner import SparseLearner

        return SparseLearner(task, seeds, self)

    def exchange(self, task: DataTask, seeds: Sequence[int]) -> Exchange:
        return ByMask(self.matrices(task.agents, seeds) > 0, self.shares)
