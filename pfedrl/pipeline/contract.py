"""What an algorithm must hold to be compared with others: `pfedrl check`, and the tests.

Every check looks at short runs of one cell, or at the algorithm's exchange on a learner of that
cell, and yields what is wrong in words; nothing where all is well.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.core.errors import PfedrlError
from pfedrl.core.recorder import Recorder
from pfedrl.core.registry import components, load, named
from pfedrl.core.settings import validate
from pfedrl.envs.attack import attacked
from pfedrl.envs.family import Family
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.verify import in_place_of, measured, of_experiments
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.exchange import Exchange, never
from pfedrl.stack.learner import Learner
from pfedrl.stack.loop import Control

SEED = 3  # not the one with the largest reward: a maximum over the block would hide there
BLOCKS = (range(3, 4), range(3, 5), range(5))  # of 1, 2 and 5 seeds, that seed among them
# how much longer than the short runs a run is that must learn, by the setting of its length
LONGER = {"frames": 4, "communication_rounds": 2, "training_rounds": 5, "iterations": 2}
AGENTS = 6  # at least, where some lie
ROUNDS = 100  # most of them, where what is learnt is compared
COUNTED = {"megabytes_sent", "spectral_gap"}  # nothing that is learnt
Columns = Mapping[str, np.ndarray]
Check = Callable[[Cell], Iterator[str]]


class Checked(NamedTuple):
    """What came of one check."""

    name: str
    faults: list[str]
    remark: str = ""


class Killed(BaseException):
    """As sudden as a signal."""


def seed_alone(cell: Cell) -> Iterator[str]:
    """A seed alone is the seed in any block, bit for bit, in every metric."""
    alone, *together = (_of_seed(measured(cell, seeds)) for seeds in BLOCKS)
    for seeds, among in zip(BLOCKS[1:], together, strict=True):
        for metric in _apart(alone, among):
            yield f"{metric} of seed {SEED} alone is not that of seed {SEED} among {len(seeds)}"


def _of_seed(columns: Columns) -> Columns:
    return {name: column[columns["seed"] == SEED] for name, column in columns.items()}


def _apart(first: Columns, second: Columns) -> list[str]:
    """The metrics in which two runs differ."""
    names = sorted({*first["metric"].tolist(), *second["metric"].tolist()})
    return [name for name in names if _rows(first, name) != _rows(second, name)]


def _rows(columns: Columns, metric: str) -> list[tuple[str, ...]]:
    """A metric's rows as text, where a number that is none equals itself."""
    chosen = columns["metric"] == metric
    keys = [columns[key][chosen].tolist() for key in ("seed", "agent", "axis", "at", "value")]
    return [tuple(map(repr, row)) for row in zip(*keys, strict=True)]


def killed_and_resumed(cell: Cell) -> Iterator[str]:
    """A run that is killed half-way goes on to the numbers of an unbroken one."""
    seeds = range(2)
    with TemporaryDirectory() as folder:
        checkpoint = Checkpoint(Path(folder) / "run.checkpoint", {"run": "checked"}, seconds=0)
        later: list[int] = []

        def kill(done: int, total: int) -> None:
            if done * 2 > total and checkpoint.path.exists():
                raise Killed

        whole = _run(cell, seeds, Control(3))
        try:
            _run(cell, seeds, Control(3, checkpoint, kill))
        except Killed:
            kept = Control(3, checkpoint, lambda done, total: later.append(done))
            resumed = _run(cell, seeds, kept)
        else:
            yield "the run ended before it could be killed: it says nothing of its progress"
            return
    for metric in _apart(whole, resumed):
        yield f"{metric} of a resumed run is not that of an unbroken one: state() lacks something"


def _run(cell: Cell, seeds: range, control: Control) -> Columns:
    assert cell.family is not None
    recorder = Recorder(seeds)
    cell.runnable.run(seeds, cell.family, cell.family.draw(seeds), recorder, control)
    return recorder.columns()


def declared(cell: Cell) -> Iterator[str]:
    """It records what it declares."""
    found = {str(name) for name in measured(cell, range(2))["metric"]}
    says = cell.runnable.metrics(cell.family)
    if found != says:
        yield f"metrics() declares {_list(says - found)} and lacks {_list(found - says)}"


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "nothing else"


class Round(NamedTuple):
    """An exchange before its call, with parts that agents trained."""

    exchange: Exchange
    parts: dict[str, Any]

    def called(self, change: Callable[[dict[str, Any]], None] | None = None) -> tuple[Any, Any]:
        """The parts after the exchange, as NumPy's, and what it returned; from changed parts."""
        exchange, parts = copy.deepcopy(self.exchange), copy.deepcopy(self.parts)
        if change is not None:
            change(parts)
        sent = exchange(parts, 1)
        return {name: np.asarray(part).copy() for name, part in parts.items()}, sent


def a_round(cell: Cell, seeds: range) -> Round:
    """The second round's exchange: by then agents differ, and the exchange remembers."""
    learner, exchange = _start(cell, seeds)
    for number in range(2):
        learner.observe()
        learner.advance(max(exchange.steps, _warm_up(cell)))
        if number == 0:
            exchange(learner.parts, 0)
    return Round(exchange, dict(learner.parts))


