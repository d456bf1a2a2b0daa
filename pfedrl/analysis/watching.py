"""Films of walkers whose agents may be trained first: the families of envs/ with DDPG."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pfedrl.core.settings import validate
from pfedrl.envs.mujoco.walkers import WalkerFamily
from pfedrl.envs.views.walkers import FAMILIES, Act, watch
from pfedrl.pipeline.project import Project

PART = 1000  # frames of training between two reports of progress
Progress = Callable[[int, int], None]


def watch_walkers(
    name: str,
    output: Path,
    acting: str,
    sizes: Sequence[float],
    frames: int,
    seed: int,
    progress: Progress = lambda done, total: None,
) -> None:
    """Film members of a family, with its settings in this project."""
    family = validate(FAMILIES[name], Project.here().family_defaults(name), "watch")

    def train(numbers: list[float]) -> Act:
        return trained(family, numbers, frames, seed, progress)

    watch(family, output, acting, sizes, seed, train)


def trained(
    family: WalkerFamily,
    numbers: Sequence[float],
    frames: int,
    seed: int,
    progress: Progress = lambda done, total: None,
) -> Act:
    """The policy, without noise, of DDPG agents that were each trained alone in one member."""
    from pfedrl.algorithms.ddpg.ddpg import DDPG

    listed = family.model_copy(update={"agents": len(numbers), "members": list(numbers)})
    settings = validate(DDPG, {"frames": frames, "local_steps": frames}, "watch")
    learner = settings.learner(listed.task(listed.draw([seed])), [seed])
    for done in range(0, frames, PART):
        learner.advance(min(PART, frames - done))
        progress(min(done + PART, frames), frames)
    return learner.policy(learner.stack[0])
