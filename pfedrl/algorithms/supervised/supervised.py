"""What the DePRL paper's algorithms share: rounds of local epochs, then new workers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.algorithms.supervised import metrics
from pfedrl.algorithms.supervised.settings import Phase, SupervisedSettings
from pfedrl.core.recorder import Recorder
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.envs.data.task import DataTask
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.exchange import Exchange, SharedParts, never
from pfedrl.stack.loop import Control, recorded_rounds, train
from pfedrl.stack.mixing import Mixing

if TYPE_CHECKING:
    from pfedrl.algorithms.supervised.learner import SupervisedLearner


class Supervised(Algorithm, SupervisedSettings):
    """Workers who train by phases and mix some parts of their models."""

    kinds: ClassVar[frozenset[str]] = frozenset({"labelled"})
    shares: ClassVar[tuple[str, ...]] = ("body", "head")  # the parts that are mixed
    own_heads: ClassVar[bool] = False  # workers start with a head each
    models: ClassVar[tuple[str, ...]] = ("",)  # names, where a worker has several
    second_head: ClassVar[bool] = False

    def phases(self) -> tuple[Phase, ...]:
        """A round's local training: whole models, unless an algorithm says otherwise."""
        return (Phase("all", self.local_epochs, self.rate),)

    def mixing(self, task: DataTask, seeds: Sequence[int]) -> Mixing | None:
        """How the shared parts are mixed; None: not at all."""
        return None

    def learner(self, task: DataTask, seeds: Sequence[int]) -> "SupervisedLearner":
        from pfedrl.algorithms.supervised.learner import SupervisedLearner

        return SupervisedLearner(
            task, seeds, self, self.phases(), self.shares, self.own_heads, self.models,
            self.second_head,
        )  # fmt: skip

    def exchange(self, task: DataTask, seeds: Sequence[int]) -> Exchange:
        mixing = self.mixing(task, seeds)
        return never() if mixing is None else SharedParts(self.shares, mixing, every=1)

    def rounds(self) -> int:
        return self.communication_rounds + 1  # the last one only looks at the models

    def metrics(self, family: LabelledData) -> set[str]:
        return metrics.names(self, family.agents, family.newcomers_pi)

    def run(
        self,
        seeds: Sequence[int],
        family: Family | None,
        draws: Draws,
        recorder: Recorder,
        control: Control,
    ) -> None:
        """Train together; then new workers train heads on the representation."""
        assert isinstance(family, LabelledData)
        task = family.task(draws)
        learner, exchange = (
            self.learner(task, seeds), family.attacked(self.exchange(task, seeds), seeds)
        )  # fmt: skip
        learner.measures.wanted = recorded_rounds(self.rounds(), control.curve_points)
        learner.measures.last = self.communication_rounds
        train(learner, exchange, self.rounds(), recorder, control)
        for pi, group in zip(family.newcomers_pi, task.newcomers, strict=True):
            newcomers = learner.newcomers(group)
            newcomers.advance(1)
            accuracy = newcomers.measures.accuracy(newcomers.judged)
            recorder.add(
                "round", self.communication_rounds, metrics.newcomers_accuracy(pi), accuracy
            )
