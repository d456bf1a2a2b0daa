"""Verdicts: every claim of a paper against what was run."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from pfedrl.analysis import claim_tests, theory
from pfedrl.analysis.cuts import cuts
from pfedrl.analysis.labels import cell_name
from pfedrl.analysis.outcomes import NOT_RUN, Outcome
from pfedrl.analysis.output import write_json
from pfedrl.analysis.printed import compare, printed_least
from pfedrl.analysis.summaries import Summary, paths, read_summary
from pfedrl.analysis.verdict import (
    BADGES,
    FOR,
    OPEN,
    Verdict,
    decide,
    gates_of,
    under_readings,
    with_contained,
)
from pfedrl.pipeline.claim import Claim, PrintedLeast, Test
from pfedrl.pipeline.paper import Paper
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reading import Reading
from pfedrl.pipeline.served import absent

TESTS: dict[str, Any] = {
    "Pair": claim_tests.pair,
    "Trend": claim_tests.trend,
    "Equal": claim_tests.equal,
    "Unlike": claim_tests.equal,
    "Near": claim_tests.near,
    "Slope": claim_tests.slope,
    "Holds": theory.holds,
    "Exists": theory.exists,
}
Cut = Callable[[str, set[str]], list[str]]


@dataclass(frozen=True)
class Judge:
    """A paper and what was run of it, by whose measure its claims are judged."""

    paper: Paper
    summaries: Mapping[str, Summary]
    reasons: Mapping[str, str | None] = field(default_factory=dict)  # why there is no summary
    cut: Cut = lambda experiment, cells: []  # what was run less of than in the paper, in phrases

    def name(self, experiment: str, cell: str) -> str:
        """A cell as readers know it."""
        return cell_name(self.paper.experiments[experiment], self.summaries[experiment], cell)

    def less(self, tests: Sequence[Test]) -> str:
        """What the scale runs less of than the paper, for the cells that tests look at.

        Theory, which has no family, is computed on instances of ours: it has no budget.
        """
        found = [
            phrase
            for test in tests
            if (spec := self.paper.experiments.get(test.experiment)) and spec.family is not None
            for phrase in self.cut(test.experiment, test.names())
        ]
        return ", ".join(dict.fromkeys(found))

    def outcomes(self, claim: Claim, test: Test) -> list[Outcome]:
        """What a test found, where everything that it needs was run."""
        if isinstance(test, PrintedLeast):
            options = self.paper.artifacts[test.artifact].options
            return [printed_least(test, options[test.option])]
        summary = self.summaries.get(test.experiment)
        if summary is None:
            reason = self.reasons.get(test.experiment) or "no results at this scale"
            return [Outcome(f"{test.experiment}: {reason}", 0, status=NOT_RUN)]
        asked = claim_tests.Question(self.name, claim.average, claim.range)
        found = TESTS[type(test).__name__](test, summary, asked)
        return [theory.within_premises(one, test, summary) for one in found]

    def judge(self, claim: Claim, read: list[Test] | None = None) -> "Judged":
        """The verdict on a claim, or on its tests as a reading has them; without containment."""
        tests = claim.tests if read is None else read
        by_test = [self.outcomes(claim, test) for test in tests]
        gates = gates_of(claim, self.summaries, tests, self.name)
        outcomes = [one for found in by_test for one in found]
        each = [gate for gate, found in zip(gates, by_test, strict=True) for _ in found]
        less = "" if all(o.status == NOT_RUN for o in outcomes) else self.less(tests)
        return Judged(decide(claim, outcomes, each, less), outcomes, less)

    def later(self, claim: Claim) -> "Judge":
        """The same with only the seeds that came after a claim's test was written."""
        kept = {name: summary.since(claim.since) for name, summary in self.summaries.items()}
        return replace(self, summaries={name: one for name, one in kept.items() if one is not None})

    def is_post_hoc(self, claim: Claim, verdict: Verdict) -> bool:
        """Whether a decided verdict needs seeds that were seen before its test was written."""
        if not claim.since or not verdict.way:
            return False
        return self.later(claim).judge(claim).verdict.way != verdict.way

    def readings(self, claim: Claim, main: "Judged") -> list[dict[str, Any]]:
        """The verdict under each declared reading of what the paper leaves open.

        A reading's experiment may have fewer variants; comparisons with the others are left out.
        """
        found = []
        for reading in self.paper.readings:
            if not any(_matters(reading, test) for test in claim.tests):
                continue
            tests = [reading.of(test) for test in claim.tests]
            ran = [test for test in tests if self._ran(test)]
            verdict, outcomes, fair = Verdict(NOT_RUN, 1.0, 1.0), [], False
            if ran:
                floor = {"floor": reading.floor(claim.floor)}
                read = self.judge(claim.model_copy(update=floor), ran)
                verdict, outcomes = read.verdict, read.outcomes
                fair = read.less in ("", main.less)
            left_out = len(tests) - len(ran)
            if left_out and verdict.badge in FOR:
                verdict = replace(verdict, badge=OPEN)  # some of what must hold was not looked at
            found.append({
                "id": reading.id, "words": reading.words, "left_out": left_out,
                "badge": verdict.badge, "verdict": verdict, "fair": fair,
                "comparisons": _comparisons(outcomes, plotted=False)[:1],
                "budget": read.less if ran else "",
            })  # fmt: skip
        return found

    def _ran(self, test: Test) -> bool:
        """Whether the experiment of a reading has all that is compared."""
        summary = self.summaries.get(test.experiment)
        if summary is None:
            return False
        return test.names() <= {*summary.statistics["cell"], *summary.statistics["variant"]}


