"""What the DDPG algorithms share: agents in rounds of frames, and what becomes of the result."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pfedrl.algorithms.ddpg.settings import DDPGSettings
from pfedrl.algorithms.deep.algorithm import DeepAlgorithm
from pfedrl.algorithms.deep.metrics import OF_EACH_AGENT, places
from pfedrl.envs.environments import SteppedTask

if TYPE_CHECKING:
    from pfedrl.algorithms.ddpg.learner import DDPGLearner


class DeterministicPolicies(DeepAlgorithm, DDPGSettings):
    """DDPG agents in rounds of local steps, then in the new environments."""

    kinds: ClassVar[frozenset[str]] = frozenset({"locomotion"})
    phases: ClassVar[tuple[str, ...]] = ("all",)  # parts trained every step, then once a round

    def learner(self, task: SteppedTask, seeds: Sequence[int]) -> "DDPGLearner":
        from pfedrl.algorithms.ddpg.learner import DDPGLearner

        return DDPGLearner(task, seeds, self, phases=self.phases, pairs=self.pairs)

    def rounds(self) -> int:
        return -(-self.frames // self.local_steps) + 1

    def metrics(self, family: Any) -> set[str]:
        own = OF_EACH_AGENT | {"best_greedy_return"}
        found = own | places(family, self.pairs) | {"value_error", "worst_value_error"}
        if self.adapts and family.newcomers:
            found |= {f"{way}_{metric}" for way in self.adaptations() for metric in own}
        return found

    @property
    def pairs(self) -> bool:
        """Whether every agent is scored in every environment."""
        return False

    @property
    def adapts(self) -> bool:
        return self.adapt_frames > 0

    def adapting(self) -> "DeterministicPolicies":
        """Alone, in rounds from one evaluation to the next."""
        changes = {"buffer": self.adapt_buffer, "warm_up": self.adapt_warm_up}
        given = {key: value for key, value in changes.items() if value is not None}
        between = self.adapt_frames // max((self.adapt_evaluations or 2) - 1, 1)
        each = {"frames": self.adapt_frames, "local_steps": between, "fresh_rounds": False}
        return self.model_copy(update={**given, **each})
