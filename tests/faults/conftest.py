"""Faults, counted by kind. Each must end in the right result or in one clear error.

`make test` tries a few of each kind; `make faults` tries all of them and
writes the counts to docs/faults.md.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.envs.data.test_fetch import place  # noqa: F401  a cache and stand-ins for clients
from tests.tiny import ROOT
from tests.workflow.conftest import finished, fresh, new_project, project  # noqa: F401  the DAGs

FULL = os.environ.get("PFEDRL_FAULTS") == "all"
PLACE = re.compile(r"(?<=<!-- faults -->\n).*?(?=<!-- /faults -->)", re.DOTALL)
ROW = re.compile(r"^\| ((?!in all)[^|]+) \| (\d+) \|$", re.MULTILINE)
TALLY: Counter[str] = Counter()


def times(few: int, all_of_them: int) -> int:
    """How often a kind of fault is tried."""
    return all_of_them if FULL else few


@pytest.fixture
def fault() -> Callable[[str], "contextmanager[None]"]:
    """Around a fault: it is counted when all that must hold afterwards holds."""

    @contextmanager
    def counted(kind: str) -> Iterator[None]:
        yield
        TALLY[kind] += 1

    return counted


@pytest.fixture
def random(request: pytest.FixtureRequest) -> np.random.Generator:
    """The same draws for the same test."""
    return np.random.default_rng(list(request.node.name.encode()))


def table(tally: Counter[str]) -> str:
    rows = [f"| {kind} | {count} |" for kind, count in sorted(tally.items())]
    return "\n".join(["| fault | tried |", "|---|---|", *rows, f"| in all | {tally.total()} |", ""])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if not TALLY or exitstatus != 0:
        return
    print(f"\n{TALLY.total()} faults, none of them lost anything: {dict(TALLY)}")
    if not FULL or session.config.option.keyword:
        return
    page = ROOT / "docs" / "faults.md"
    text = page.read_text()
    tally = TALLY
    if not {path.name for path in Path(__file__).parent.glob("test_*.py")} <= {
        item.path.name for item in session.items
    }:  # a part of them: the kinds that it did not try keep their counts
        before = ROW.findall("".join(PLACE.findall(text)))
        tally = Counter({kind: int(count) for kind, count in before}) | TALLY
    text, found = PLACE.subn(lambda _: table(tally), text)
    assert found == 1, "docs/faults.md has no place for the counts"
    page.write_text(text)