@dataclass(frozen=True)
class Judged:
    """A verdict with what it rests on."""

    verdict: Verdict
    outcomes: list[Outcome]
    less: str


def _matters(reading: Reading, test: Test) -> bool:
    """Whether a test looks at anything that a reading changes."""
    if reading.runs(test.experiment) == test.experiment:
        return reading.of(test) != test
    if not any(asked.metric.startswith(reading.changes) for asked in test.asks()):
        return False
    named = product(test.names(), reading.changed)
    return any(f"{cell}_".startswith(f"{name}_") for cell, name in named)


def evaluate(
    project: Project,
    paper_name: str,
    scale_name: str,
    summaries_dir: Path,
    output_path: Path,
    made_from: str = "",
) -> list[dict[str, Any]]:
    """Judge a paper's claims at a scale, write them with the printed numbers, and return them.

    summaries_dir holds a folder for each paper: results/{scale}/summaries.
    """
    paper, scale = project.paper(paper_name), project.scale(scale_name)
    summaries = {
        name: read_summary(summaries_dir, paper_name, name)
        for name in paper.experiments
        if project.budget(scale, paper_name, name) is not None  # no summary left over from before
        and all(path.exists() for path in paths(summaries_dir, paper_name, name))
    }
    reasons = {
        name: absent(project, paper_name, name, scale_name)
        for name in paper.experiments
        if name not in summaries
    }
    judge = Judge(
        paper, summaries, reasons, lambda e, of: cuts(project, paper_name, e, scale_name, of)
    )
    results = judge_all(judge)
    if not scale.verdicts:
        results = [_silenced(result, scale_name) for result in results]
    counts = {ours: Counter(r["badge"] for r in results if r["ours"] == ours) for ours in (0, 1)}
    write_json(
        output_path,
        {
            "made_from": made_from,
            "paper": paper_name,
            "title": paper.title,
            "scale": scale_name,
            "counts": {badge: counts[False][badge] for badge in BADGES},
            "ours": {badge: counts[True][badge] for badge in BADGES},
            "claims": results,
            "printed": {
                name: [asdict(compare(p, own)) for p in rows]
                for name, artifact in paper.artifacts.items()
                if (rows := [p for p in artifact.printed if p.experiment in summaries])
                and (own := {e: summaries[e] for e in artifact.experiments if e in summaries})
            },
        },
    )
    return results


def judge_all(judge: Judge) -> list[dict[str, Any]]:
    """Every claim of the paper: as it is read here, under other readings, and by containment."""
    found, readings = {}, {}
    for claim in judge.paper.claims:
        one = judge.judge(claim)
        readings[claim.id] = judge.readings(claim, one)
        verdict = replace(one.verdict, post_hoc=judge.is_post_hoc(claim, one.verdict))
        others = [(reading["verdict"], reading["fair"]) for reading in readings[claim.id]]
        found[claim.id] = replace(one, verdict=under_readings(verdict, others))
    verdicts = with_contained({i: one.verdict for i, one in found.items()}, judge.paper.claims)
    return [
        _result(claim, replace(found[claim.id], verdict=verdicts[claim.id]), readings[claim.id])
        for claim in judge.paper.claims
    ]


def _result(claim: Claim, judged: Judged, readings: list[dict[str, Any]]) -> dict[str, Any]:
    verdict, outcomes = judged.verdict, judged.outcomes
    examples = [o.counterexample for o in outcomes if o.counterexample is not None]
    return {
        "id": claim.id,
        "words": claim.words,
        "where": claim.where,
        "ours": claim.ours,
        "experiments": list(dict.fromkeys(t.experiment for t in claim.tests if t.experiment)),
        "badge": verdict.badge,
        "asks": "average" if claim.average else "most seeds",
        "e_for": verdict.e_for,
        "e_against": verdict.e_against,
        "exact": all(o.exact for o in outcomes),
        "control": verdict.control,
        "post_hoc": verdict.post_hoc,
        "seeds": min(o.seeds for o in outcomes),
        "budget": judged.less,
        "comparisons": _comparisons(outcomes),
        "notes": [*verdict.notes, *([claim.note] if claim.note else [])],
        "readings": [
            {key: value for key, value in one.items() if key not in ("verdict", "fair")}
            for one in readings
        ],
        "counterexample": examples[0] if examples else None,
    }


def _comparisons(outcomes: Sequence[Outcome], plotted: bool = True) -> list[dict[str, Any]]:
    """What the comparisons found, the worst for the claim first; of that one also by seed."""
    kept = (
        "words", "label", "metric", "seeds", "e_for", "e_against", "other", "won", "lost", "tied",
        "effect", "low", "high", "claimed",
    )  # fmt: skip
    unique = {one.words: one for one in sorted(outcomes, key=lambda one: one.lean)}
    found = [{key: getattr(one, key) for key in kept} for one in unique.values()]
    if plotted:
        found[0]["differences"] = next(iter(unique.values())).differences
    return found


def _silenced(result: dict[str, Any], scale: str) -> dict[str, Any]:
    """A claim at a scale that only proves the wiring: it was computed, and says nothing."""
    kept = {"id", "words", "where", "ours", "experiments", "asks", "seeds"}
    silent = {key: value if key in kept else None for key, value in result.items()}
    silent |= {"comparisons": [], "readings": [], "exact": False, "post_hoc": False}
    silent |= {"budget": "", "control": ""}
    return silent | {"badge": NOT_RUN, "notes": [f"the {scale} scale gives no verdicts"]}
