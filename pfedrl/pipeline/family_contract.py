"""What a family of environments must hold: `pfedrl check` of a family, and the tests.

Members are stepped with the same actions, from starts that equal generators draw, so that episodes
part where members differ and nowhere else.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.core.registry import load, named
from pfedrl.core.settings import validate
from pfedrl.envs.environments import Discrete
from pfedrl.envs.family import Draws, Family
from pfedrl.pipeline.contract import Checked
from pfedrl.pipeline.project import Project

SEEDS = range(2)
STEPS = 20  # of an episode, at most
Check = Callable[[Family], Iterator[str]]


def drawn_alike(family: Family) -> Iterator[str]:
    """A seed draws the same members alone and in a block."""
    alone, among = family.draw(SEEDS[1:]), family.draw(SEEDS)
    for name in among:
        if not np.array_equal(alone[name][0], among[name][1], equal_nan=True):
            yield f"{name} of seed 1 alone is not that of seed 1 in a block of two"


def every_parameter_counts(family: Family) -> Iterator[str]:
    """Two members that differ in one parameter alone have unlike episodes."""
    draws = family.draw(SEEDS[:1])
    if tabular(family):
        yield from unlike_tables(family, draws)
        return
    given = getattr(family, "parameters", {})
    names = list(given) if isinstance(given, dict) else []
    changes = list(single_changes(draws))
    for place, changed in changes:
        rows = len(changed["training"][0]) if "training" in changed else 2
        seen = episodes(family, changed, rows)
        if np.array_equal(seen[:, 0], seen[:, 1]):
            what = f"the parameter {names[place]}" if names else "what members differ in"
            yield f"{what} is drawn, and changes no episode"
    if not changes:
        seen = episodes(family, draws, None)
        if all(np.array_equal(seen[:, 0], seen[:, row]) for row in range(seen.shape[1])):
            yield "with these settings all members have the same episodes"


def single_changes(draws: Draws) -> Iterator[tuple[int, Draws]]:
    """Draws of agents who are all the first one, but for one parameter of the second; for each
    parameter that agents differ in."""
    number = draws.get("training")
    if number is None or number.ndim < 2:
        return
    each = number[0].reshape(number.shape[1], -1)
    for place in range(each.shape[1]):
        others = np.flatnonzero(each[:, place] != each[0, place])
        if not len(others):
            continue
        changed = {}
        for name, array in draws.items():
            changed[name] = array.copy()
            if array.shape[:2] != number.shape[:2]:
                continue
            changed[name][0, :] = array[0, 0]
            if name != "training" or each.shape[1] == 1:  # models are made of the number
                changed[name][0, 1] = array[0, others[0]]
            else:
                changed[name][0, 1, place] = array[0, others[0], place]
        yield place, changed


def unlike_tables(family: Family, draws: Draws) -> Iterator[str]:
    task = family.task(draws)
    of_each = [*zip(task.training, task.evaluation_policies(), strict=True)]
    if all(np.array_equal(one, first) for own in of_each
           for one, first in zip(own, of_each[0], strict=True)):  # fmt: skip
        yield "with these settings all members have the same transitions and policies"


def tabular(family: Family) -> bool:
    return family.kind == "tabular"


def episodes(family: Family, draws: Draws, rows: int | None) -> np.ndarray:
    """What is seen and gained, [step, row, number], of all agents of the first seed."""
    environments = family.task(draws).environments()
    rows = rows or len(environments.observation)
    begin(environments)
    seen = [shown(environments)]
    over = np.zeros(len(environments.observation), np.bool_)
    for step in range(min(STEPS, environments.cap)):
        environments.step(actions(environments, step), ~over)
        over |= environments.terminated | environments.truncated
        seen.append(shown(environments))
    return np.stack(seen)[:, :rows]


def shown(environments: Any) -> np.ndarray:
    parts = environments.observation, environments.reward[:, None]
    return np.concatenate([*parts, environments.terminated[:, None]], axis=1)


def begin(environments: Any) -> None:
    rows = len(environments.observation)
    starts = environments.starts([np.random.default_rng(0) for _ in range(rows)])
    environments.reset(np.arange(rows), starts)


def actions(environments: Any, step: int) -> np.ndarray:
    """The same action of every row."""
    space, random = environments.action_space, np.random.default_rng((1, step))
    if isinstance(space, Discrete):
        one = random.integers(space.count, size=space.size)
    else:
        one = random.uniform(-space.limit, space.limit, space.size)
    return np.tile(one, (len(environments.observation), 1))


def the_same_again(family: Family) -> Iterator[str]:
    """The same starts and actions lead to the same episodes."""
    draws = family.draw(SEEDS[:1])
    first, second = (episodes(family, draws, None) for _ in range(2))
    if not np.array_equal(first, second):
        yield "the same start and actions lead to another episode"


def resting_rows(family: Family) -> Iterator[str]:
    """Rows that rest stay where they are, and so do rows that are not reset."""
    environments = family.task(family.draw(SEEDS)).environments()
    rows = len(environments.observation)
    first = np.arange(rows) < rows // 2
    begin(environments)
    before = environments.observation.copy()
    environments.step(actions(environments, 0), first)
    if not np.array_equal(environments.observation[~first], before[~first]):
        yield "a step moves rows that rest"
    again = environments.starts([np.random.default_rng(5) for _ in range(rows)])
    environments.reset(np.flatnonzero(first), again[first])
    if not np.array_equal(environments.observation[~first], before[~first]):
        yield "a reset of some rows moves others"


def goes_on(family: Family) -> Iterator[str]:
    """Environments go on from their state as if nothing had happened."""
    draws = family.draw(SEEDS[:1])
    environments = family.task(draws).environments()
    begin(environments)
    everyone = np.ones(len(environments.observation), np.bool_)
    environments.step(actions(environments, 0), everyone)
    resumed = family.task(draws).environments()
    resumed.restore(copy.deepcopy(environments.state()))
    for one in (environments, resumed):
        one.step(actions(one, 1), everyone)
    if not np.array_equal(shown(environments), shown(resumed)):
        yield "what is resumed from state() goes another way: state() lacks something"


OF_ALL: dict[str, Check] = {
    "a seed draws alone what it draws in a block": drawn_alike,
    "every parameter changes an episode": every_parameter_counts,
}
OF_STEPPED: dict[str, Check] = {
    "the same start and actions, the same episode": the_same_again,
    "rows that rest stay": resting_rows,
    "it goes on from its state": goes_on,
}


def is_family(given: str) -> bool:
    """Whether a name, or a file, is of a family of environments."""
    try:
        return bool(named("envs", given))
    except PfedrlError:
        return False  # whoever looks for an algorithm says what it is instead


def family_of(project: Project, given: str, settings: dict[str, Any]) -> Family:
    """A family by its name or file, with the settings of envs/ and those given."""
    name = named("envs", given)
    return validate(load("envs", name), project.family_defaults(name) | settings, given)


def check(project: Project, given: str, settings: dict[str, Any]) -> Iterator[Checked]:
    """All checks of a family."""
    family = family_of(project, given, settings)
    if family.kind == "labelled":
        yield Checked("data", [], "not asked: nothing is stepped in, and the data are checked "
                      "where they are fetched")  # fmt: skip
        return
    chosen = OF_ALL if tabular(family) else OF_ALL | OF_STEPPED
    for name, one in chosen.items():
        try:
            faults = list(one(family))
        except Exception as error:  # whatever it is, the author must see it
            faults = [f"it fails with {type(error).__name__}: {error}"]
        yield Checked(name, faults)
