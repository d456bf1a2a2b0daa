"""A file to start an algorithm from, and its test."""

from pathlib import Path

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import METHODS, components, load

EXCHANGE = '''"""{label}: say in a line what it does, and who described it."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.server import Server


class {name}Server(Server):
    """The server receives a message of each agent, all its shared numbers in a row."""

    def __init__(self, average: SharedParts, share: float):
        super().__init__(average)
        self.share = share

    def combined(self, messages: np.ndarray) -> np.ndarray:
        """The model [seed, number] that all agents receive, from [seed, agent, number].

        Never mix along the first axis: seeds never meet. What is remembered from round to round
        goes into state() and restore(), and what is drawn comes from pfedrl.core.seeds.
        """
        # between the mean and the median: replace this by your idea
        mean, median = messages.mean(axis=1), np.median(messages, axis=1)
        return (1 - self.share) * mean + self.share * median


class {name}(ExchangeOnly):
    """An exchange in the place of every method's plain average."""

    label: ClassVar[str] = "{label}"  # the name that readers see

    # settings: typed fields with a default and a description
    share: float = Field(0.5, ge=0, le=1, description="of the median in what agents receive")

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        return {name}Server(average, self.share)
'''

METHOD = '''"""{label}: say in a line what it does, and who described it."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from {module} import {base}
from pfedrl.stack.exchange import Exchange, Parts, SharedParts


class Partly(Exchange):
    """Agents keep a share of their own and take the rest from the average."""

    def __init__(self, average: SharedParts, kept: float):
        super().__init__(average.steps)  # local steps between two exchanges
        self.average, self.kept = average, kept

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        """Parts are stacks [seed, agent, ...] and are changed in place; returned are the bytes that
        each agent sent, [seed, agent]. Seeds never meet. What is remembered from round to round
        goes into state() and restore(); begin(parts) shows the common start."""
        own = {{name: np.asarray(part).copy() for name, part in parts.items()}}
        sent = self.average(parts, round)
        for name, part in parts.items():
            received = np.asarray(part)  # a view, of torch's tensors too
            received[...] = self.kept * own[name] + (1 - self.kept) * received
        return sent


class {name}({base}):
    """{base}, but agents keep a share of their own model in every exchange."""

    label: ClassVar[str] = "{label}"  # the name that readers see

    # settings: typed fields with a default and a description
    kept: float = Field(0.5, ge=0, lt=1, description="of its own model that an agent keeps")

    # to change what an agent does with its experience, override learner() and return a learner of
    # your own; its adjust() may change a gradient before the optimiser's step

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        average = super().exchange(task, seeds)
        return Partly(average, self.kept) if isinstance(average, SharedParts) else average
{metrics}'''

# agents that keep a share of their own differ after an exchange: more is recorded of them
METRICS = '''
    def metrics(self, family: Any) -> set[str]:
        """What it records: as {base}, and of the agents' own models, which differ."""
        own = {{f"baseline_{{place}}" for place in family.places() - {{"centre_value"}}}}
        return super().metrics(family) | own
'''

TEST = '''"""The contract of {label}: the same checks as `pfedrl check`."""

from pathlib import Path

import pytest

from pfedrl.pipeline.contract import check
from pfedrl.pipeline.project import Project

FILE = Path(__file__).parent / "{file}"


@pytest.mark.parametrize("method", {methods})
def test_it_holds_the_contract(method: str):
    for name, faults, _ in check(Project.here_or_own(), f"{{method}}{{FILE}}"):
        assert not faults, name
'''


def write(path: Path, on: str) -> list[Path]:
    """Write an algorithm and its test; neither takes the place of a file that is there."""
    if on not in {*METHODS, "exchange"}:
        raise unknown("method", on, [*METHODS, "exchange"])
    path = path.with_suffix(".py")
    test = path.with_name(f"test_{path.name}")
    if not path.stem.isidentifier():
        raise PfedrlError(f"{path}: letters, digits and '_' only in the name of the file.")
    taken = [name for name in components("algorithms") if name.rpartition("/")[2] == path.stem]
    if taken:
        raise PfedrlError(f"{path}: the name {path.stem} belongs to an algorithm. Choose another.")
    for one in (path, test):
        if one.exists():
            raise PfedrlError(f"{one} is there already. Choose another name, or remove it.")
    name = "".join(word.capitalize() for word in path.stem.split("_"))
    words = {"name": name, "label": name}
    if on == "exchange":
        text = EXCHANGE.format(**words)
    else:
        made = load("algorithms", METHODS[on])
        words |= {"base": made.__name__, "module": made.__module__}
        metrics = METRICS.format(**words) if on == "tabular" else ""
        text = METHOD.format(**words, metrics=metrics)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    methods = ["dqn:", "tabular:"] if on == "exchange" else [""]
    test.write_text(
        TEST.format(label=name, file=path.name, methods=str(methods).replace("'", '"')),
        encoding="utf-8",
    )
    return [path, test]
