"""What the tabular algorithms of the QAvg paper share: E local steps, then the server averages."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, field_serializer, model_validator

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.envs.tabular.task import TabularFamily, TabularTask
from pfedrl.stack.exchange import Exchange, server_average


class TabularAveraging(Algorithm):
    """T iterations in rounds of E local steps."""

    kinds: ClassVar[frozenset[str]] = frozenset({"tabular"})

    iterations: int = Field(gt=0, description="T, local steps of each agent in all")
    local_steps: float = Field(gt=0, description="E, local steps between averages; .inf is never")
    learning_rate: float = Field(gt=0, description="eta at the start, for the plateau rule")
    decay: float = Field(gt=0, le=1, description="what a plateau multiplies eta by")
    step_size: Literal["plateau", "theorem"] = Field(
        "plateau", description="the authors' code's rule, or the step size of the paper's theorem"
    )

    @model_validator(mode="after")
    def rounds_are_whole(self) -> "TabularAveraging":
        if self.local_steps != float("inf") and self.local_steps != int(self.local_steps):
            raise ValueError("local_steps must be a whole number or .inf")
        if self.rounds() < 1:
            raise ValueError("iterations must be at least local_steps")
        if self.step_size == "theorem" and self.local_steps == float("inf"):
            raise ValueError("the theorems' step sizes need a finite number of local steps")
        return self

    @field_serializer("local_steps", when_used="json")
    def infinity_as_text(self, value: float) -> Any:
        return "inf" if value == float("inf") else value

    def metrics(self, family: TabularFamily) -> set[str]:
        places = family.places()
        local = places - {"centre_value"} if self.local_steps == float("inf") else set()
        return {"settled_at", "megabytes_sent"} | places | {f"baseline_{place}" for place in local}

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return server_average(every=self.local_steps)

    def rounds(self) -> int:
        steps = 1 if self.local_steps == float("inf") else int(self.local_steps)
        return self.iterations // steps
