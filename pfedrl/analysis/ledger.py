"""The ledger: a paper's claims by badge, with what was found and what to read beside it.

Its cells are HTML, which the report and a code host's Markdown both show.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from pfedrl.analysis.outcomes import NOT_RUN
from pfedrl.analysis.verdict import BADGES, DECIDED, FOR, POINTS_FOR
from pfedrl.pipeline.scale import RECORD

BRACKETS = "In brackets: additional questions of our own, counted separately."
SHOWN = 3  # comparisons of a claim; more are folded away


class Group(NamedTuple):
    """A paper's claims with the same badge."""

    badge: str
    claims: list[dict[str, Any]]
    unfolded: bool

    @property
    def heading(self) -> str:
        return f"{BADGES[self.badge]} {len(self.claims)} {self.badge}"


def groups(judged: dict[str, Any], ours: bool) -> Iterator[Group]:
    """The claims by badge: what is decided is unfolded."""
    for badge in BADGES:
        claims = [c for c in judged["claims"] if c["ours"] == ours and c["badge"] == badge]
        if claims:
            yield Group(badge, claims, badge in DECIDED)


def at_a_glance(judged: dict[str, Any] | None) -> list[str]:
    """How many of a paper's claims have each badge, and in brackets how many of ours."""
    if judged is None:
        return [""] * len(BADGES)
    cells = []
    for badge in BADGES:
        theirs, ours = judged["counts"][badge], judged["ours"][badge]
        asked = f"({ours})" if ours else ""
        cells.append(" ".join(filter(None, [str(theirs) if theirs else "", asked])))
    return cells


def judged_from(scale: str) -> str:
    """Which runs verdicts come from."""
    return "from the published runs" if scale == RECORD else f"at the {escape(scale)} scale"


def headline(judged: dict[str, Any]) -> str:
    """How many of the paper's sentences are decided, and where the rest point."""
    counts = judged["counts"]
    total = sum(counts.values())
    decided = sum(counts[badge] for badge in DECIDED)
    later = sum(c["post_hoc"] for c in judged["claims"] if not c["ours"] and c["badge"] in DECIDED)
    said = f"{decided} of {total} sentences are decided"
    if later:
        said += f", {later} of them post hoc (their test was written after its runs were seen)"
    points = counts[POINTS_FOR]
    return f"{said}; {points} of the rest point{'s' * (points == 1)} the paper's way."


def found(result: dict[str, Any]) -> str:
    """What the comparisons found, the worst first, and the evidence for the claim as a whole."""
    words = [one["words"] for one in result["comparisons"]]
    shown = len(words) if len(words) <= SHOWN + 1 else SHOWN  # a fold takes a line itself
    evidence = strength(result)
    return _folded(words[:shown], words[shown:], "more") + (
        f'<div class="soft">{evidence}</div>' if evidence else ""
    )


def strength(result: dict[str, Any]) -> str:
    """The e-value of the side that is ahead, in words."""
    if result["exact"] or result["badge"] == NOT_RUN or result["e_for"] is None:
        return ""
    side = "for" if result["e_for"] >= result["e_against"] else "against"
    value = result[f"e_{side}"]
    shown = "over a million" if value > 1e6 else f"{value:,.3g}"
    asks = "the average" if result["asks"] == "average" else "most seeds"
    return f"evidence {side} it, on {asks}: {shown} (100 decides)"


def read_beside(result: dict[str, Any]) -> str:
    """What must be read with a verdict; the verdicts under single readings are folded away."""
    said, readings = beside(result)
    return _folded(said, readings, "reading" if len(readings) == 1 else "readings")


def _folded(shown: Sequence[str], rest: Sequence[str], what: str) -> str:
    """Items on a line each, and the rest under a line that opens them."""
    words, more = ("<br>".join(escape(item) for item in items) for items in (shown, rest))
    if not rest:
        return words
    return f"{words}<details><summary>{len(rest)} {what}</summary>{more}</details>"


def beside(result: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What is to be read beside a verdict: budget, order of test and runs; and each reading."""
    said = ["post hoc: its test was written after its runs were seen"] * result["post_hoc"]
    said += result["notes"]
    readings = result["readings"]
    if not readings or result["badge"] == NOT_RUN:
        return said, []
    run = [r for r in readings if r["badge"] != NOT_RUN]
    if not run:
        words = "declared, none run with every algorithm that the claim compares"
        return [*said, f"{_alternatives(len(readings))} {words}"], []
    support = sum(r["badge"] in FOR for r in run)
    said.append(f"it holds under {support} of {_alternatives(len(run))} that we ran")
    if absent := [r["words"] for r in readings if r["badge"] == NOT_RUN]:
        said.append(f"not run: {', '.join(absent)}")
    return said, [_reading(r) for r in run]


def _reading(reading: dict[str, Any]) -> str:
    count = reading["left_out"]
    words = f"{reading['words']}: {reading['badge']}"
    if reading["comparisons"]:
        one = reading["comparisons"][0]
        words += f" ({one['won']:,} seeds for, {one['lost']:,} against)"
    return words + (f", {count} comparison{'s' * (count != 1)} not run" if count else "")


def _alternatives(count: int) -> str:
    return "1 alternative reading" if count == 1 else f"{count} alternative readings"