def _start(cell: Cell, seeds: range) -> tuple[Learner, Exchange]:
    """A learner and an exchange at the start of training."""
    assert cell.family is not None
    task = cell.family.task(cell.family.draw(seeds))
    task = cell.runnable.seen(task) if hasattr(cell.runnable, "seen") else task
    learner, exchange = cell.runnable.learner(task, seeds), cell.runnable.exchange(task, seeds)
    exchange = cell.family.attacked(exchange, seeds)
    exchange.begin(learner.parts)
    return learner, exchange


def _warm_up(cell: Cell) -> int:
    """Local steps after which nets have learnt; rounds of episodes are long enough."""
    if getattr(cell.runnable, "unit", "step") == "episode":
        return 1
    return 2 * getattr(cell.runnable, "warm_up", 0)


def shapes(cell: Cell) -> Iterator[str]:
    """Parts are stacks [seed, agent, ...] and stay so; an exchange returns bytes [seed, agent]."""
    seeds = range(2)
    meeting = a_round(cell, seeds)
    stacks = {name: tuple(part.shape) for name, part in meeting.parts.items()}
    if len({shape[:2] for shape in stacks.values()}) > 1 or any(
        shape[0] != len(seeds) for shape in stacks.values()
    ):
        yield f"parts must be [seed, agent, ...] of {len(seeds)} seeds, not {stacks}"
        return
    after, sent = meeting.called()
    for name, part in after.items():
        if part.shape != stacks[name]:
            yield f"the exchange changes the shape of the part {name}"
        if not np.isfinite(part).all():
            yield f"the exchange leaves numbers in {name} that are not finite"
    wanted = next(iter(stacks.values()))[:2]
    if np.shape(sent) != wanted or not (np.asarray(sent) >= 0).all():
        yield f"the exchange must return the bytes that each agent sent, {list(wanted)}"


def seeds_apart(cell: Cell) -> Iterator[str]:
    """Seeds never meet in an exchange."""
    meeting = a_round(cell, range(2))
    before, sent = meeting.called()

    def change(parts: dict[str, Any]) -> None:
        for part in parts.values():
            _shake(np.asarray(part)[0])

    after, sent_then = meeting.called(change)
    for name in before:
        if not np.array_equal(before[name][1], after[name][1], equal_nan=True):
            yield f"seeds meet: what seed 0 has of {name} changes what seed 1 receives"
    if not np.array_equal(np.asarray(sent)[1], np.asarray(sent_then)[1]):
        yield "seeds meet: what seed 0 has changes the bytes of seed 1"


def _shake(numbers: np.ndarray) -> None:
    """Other numbers of the same size, in place; what is counted stays."""
    if not np.issubdtype(numbers.dtype, np.floating):
        return
    flat = np.random.default_rng(0).standard_normal(numbers.shape)
    numbers += (flat * (1.0 + np.abs(numbers))).astype(numbers.dtype)


def bytes_counted(cell: Cell) -> Iterator[str]:
    """Bytes are counted as they are sent: an agent sends at least each part of its own that changes
    what others have after the exchange, and nothing where none does."""
    meeting = a_round(cell, range(1))
    before, sent = meeting.called()
    said = np.asarray(sent)[0]
    reaching: list[set[str]] = []
    for agent in range(len(said)):
        others = np.arange(len(said)) != agent
        found = set()
        for name in meeting.parts:

            def change(parts: dict[str, Any], name: str = name, agent: int = agent) -> None:
                _shake(np.asarray(parts[name])[0, agent : agent + 1])

            after, _ = meeting.called(change)
            if any(
                not np.array_equal(before[one][0][others], after[one][0][others], equal_nan=True)
                for one in before
            ):
                found.add(name)
        reaching.append(found)
    for agent, found in enumerate(reaching):
        size = sum(_least(np.asarray(meeting.parts[name])[0, agent]) for name in found)
        if said[agent] < size:
            yield (
                f"agent {agent} sends {size} bytes or more ({_list(found)} change what others "
                f"have), and {said[agent]:.0f} are counted"
            )
    if said.any() and len(said) > 1 and not any(reaching):
        yield f"{said.max():.0f} bytes are counted, and no agent changes what another has"


def _least(message: np.ndarray) -> float:
    """The bytes that a message takes at least: zeros need not be sent, and a mask is of bits."""
    if np.isin(message, (0, 1)).all():
        return message.size / 8
    return float(np.count_nonzero(message) * message.itemsize)


def alone(cell: Cell) -> str:
    """Whether one agent by itself is its base learner: so with averages, not with a momentum."""
    assert cell.family is not None
    family = cell.family.model_copy(update={"agents": 1, "members": []})
    one = replace(cell, family=family)
    if "agents" not in type(family).model_fields:
        return "not asked: the family has a fixed number of agents"

    class Alone(type(cell.runnable)):  # type: ignore[misc]
        def exchange(self, task: Any, seeds: Any) -> Exchange:
            return never(super().exchange(task, seeds).steps)

    without = replace(one, runnable=Alone.model_validate(cell.runnable.model_dump()))
    seeds = range(2)
    found, expected = measured(one, seeds), measured(without, seeds)
    apart = [name for name in _apart(found, expected) if name != "megabytes_sent"]
    if not apart:
        return "one agent alone is its base learner"
    return f"one agent alone is not its base learner: {', '.join(apart[:3])} differ"


