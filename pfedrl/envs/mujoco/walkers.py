"""What Hoppers and HalfCheetahs share: members as built models, and the task that learners step."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from pfedrl.envs.family import Draws
from pfedrl.envs.members import MemberFamily
from pfedrl.envs.mujoco.models import Edit, built, from_bytes, to_bytes

if TYPE_CHECKING:
    from pfedrl.envs.mujoco.stepping import Walker, WalkerEnvironments

REACH, FAST = 2.0, 10.0  # of heights and angles without a limit, and of speeds


@dataclass(frozen=True)
class WalkerTask:
    """The environments of all seeds: who trains where, and the new ones."""

    walker: "Walker"
    training: np.ndarray  # the members' models [seed, agent]
    held_out: np.ndarray  # models of members nobody trains on [seed, member]
    cap: int
    evaluation_cap: int

    @property
    def seeds(self) -> int:
        return self.training.shape[0]

    @property
    def agents(self) -> int:
        return self.training.shape[1]

    def environments(self) -> "WalkerEnvironments":
        """Every agent of every seed in its member, [seed, agent] flattened."""
        return self._stepped(self.training, self.cap)

    def evaluation(self, members: np.ndarray) -> "WalkerEnvironments":
        """These members [...], flattened, for episodes as long as an evaluation's."""
        return self._stepped(members, self.evaluation_cap)

    def _stepped(self, members: np.ndarray, cap: int) -> "WalkerEnvironments":
        from pfedrl.envs.mujoco.stepping import WalkerEnvironments

        return WalkerEnvironments(self.walker, members.reshape(-1).tolist(), cap)

    def observation_limit(self) -> np.ndarray:
        """What is seen of a body that has not fallen lies within +- this, or nearly: [number]."""
        model, walker = self.training.flat[0], self.walker
        position = np.where(model.jnt_limited, abs(model.jnt_range).max(axis=1), REACH)
        position[2] = min(position[2], walker.steepest)
        speed = np.full(model.nv, min(walker.seen_speed, FAST))
        return np.concatenate([position[1:], speed])

    def newcomers(self) -> "WalkerTask":
        """The members that nobody trains on, each with an agent."""
        return replace(self, training=self.held_out, held_out=self.held_out[:, :0])


class WalkerFamily(MemberFamily):
    """Bodies on legs of different shape; a member's number says which."""

    kind: ClassVar[str] = "locomotion"
    after_draw: ClassVar[frozenset[str]] = frozenset({"cap", "evaluation_cap"})
    asset: ClassVar[str]  # gymnasium's file

    cap: int = Field(1000, gt=0, description="steps after which a training episode is truncated")
    evaluation_cap: int = Field(200, gt=0, description="and an episode of an evaluation")

    @abstractmethod
    def edits(self, number: float) -> list[Edit]:
        """What a member with this number changes of gymnasium's model."""

    @abstractmethod
    def walker(self) -> "Walker":
        """Steps, rewards and ends."""

    def draw(self, seeds: Sequence[int]) -> Draws:
        """The number of every member, and its model: built, checked, as bytes."""
        numbers = super().draw(seeds)
        return numbers | {f"{who}_models": self._built(of) for who, of in numbers.items()}

    def _built(self, numbers: np.ndarray) -> np.ndarray:
        """Models [seed, member, byte]; members of a number share one."""
        kept = {
            number: to_bytes(built(self.asset, self.edits(number)))
            for number in np.unique(numbers).tolist()
        }
        size = max((len(model) for model in kept.values()), default=0)
        models = np.empty((*numbers.shape, size), np.uint8)
        for place, number in np.ndenumerate(numbers):
            models[place] = kept[float(number)]
        return models

    def task(self, draws: Draws) -> WalkerTask:
        members = {}
        for who in ("training", "held_out"):
            read: dict[float, Any] = {}
            models = np.empty(draws[who].shape, object)
            for place, number in np.ndenumerate(draws[who]):
                if float(number) not in read:
                    read[float(number)] = from_bytes(draws[f"{who}_models"][place])
                models[place] = read[float(number)]
            members[who] = models
        return WalkerTask(
            self.walker(), **members, cap=self.cap, evaluation_cap=self.evaluation_cap
        )
