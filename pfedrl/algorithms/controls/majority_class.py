"""The floor of labelled data: no worker learns more than which of its classes is the largest."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from pfedrl.algorithms.controls.fixed_beforehand import FixedBeforehand
from pfedrl.algorithms.controls.fixed_learner import FixedLearner
from pfedrl.algorithms.supervised.metrics import MOMENTS, TOO_FEW, newcomers_accuracy
from pfedrl.core.measurement import Measurement
from pfedrl.core.recorder import Recorder
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.envs.data.task import DataTask
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.loop import Control


class MajorityClass(FixedBeforehand):
    """Control: every worker answers with the largest class of its own training data."""

    label: ClassVar[str] = "Largest class"
    kinds: ClassVar[frozenset[str]] = frozenset({"labelled"})

    def metrics(self, family: LabelledData) -> set[str]:
        found = {f"accuracy_{moment}" for moment in MOMENTS}
        found |= {samples_of_class(label) for label in range(family.facts.classes)}
        return found | {newcomers_accuracy(pi) for pi in family.newcomers_pi}

    def learner(self, task: DataTask, seeds: Sequence[int]) -> "LargestClass":
        return LargestClass(task)

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
        groups = family.task(draws).newcomers
        for pi, group in zip(family.newcomers_pi, groups, strict=True):
            recorder.add("round", 0, newcomers_accuracy(pi), accuracy(group))


class LargestClass(FixedLearner):
    """Also says who has how many samples of which class."""

    def __init__(self, task: DataTask):
        self.task = task

    def measure(self) -> Iterator[Measurement]:
        for moment in MOMENTS:
            yield Measurement("round", 0, f"accuracy_{moment}", accuracy(self.task))
        for label in range(self.task.classes):
            counts = self.task.train.counts[:, :, label]
            yield Measurement("round", 0, samples_of_class(label), counts)


def samples_of_class(label: int) -> str:
    return f"samples_of_class_{label}"


def accuracy(task: DataTask) -> np.ndarray:
    """Percent [seed], over the workers who have enough to be tested on."""
    largest = task.train.counts.argmax(axis=2)[:, :, None]
    right = np.take_along_axis(task.test.counts, largest, axis=2)[:, :, 0]
    counted = task.test.sizes > TOO_FEW
    shares = 100.0 * right / np.maximum(task.test.sizes, 1)
    with np.errstate(invalid="ignore"):  # NaN where nobody has
        return np.where(counted, shares, 0.0).sum(axis=1) / counted.sum(axis=1)
