"""What controls of the figure eight share: drivers that learn nothing, looked at once."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.core.recorder import Recorder
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.family import Draws, Family
from pfedrl.envs.traffic.episodes import Policy, play
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.pool import FigureEightPool
from pfedrl.envs.traffic.task import trace
from pfedrl.stack.exchange import Exchange, never
from pfedrl.stack.learner import Learner
from pfedrl.stack.loop import Control


class TrafficControl(Algorithm):
    """Known drivers in place of the agents."""

    kinds: ClassVar[frozenset[str]] = frozenset({"continuous"})

    control_episodes: int = Field(20, gt=0, description="episodes a seed")

    @abstractmethod
    def drivers(self, family: FigureEightFamily) -> tuple[FigureEightFamily, Policy]:
        """Who drives where agents would."""

    def skip(self, family: Family) -> str | None:
        if isinstance(family, FigureEightFamily):
            return None
        return f"{self.label} drives on the figure eight only"

    def metrics(self, family: Family) -> set[str]:
        return {"return", "whole_return"} | family.records()

    def learner(self, task: object, seeds: Sequence[int]) -> Learner:
        raise NotImplementedError(f"{self.label} learns nothing")

    def exchange(self, task: object, seeds: Sequence[int]) -> Exchange:
        return never()

    def rounds(self) -> int:
        return 1

    def run(
        self,
        seeds: Sequence[int],
        family: Family | None,
        draws: Draws,
        recorder: Recorder,
        control: Control,
    ) -> None:
        """Play the episodes of every seed."""
        assert isinstance(family, FigureEightFamily)
        network = family.network(draws)
        family, policy = self.drivers(family)
        episodes = []
        with FigureEightPool(family, network, 1) as pool:
            for done, seed in enumerate(seeds):
                random = generator(seed, Purpose.EVALUATION)
                drawn = random.integers(2**62, size=self.control_episodes)
                episodes.append(play(pool, policy, drawn.tolist()))
                control.progress(done + 1, len(seeds))
        returns = np.array([[episode.total for episode in own] for own in episodes])
        crashes = np.array([[episode.crashed for episode in own] for own in episodes])
        recorder.add("round", 0, "return", returns.mean(axis=1))
        recorder.add("round", 0, "whole_return", whole_return(returns, crashes))
        recorder.add("round", 0, "crashes", crashes.mean(axis=1))
        if family.trace:
            for measurement in trace(network, [own[0].vehicles for own in episodes]):
                recorder.add(*measurement)


def whole_return(returns: np.ndarray, crashes: np.ndarray) -> np.ndarray:
    """Each seed's mean over its episodes without a crash, as the calibration counts; else NaN."""
    whole = (~crashes).sum(axis=1)
    total = np.where(crashes, 0.0, returns).sum(axis=1)
    return np.divide(total, whole, out=np.full(len(whole), np.nan), where=whole > 0)
