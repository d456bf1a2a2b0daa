"""The ledger: each sentence of a paper with its badge and the evidence, for pages and console."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pfedrl.analysis.outcomes import NOT_RUN
from pfedrl.analysis.pages.names import Names
from pfedrl.analysis.verdict import BADGES, DECIDED, FOR, POINTS_FOR
from pfedrl.pipeline.paper import Paper

Judged = Mapping[str, dict[str, Any] | None]  # the verdicts of each paper, where there are any


class Counts(NamedTuple):
    """How many of a paper's own sentences have each badge."""

    by_badge: dict[str, int]
    total: int
    decided: int
    points: int
    post_hoc: int
    ours: int  # questions of our own, counted apart

    @classmethod
    def of(cls, judged: dict[str, Any]) -> "Counts":
        counts = judged["counts"]
        later = [c for c in judged["claims"] if not c["ours"] and c["badge"] in DECIDED]
        return cls(
            counts, sum(counts.values()), sum(counts[badge] for badge in DECIDED),
            counts[POINTS_FOR], sum(c["post_hoc"] for c in later), sum(judged["ours"].values()),
        )  # fmt: skip

    @property
    def headline(self) -> str:
        """How many sentences are decided, and where the rest point."""
        said = f"{self.decided} of {self.total} sentences decided"
        return f"{said}, {self.points} of the rest point{'s' * (self.points == 1)} the paper's way"


def by_decided(judged: Judged) -> list[str]:
    """The papers that have verdicts, the most decided first."""
    counts = {paper: Counts.of(found) for paper, found in judged.items() if found}
    return sorted(counts, key=lambda paper: -counts[paper].decided)


def strength(result: dict[str, Any]) -> str:
    """The e-value of the side that is ahead, in words."""
    if result["exact"]:
        return "counted or computed, so no test is needed"
    if result["badge"] == NOT_RUN or result["e_for"] is None:
        return ""
    side = "for" if result["e_for"] >= result["e_against"] else "against"
    value = result[f"e_{side}"]
    shown = "over a million" if value > 1e6 else f"{value:,.3g}"
    asks = "the average over seeds" if result["asks"] == "average" else "most seeds"
    return f"evidence {side} it, asking about {asks}: {shown} (100 decides, 10 points)"


def found(one: dict[str, Any]) -> str:
    """A comparison with its effect and interval in the metric's unit, and its seeds."""
    if any(not isinstance(one[key], int | float) for key in ("effect", "low", "high")):
        return one["words"]
    size, low, high = (short(one[key]) for key in ("effect", "low", "high"))
    size = f"{size} (95% interval {low} to {high})"
    return f"{one['label']}: {size}; {one['metric']}. {score(one)}."


def short(value: float) -> str:
    """A number for a sentence."""
    return f"{value:,.4g}".replace("-", "−")


def score(one: dict[str, Any]) -> str:
    """Seeds won, lost and tied."""
    tied = f", {one['tied']:,} tied" if one["tied"] else ""
    return f"{one['won']:,} seed{'s' * (one['won'] != 1)} for, {one['lost']:,} against{tied}"


def readings(result: dict[str, Any]) -> Iterator[str]:
    """The badge under each other reading of what the paper leaves open."""
    for one in result["readings"]:
        words = f"{one['words']}: {one['badge']}"
        if one["comparisons"]:
            words += f" ({score(one['comparisons'][0])})"
        left = one["left_out"]
        yield words + (f", {left} comparison{'s' * (left != 1)} not run" if left else "")


def supported(result: dict[str, Any]) -> str:
    """Under how many of the readings that were run the sentence holds."""
    run = [one for one in result["readings"] if one["badge"] != NOT_RUN]
    if not run or result["badge"] == NOT_RUN:
        return ""
    holds = sum(one["badge"] in FOR for one in run)
    return f"It holds under {holds} of {len(run)} other reading{'s' * (len(run) != 1)} that we ran."


def rows(paper: Paper, judged: dict[str, Any], names: Names) -> Iterator[dict[str, Any]]:
    """Each claim with what a page filters, sorts and links by."""
    order = list(BADGES)
    titles = {name: spec.title for name, spec in paper.experiments.items()}
    known = {claim["id"]: claim["words"] for claim in judged["claims"]}
    declared = {claim.id: claim for claim in paper.claims}
    for result in judged["claims"]:
        named = names.variants(paper.paper, result["experiments"])
        tests = declared[result["id"]].tests if result["id"] in declared else []
        asked = [name for test in tests for name in getattr(test, "names", set)()]
        algorithms = {named[name].split(",")[0] for name in asked if name in named}
        families = (names.family(paper.paper, name) for name in result["experiments"])
        compared = [in_words(one["words"], titles, known) for one in result["comparisons"][1:]]
        first = result["comparisons"][0] if result["comparisons"] else None
        yield result | {
            "order": order.index(result["badge"]),
            "families": sorted({*filter(None, families)}),
            "algorithms": sorted(algorithms),
            "first": first,
            "found": in_words(found(first), titles, known) if first else "",
            "others": compared,
            "strength": strength(result),
            "notes": [in_words(note, titles, known) for note in result["notes"]],
            "supported": supported(result),
            "under": list(readings(result)),
            "strongest": max(result["e_for"] or 0, result["e_against"] or 0),
            "artifacts": [
                name
                for name, artifact in paper.artifacts.items()
                if set(artifact.experiments) & set(result["experiments"])
            ],
        }


def in_words(text: str, titles: Mapping[str, str], claims: Mapping[str, str]) -> str:
    """A text of the verdicts without the names of experiments and claims."""
    begins, colon, rest = text.partition(": ")
    if colon and begins in titles:
        text = f"{titles[begins]}: {rest}"
    for name, words in claims.items():
        text = text.replace(f"({name})", f"(“{words}”)")
    return text
