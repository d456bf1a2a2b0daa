"""Settings of deep value learning; without torch, so that reading them is quick."""

from typing import Literal

from pydantic import Field, model_validator

from pfedrl.core.settings import Settings


class DeepSettings(Settings):
    """What a DQN agent does with its experience, and for how long."""

    episodes: int = Field(0, ge=0, description="training episodes of every agent")
    frames: int = Field(
        0, ge=0, description="or steps of every agent, where training is counted in them"
    )
    unit: Literal["episode", "step"] = Field(
        description="what a local step is: an episode (QAvg), or a step in the environment"
    )
    width: int = Field(128, gt=0, description="units of a hidden layer")
    layers: int = Field(gt=0, description="hidden layers")
    learning_rate: float = Field(gt=0, description="Adam's")
    halve_every: int = Field(0, ge=0, description="episodes after which the rate halves; 0: never")
    gamma: float = Field(gt=0, lt=1, description="discount")
    epsilon: float = Field(ge=0, le=1, description="chance of a random action, at the start")
    epsilon_decay: float = Field(
        1.0, gt=0, le=1, description="multiplies epsilon at every gradient step of a round"
    )
    batch: int = Field(gt=0, description="transitions in a gradient step")
    buffer: int = Field(gt=0, description="transitions that the replay holds")
    warm_up: int = Field(gt=0, description="transitions before the first gradient step")
    target_every: int = Field(gt=0, description="gradient steps between copies to the target net")
    targets_before_exchange: bool = Field(
        False,
        description="where rounds are no longer than target_every: a copy is made before the "
        "round's exchange, not after it",
    )
    truncation_stops: bool = Field(
        True, description="a time limit stops the bootstrap as a terminal state does"
    )
    fresh_rounds: bool = Field(
        False,
        description="a round starts with an empty replay, new Adam moments, a synchronised target "
        "and epsilon * epsilon_decay^(episodes so far), as in QAvg's code",
    )
    evaluation_episodes: int = Field(5, gt=0, description="greedy episodes an environment")
    adapt_episodes: int = Field(0, ge=0, description="episodes in each new environment afterwards")
    adapt_frames: int = Field(0, ge=0, description="or steps there")

    @model_validator(mode="after")
    def one_length(self) -> "DeepSettings":
        if (self.episodes > 0) == (self.frames > 0):
            raise ValueError("training is so many episodes or so many frames: give one of them")
        if self.frames and self.unit == "episode":
            raise ValueError("rounds of episodes cannot be counted in frames: unit must be step")
        return self