def longer(cell: Cell) -> Cell:
    """A cell whose run is long enough to learn something."""
    own = {
        key: getattr(cell.runnable, key) * times
        for key, times in LONGER.items()
        if getattr(cell.runnable, key, 0)
    }
    if hasattr(cell.runnable, "selected"):
        own["selected"] = AGENTS  # enough of them that rules for many differ
    if hasattr(cell.runnable, "unit") and cell.runnable.episodes:
        own["episodes"] = 3 * cell.runnable.episodes
    return replace(cell, runnable=cell.runnable.model_copy(update=own))


def relatives(cell: Cell) -> Iterator[Cell]:
    """The same run of every registered algorithm of the same method, where it can be made.

    One that is derived from the other, under the same label, says itself that it is the other one
    with other measurements, as those whose times are looked at within rounds.
    """
    own = type(cell.runnable)
    roots = [made for made in own.__mro__ if issubclass(made, Algorithm) and made is not Algorithm]
    for name in components("algorithms"):
        made = load("algorithms", name)
        if name == cell.algorithm or not issubclass(made, roots[-1]):
            continue
        if made.label == own.label and (issubclass(made, own) or issubclass(own, made)):
            continue
        given = cell.runnable.model_dump(include=set(made.model_fields))
        try:
            runnable = validate(made, given, name)
        except PfedrlError:
            continue  # settings of its own have no default
        if runnable.skip(cell.family) is None:
            yield replace(cell, algorithm=name, runnable=runnable)


def differs(cell: Cell) -> Iterator[str]:
    """It is no copy: on a run that learns its numbers are no other algorithm's. Where they are,
    what was learnt decides; and what is learnt among liars, whom some exchanges are made for.

    It finds copies, and is no proof of a difference that matters. `LONGER`, `AGENTS` and the liars
    were chosen after shorter runs had shown equal numbers for registered algorithms that differ
    (a median and a mean of two agents, rules against liars where none lies): an algorithm that
    differs only on longer runs yet is refused as a copy, and needs these raised.
    """
    learning, seeds = longer(cell), range(1)
    lied_to = among_liars(cell.family)
    own = measured(learning, seeds)
    for other in relatives(learning):
        apart = {*_apart(own, measured(other, seeds))} - COUNTED
        if (
            apart
            or not _same(learning, other)
            or not _same(replace(learning, family=lied_to), replace(other, family=lied_to))
        ):
            continue
        label = type(other.runnable).label
        yield f"it is {label} ({other.algorithm}): it records and learns the same numbers"


def among_liars(family: Any) -> Family:
    """The family with at least six agents, a fifth of whom lie."""
    given = family.model_dump() | {"attack": {"liars": 0.2, "strength": 5.0}}
    if given.get("agents", AGENTS) < AGENTS:
        given |= {"agents": AGENTS} | ({"members": []} if "members" in given else {})
    return validate(attacked(family.__class__), given, "attack")


def _same(first: Cell, second: Cell) -> bool:
    """Whether two algorithms learn the same."""
    ours, theirs = learnt(first), learnt(second)
    shared = ours.keys() & theirs.keys()
    return bool(shared) and all(
        np.array_equal(ours[name], theirs[name], equal_nan=True) for name in shared
    )


def learnt(cell: Cell) -> dict[str, np.ndarray]:
    """The parts of a seed after training, or after its first rounds."""
    learner, exchange = _start(cell, range(1))
    for number in range(min((cell.runnable.rounds() or ROUNDS) - 1, ROUNDS)):
        learner.observe()
        if learner.finished.all():
            break
        learner.advance(exchange.steps)
        exchange(learner.parts, number)
    return {name: np.asarray(part).copy() for name, part in learner.parts.items()}


CONTRACT: dict[str, Check] = {
    "shapes of parts and bytes": shapes,
    "it records what it declares": declared,
    "seeds never meet": seeds_apart,
    "a seed alone is the seed in a block": seed_alone,
    "bytes are counted as sent": bytes_counted,
    "killed and resumed": killed_and_resumed,
    "it is no copy of another": differs,
}


def check(project: Project, given: str) -> Iterator[Checked]:
    """All checks of an algorithm, on the family and settings of its nearest relative."""
    cell = in_place_of(of_experiments(project), named("algorithms", given))
    for name, one in CONTRACT.items():
        try:
            faults = list(one(cell))
        except Exception as error:  # whatever it is, the author must see it
            faults = [f"it fails with {type(error).__name__}: {error}"]
        yield Checked(name, faults)
    yield Checked("one agent alone", [], alone(cell))
    if cell.family is not None and cell.family.kind == "tabular":
        from pfedrl.pipeline.closed_forms import bias, counterexample

        yield Checked("tables and closed forms", [], bias(cell))
        yield Checked("the counterexample to QAvg's Theorem 2", [], counterexample(cell))
