"""The ledger: a paper's claims by verdict, with what was found and what to read beside it.

Its cells are HTML, which the report and a code host's Markdown both show.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from pfedrl.analysis.evidence import FEWEST, FIRST_LOOK
from pfedrl.analysis.outcomes import CONTRADICTED, NOT_RUN, REPRODUCED, UNDECIDED
from pfedrl.analysis.verdicts import LEANS_AGAINST, LEANS_FOR
from pfedrl.pipeline.scale import RECORD

SYMBOLS = {
    "reproduced": "✓", "contradicted": "✗", "leans for": "↗", "leans against": "↘",
    "undecided": "?", "not run": "–", "outside its assumptions": "∅",
}  # fmt: skip
DECIDED = (REPRODUCED, CONTRADICTED, LEANS_FOR, LEANS_AGAINST)
BRACKETS = "In brackets: additional questions of our own, counted separately."
SHOWN = 3  # comparisons of a claim; more are folded away


class Group(NamedTuple):
    """A paper's claims with the same verdict."""

    verdict: str
    claims: list[dict[str, Any]]
    unfolded: bool

    @property
    def heading(self) -> str:
        return f"{SYMBOLS[self.verdict]} {len(self.claims)} {self.verdict}"


def groups(judged: dict[str, Any], ours: bool) -> Iterator[Group]:
    """The claims by verdict: what is decided is unfolded, or what is open where nothing is."""
    counts = judged["ours" if ours else "counts"]
    unfolded = DECIDED if any(counts[verdict] for verdict in DECIDED) else (UNDECIDED,)
    for verdict in SYMBOLS:
        claims = [c for c in judged["claims"] if c["ours"] == ours and c["verdict"] == verdict]
        if claims:
            yield Group(verdict, claims, verdict in unfolded)


def at_a_glance(judged: dict[str, Any] | None) -> list[str]:
    """How many of a paper's claims have each verdict, and in brackets how many of ours."""
    if judged is None:
        return [""] * len(SYMBOLS)
    cells = []
    for verdict in SYMBOLS:
        theirs, ours = judged["counts"][verdict], judged["ours"][verdict]
        asked = f"({ours})" if ours else ""
        cells.append(" ".join(filter(None, [str(theirs) if theirs else "", asked])))
    return cells


def judged_from(scale: str) -> str:
    """Which runs verdicts come from."""
    return "from the published runs" if scale == RECORD else f"at the {escape(scale)} scale"


def trust(judged: dict[str, Any]) -> str:
    """How far the verdicts can be trusted."""
    said = f"No claim has the {FEWEST} seeds that a test needs."
    if judged["tested"]:
        said = (
            f"{judged['tested']} claims have the {FEWEST} seeds that a test needs. At an error "
            f"level of 1% each, at most {judged['expected_wrong']:.2g} wrong verdicts are expected "
            "(evidence/level.md shows where this level holds)."
        )
    decided = (r for r in judged["claims"] if r["verdict"] in (REPRODUCED, CONTRADICTED))
    if exact := sum(result["p_value"] is None for result in decided):
        said += f" {exact} need no test: they follow from a count or from computed instances."
    return said


def found(result: dict[str, Any]) -> str:
    """What the comparisons found, and the p value of the claim as a whole."""
    evidence, p = result["evidence"], _p_value(result)
    shown = len(evidence) if len(evidence) <= SHOWN + 1 else SHOWN  # a fold takes a line itself
    words = _folded(evidence[:shown], evidence[shown:], "more")
    return words + (f'<div class="soft">{p}</div>' if p else "")


def _p_value(result: dict[str, Any]) -> str:
    against = result["verdict"] in (CONTRADICTED, LEANS_AGAINST)
    p = result["p_against" if against else "p_value"]
    if p is None:
        return ""
    if result["seeds"] < FIRST_LOOK:
        return f"not tested: fewer than {FIRST_LOOK} seeds"
    shown = "p &lt; 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f"test {'against' if against else 'for'} the claim: {shown}"


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
    """What is to be read beside a verdict: budget, what it would take; and each other reading."""
    said = list(result["notes"])
    way = "claim" if result.get("ours") else "paper"
    if result["verdict"] == UNDECIDED and (ways := _ways(result, way)):
        said.append(ways)
    readings = result["readings"]
    if not readings or result["verdict"] == NOT_RUN:
        return said, []
    run = [r for r in readings if r["verdict"] != NOT_RUN]
    if not run:
        words = "declared, none run with every algorithm that the claim compares"
        return [*said, f"{_alternatives(len(readings))} {words}"], []
    holds = sum(r["verdict"] in (REPRODUCED, LEANS_FOR) for r in run)
    whole = [r["ways"] for r in run if r["ways"] and not r["left_out"]]
    pointing = sum(ways[0] == ways[1] for ways in whole)
    support = {0: "none supports", 1: "1 supports"}.get(holds, f"{holds} support")
    words = f"of {_alternatives(len(run))} we ran, {support} the claim"
    said.append(words + (f"; in {pointing}, the means point its way" if pointing > holds else ""))
    if absent := [r["words"] for r in readings if r["verdict"] == NOT_RUN]:
        said.append(f"not run: {', '.join(absent)}")
    return said, [
        ", ".join(filter(None, [f"{r['words']}: {r['verdict']}", _points(r, way)])) for r in run
    ]


def _alternatives(count: int) -> str:
    return "1 alternative reading" if count == 1 else f"{count} alternative readings"


def _ways(judged: dict[str, Any], way: str) -> str:
    """How many means over seeds agree with the paper, or with a claim of ours."""
    ways = judged["ways"]
    return f"{ways[0]} of {ways[1]} means agree with the {way}" if ways and ways[1] > 1 else ""


def _points(reading: dict[str, Any], way: str) -> str:
    effect, low, high = (reading[key] for key in ("effect", "low", "high"))
    count = reading["left_out"]
    left_out = f", {count} comparison{'' if count == 1 else 's'} not run" if count else ""
    if (ways := _ways(reading, way)) or effect is None or low is None or high is None:
        return ways + left_out
    return f"{effect:.3g} ({low:.3g} to {high:.3g})" + left_out
