"""A comparison of two algorithms in words: every one is computed from the numbers."""

import math
from collections.abc import Iterable, Iterator

from pfedrl.analysis.compare import PHASES, Difference, Meeting, Reading
from pfedrl.analysis.output import seeds

INTERVALS = (
    "Intervals are 95% t intervals of the mean difference over seeds, not corrected for the number "
    "of metrics. 'No clear difference' means that the interval contains zero."
)
CENSORED = "A run that never gets there counts with its whole length in a time until something."


def sentence(meeting: Meeting, found: Iterable[Difference]) -> str:
    """The main metrics in one sentence."""
    first, *rest = list(found)
    phases = first.metric in PHASES and bool(rest)
    parts = [f"{meeting.first} {_is(first, meeting.second)} {_where(first, phases)}{_by(first)}"]
    parts += [f"{state(one)} {_where(one, phases)}{_by(one)}" for one in rest]
    return "; ".join(parts) + "."


def _where(one: Difference, phases: bool) -> str:
    return PHASES[one.metric] if phases else f"in {one.words}"


def state(one: Difference) -> str:
    """better, worse, or what there is instead."""
    if one.seeds == 0:
        return "no seed has a value of both"
    if one.won == one.lost == 0:
        return "equal in every seed"
    if not one.clear:
        return "no clear difference"
    if one.better:
        return "better" if one.mean * one.better > 0 else "worse"
    return "higher" if one.mean > 0 else "lower"


def _is(one: Difference, other: str) -> str:
    found = state(one)
    if found in ("better", "worse", "higher", "lower"):
        return f"is {found} than {other}"
    return f"and {other}: {found}"


def _by(one: Difference) -> str:
    """', by 23.3 of 200 (10 seeds: 0 won, 10 lost)'."""
    if one.seeds == 0 or one.won == one.lost == 0:
        return "" if one.seeds == 0 else f" ({seeds(one.seeds)})"
    size = ""
    if one.clear:
        possible = f" of {one.width:,g}" if math.isfinite(one.width) else ""
        size = f", by {abs(one.mean):,.4g}{possible}"
    return f"{size} ({seeds(one.seeds)}: {score(one)})"


def score(one: Difference) -> str:
    """Seeds won and lost; of a metric without a better way, seeds higher and lower."""
    ahead, behind = ("won", "lost") if one.better else ("higher", "lower")
    tied = f", {one.tied:,} tied" if one.tied else ""
    return f"{one.won:,} {ahead}, {one.lost:,} {behind}{tied}"


def place(meeting: Meeting) -> str:
    """Where two met, and with how many seeds and how much training."""
    at = f", {meeting.point}" if meeting.point else ""
    where = f"{meeting.title}{at} ({meeting.paper}/{meeting.experiment})"
    return f"{where}: {seeds(meeting.seeds)}, {meeting.budget}"


COLUMNS = ("metric", "first", "second", "difference", "95% interval", "seeds", "")


def row(one: Difference) -> tuple[str, ...]:
    """A line of the table of metrics."""
    missing = f", {one.missing:,} without a value" if one.missing else ""
    return (
        one.words,
        f"{one.first:,.4g}",
        f"{one.second:,.4g}",
        f"{one.mean:+,.4g}",
        "none (1 seed)" if one.seeds == 1 else f"{one.low:+,.4g} to {one.high:+,.4g}",
        score(one) + missing,
        state(one),
    )


def result(reading: Reading) -> str:
    """What a reading finds, without its words and budget."""
    one = reading.difference
    return "not run with both" if one is None else f"{state(one)}{_by(one)}"


def reading_line(reading: Reading) -> str:
    """What a reading finds, in one line."""
    budget = f"; {reading.budget}" if reading.budget else ""
    return f"{reading.words}: {result(reading)}{budget}"


def lines_of_readings(readings: Iterable[Reading], words: str) -> Iterator[str]:
    found = list(readings)
    if found:
        yield f"Under other readings of what the paper leaves open, in {words}:"
        yield from (f"  {reading_line(one)}" for one in found)
