"""Who trains when, and how long, in rounds of PPO-KL."""

from pydantic import Field

from pfedrl.algorithms.ppo_kl.settings import PPOKLSettings


class FederationSettings(PPOKLSettings):
    """The loop of the FedKL authors' code; what it adds to the paper can be turned off."""

    communication_rounds: int = Field(gt=0, description="times that agents train and are averaged")
    selected: int = Field(3, gt=0, description="K, agents that train in a round")
    local_iterations: int = Field(20, gt=0, description="I, iterations of an agent in a round")
    episodes: int = Field(41, gt=0, description="whole episodes of an iteration's batch")
    evaluation_episodes: int = Field(30, gt=0, description="episodes of each agent's evaluation")
    retries: int = Field(
        5, ge=0, description="times that an agent starts over when its return collapses; 0: never"
    )
    average_coefficients: bool = Field(
        True, description="c1 and c2 are averaged like the model; else each agent keeps its own"
    )
    reset_c1: bool = Field(False, description="c1 returns to its start in every round")
    untrained_act_randomly: bool = Field(
        False, description="agents that never trained act uniformly in [0,1) half of the time"
    )
    measure_heterogeneity: bool = Field(False, description="estimate D, A, B and G every round")
    target: float | None = Field(
        None, description="a return; the rounds until an evaluation reaches it are recorded"
    )
