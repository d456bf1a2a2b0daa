"""Algorithms of which times are wanted: workers are looked at within rounds as well."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from pfedrl.algorithms.supervised.supervised import Supervised
from pfedrl.envs.data.task import DataTask

if TYPE_CHECKING:
    from pfedrl.algorithms.supervised.learner import SupervisedLearner


class Timed(Supervised):
    """Learns, bit for bit, what the algorithm beside it in a class learns. Of workers' own models,
    times to the target accuracy and to convergence are found to a part of an epoch."""

    target_accuracy: float = Field(
        gt=0, le=100, description="in percent; the steps until it is reached are recorded"
    )
    looks: int = Field(
        4, gt=0, description="times an epoch that workers' own models are tested; each needs as "
        "much memory as all models"
    )  # fmt: skip

    def learner(self, task: DataTask, seeds: Sequence[int]) -> "SupervisedLearner":
        from pfedrl.algorithms.supervised.timed_measures import TimedMeasures

        learner = super().learner(task, seeds)
        measures = TimedMeasures(learner, self.shares, self.looks)
        learner.measures = measures
        learner.adjust = measures.before_step  # type: ignore[method-assign]
        return learner
