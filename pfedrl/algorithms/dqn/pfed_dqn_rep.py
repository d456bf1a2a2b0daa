"""PFedDQN-Rep: a shared representation and private heads (Xiong et al. 2025, Algorithm 4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.algorithms.dqn.metrics import similarities
from pfedrl.envs.classic.task import ControlFamily
from pfedrl.envs.discrete import DiscreteTask

if TYPE_CHECKING:
    from pfedrl.algorithms.dqn.learner import DQNLearner


class PFedDQNRep(DeepValue):
    """K steps of the private heads, one of the representation, then the server averages that.

    That is how we read it; the settings below are other ways to read what the paper leaves open.
    """

    label: ClassVar[str] = "PFedDQN-Rep"
    shares: ClassVar[tuple[str, ...]] = ("body",)
    private_heads: ClassVar[bool] = True
    later: ClassVar[frozenset[str]] = DeepValue.later | {"representation_steps", "head_layers"}

    representation_steps: Annotated[int, Field(gt=0)] | Literal["with_head"] = Field(
        1, description="gradient steps of it after a round's K of the head; or in these, with it"
    )
    head_layers: int = Field(1, gt=0, description="layers of the head, the net's last ones")

    @model_validator(mode="after")
    def some_representation(self) -> "PFedDQNRep":
        if self.head_layers > self.layers:
            raise ValueError(
                f"a head of {self.head_layers} layers leaves none of {self.layers} hidden ones and "
                f"the last to the representation: head_layers must be {self.layers} or less"
            )
        return self

    def learner(self, task: DiscreteTask, seeds: Sequence[int]) -> "DQNLearner":
        from pfedrl.algorithms.dqn.learner import DQNLearner

        phases: tuple[str, ...] = ("all",)
        if self.representation_steps != "with_head":
            # lines 5 to 11 update the head K times, lines 12 and 13 the representation once
            phases = ("head", *("body",) * self.representation_steps)
        return DQNLearner(task, seeds, self, phases=phases, head_layers=self.head_layers)

    def metrics(self, family: ControlFamily) -> set[str]:
        return super().metrics(family) | similarities(family)

    def adaptations(self) -> dict[str, Adaptation]:
        """Freeze the representation and train a fresh head."""
        return {"adapt": Adaptation(("head",), "head")}
