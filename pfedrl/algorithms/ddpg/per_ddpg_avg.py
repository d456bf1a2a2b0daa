"""PerDDPGAvg: private embeddings of actor and critic (Jin et al. 2022, Section 6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.ddpg.deterministic import DeterministicPolicies
from pfedrl.algorithms.deep.embedding import PrivateEmbedding
from pfedrl.envs.environments import SteppedTask

if TYPE_CHECKING:
    from pfedrl.algorithms.ddpg.learner import DDPGLearner


class PerDDPGAvg(PrivateEmbedding, DeterministicPolicies):
    """The server averages all but private embeddings; a new environment trains only its own."""

    label: ClassVar[str] = "PerDDPGAvg"
    shares: ClassVar[tuple[str, ...]] = ("*_body", "*_head")

    def learner(self, task: SteppedTask, seeds: Sequence[int]) -> "DDPGLearner":
        from pfedrl.algorithms.ddpg.learner import DDPGLearner

        return DDPGLearner(task, seeds, self, embedding=self.embedding)
