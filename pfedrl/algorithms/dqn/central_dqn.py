"""One DQN on everybody's experience: the upper end of the field, beside learning alone.

Nobody's method of federated learning: agents give their experience away. One net of a seed acts in
every agent's environment, and one replay holds all agents' last `buffer` transitions. After a step
of all agents it takes as many gradient steps as there are agents, so that environment steps and
gradient steps are together as many as those of agents that learn alone; fewer did worse on seeds
that no suite scores (1000 and 1001). `warm_up` counts the transitions of all; targets are copied
after `target_every` gradient steps. `local_steps` does not matter: agents send after every step.

Counted are the transitions that agents send: two observations, action, reward and flags. What they
receive, here a net at every step, is counted for no algorithm.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.envs.discrete import DiscreteTask
from pfedrl.envs.family import Family
from pfedrl.stack.exchange import Exchange
from pfedrl.stack.pooling import Pooling

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.central import CentralDQNLearner


class CentralDQN(DeepValue):
    """One net learns from every agent's transitions; a new environment fine-tunes it."""

    label: ClassVar[str] = "Central DQN"
    shares: ClassVar[tuple[str, ...]] = ("body", "head")  # there is but one net

    def skip(self, family: Family) -> str | None:
        if self.unit == "episode" or self.fresh_rounds:
            return f"{self.label} has no rounds: unit must be step, and fresh_rounds false"
        return super().skip(family)

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "CentralDQNLearner":
        from pfedrl.algorithms.dqn.central import CentralDQNLearner

        return CentralDQNLearner(task, seeds, self)

    def exchange(self, task: DiscreteTask, seeds: Sequence[int]) -> Exchange:
        return Pooling()
