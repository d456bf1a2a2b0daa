"""What every statement of a paper's theory is: something measured on drawn instances."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pfedrl.core.recorder import Recorder
from pfedrl.core.settings import Settings
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.loop import Control

APPLIES = "applies"  # 1 where an instance meets the statement's premises, 0 where not


class Statement(Settings):
    """A lemma or theorem. A seed is an instance; metrics say how far the statement is from failing.

    `check` returns a metric to its values, one a seed. Where not every instance meets the
    statement's premises, `applies` is among them; an instance that does not meet them can neither
    bear the statement out nor contradict it. `instance` rebuilds a seed's instance as plain
    numbers, so that a counterexample can be printed, stored and checked again.
    """

    label: ClassVar[str]
    records: ClassVar[tuple[str, ...]] = ()  # the metrics, where settings do not name them

    def metrics(self, family: Family | None) -> set[str]:
        """The names under which it records."""
        return {APPLIES, *self.records}

    @abstractmethod
    def check(self, seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """Each metric on each seed's instance."""

    @abstractmethod
    def instance(self, seed: int) -> dict[str, Any]:
        """The instance of a seed, as numbers and lists."""

    def run(
        self,
        seeds: Sequence[int],
        family: Family | None,
        draws: Draws,
        recorder: Recorder,
        control: Control,
    ) -> None:
        # an axis of one entry is added up in another order: a seed alone is checked twice over
        several = seeds if len(seeds) > 1 else [*seeds, *seeds]
        metrics = {APPLIES: np.ones(len(several)), **self.check(several)}
        for metric, values in metrics.items():
            recorder.add("instance", 0, metric, values[: len(seeds)])
        control.progress(1, 1)
