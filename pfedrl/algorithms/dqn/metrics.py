"""The names of what is recorded of DQN learners; without torch, so that claims can be checked."""

from typing import Any

from pfedrl.algorithms.deep.metrics import OF_EACH_AGENT, places
from pfedrl.algorithms.dqn.settings import DeepSettings
from pfedrl.envs.classic.task import ControlFamily

WINDOW = 10  # episodes whose mean return must reach a mark
MARKS = {"solve": 0.975, "half": 0.5}  # of the step cap: 195 and 100 of 200
COMPARED = ("head", "body", "transition")  # of which agents' cosines are taken

OF_EPISODES = OF_EACH_AGENT | {"return_variance", "return_deviation", "return_median"}


def of_each_agent(settings: DeepSettings, family: Any) -> set[str]:
    """What is recorded of agents, and of newcomers; marks count steps that are rewarded."""
    if settings.frames:
        return OF_EACH_AGENT
    marked = settings.unit == "step" and settings.episodes >= WINDOW and family.rewards_steps
    marks = {f"{of}_{mark}" for of in ("episodes_to", "reached") for mark in MARKS}
    return OF_EPISODES | (marks if marked else set())


def of_all(settings: DeepSettings, family: Any, agree: bool) -> set[str]:
    """What is recorded of the agents together; `agree`: they hold one net after an exchange."""
    if settings.unit == "step":
        return places(family, pairs=False) | {"value_error", "worst_value_error"}
    return places(family, pairs=not agree)


def similarities(family: ControlFamily) -> set[str]:
    """Of agents with parts that are trained in turn."""
    found = {f"{of}_similarity_{j}" for of in COMPARED for j in range(family.agents)}
    return found | ({"similarity_correlation"} if family.agents > 2 else set())
