"""Settings of DDPG; without torch, so that reading them is quick."""

from pydantic import Field

from pfedrl.core.settings import Settings


class DDPGSettings(Settings):
    """What a DDPG agent does with its experience, and for how long."""

    frames: int = Field(gt=0, description="steps of every agent in its environment")
    first_width: int = Field(400, gt=0, description="units of the first hidden layer")
    second_width: int = Field(300, gt=0, description="and of the second")
    actor_rate: float = Field(1e-4, gt=0, description="Adam's, of the actor")
    critic_rate: float = Field(1e-4, gt=0, description="Adam's, of the critic")
    gamma: float = Field(0.99, gt=0, lt=1, description="discount")
    tau: float = Field(1e-3, gt=0, le=1, description="how far targets move at a gradient step")
    batch: int = Field(64, gt=0, description="transitions in a gradient step")
    buffer: int = Field(100_000, gt=0, description="transitions that the replay holds")
    warm_up: int = Field(1000, gt=0, description="transitions before the first gradient step")
    noise_pull: float = Field(0.15, ge=0, le=1, description="theta of the Ornstein-Uhlenbeck noise")
    noise_spread: float = Field(
        0.2, ge=0, description="its sigma, as a share of the largest action"
    )
    truncation_stops: bool = Field(
        False, description="a time limit stops the bootstrap as a terminal state does"
    )
    fresh_rounds: bool = Field(
        False,
        description="a round starts with an empty replay, new Adam moments, synchronised targets "
        "and new episodes, as in QAvg's code",
    )
    evaluation_episodes: int = Field(5, gt=0, description="episodes an environment, without noise")
    adapt_frames: int = Field(0, ge=0, description="steps in each new environment afterwards")
    adapt_buffer: int | None = Field(None, description="the replay there, where it differs")
    adapt_warm_up: int | None = Field(None, description="the warm-up there, where it differs")
