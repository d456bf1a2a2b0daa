"""What every algorithm is: settings, a learner, an exchange, and how long it trains."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from pfedrl.core.recorder import Recorder
from pfedrl.core.settings import Settings
from pfedrl.envs.family import Draws, Family
from pfedrl.stack.exchange import Exchange
from pfedrl.stack.learner import Learner
from pfedrl.stack.loop import Control, train


class Algorithm(Settings):
    """A learner plus an exchange. The class's docstring is what `pfedrl list` shows."""

    label: ClassVar[str]  # as the papers write it
    kinds: ClassVar[frozenset[str]]  # the kinds of family it can run on

    @abstractmethod
    def learner(self, task: Any, seeds: Sequence[int]) -> Learner:
        """The agents of all seeds, before training."""

    @abstractmethod
    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        """What they give each other: see `Exchange` for the contract."""

    @abstractmethod
    def rounds(self) -> int | None:
        """How many times the agents are looked at, with local steps and an exchange in between.

        None: until the learner has finished.
        """

    @abstractmethod
    def metrics(self, family: Any) -> set[str]:
        """The names under which it records on a family; claims and figures may ask for no other."""

    def skip(self, family: Family) -> str | None:
        """Why the algorithm cannot run on a family, or None."""
        if family.kind in self.kinds:
            return None
        return f"{self.label} needs a family of kind {', '.join(sorted(self.kinds))}"

    def run(
        self,
        seeds: Sequence[int],
        family: Family | None,
        draws: Draws,
        recorder: Recorder,
        control: Control,
    ) -> None:
        """Train on the family's members and record."""
        assert family is not None, "an algorithm's experiment names a family"
        task = family.task(draws)
        learner, exchange = (
            self.learner(task, seeds), family.attacked(self.exchange(task, seeds), seeds)
        )  # fmt: skip
        train(learner, exchange, self.rounds(), recorder, control)
