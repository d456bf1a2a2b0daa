"""Verdicts: every claim of a paper against what was run."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from pfedrl.analysis import claim_tests
from pfedrl.analysis.claim_tests import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_RUN,
    OUTSIDE,
    REPRODUCED,
    SIGNIFICANCE,
    Outcome,
)
from pfedrl.analysis.output import write_json
from pfedrl.analysis.printed import Comparison, compare
from pfedrl.analysis.statistics import holm
from pfedrl.analysis.summaries import Summary, paths, read_summary
from pfedrl.pipeline.cuts import cuts
from pfedrl.pipeline.measured import named_cells
from pfedrl.pipeline.paper import Agrees, Claim, Paper, Test
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import Scale

VERDICTS = (REPRODUCED, CONTRADICTED, INCONCLUSIVE, OUTSIDE, NOT_RUN)
TESTS: dict[str, Any] = {
    "monotone": claim_tests.monotone,
    "greater": claim_tests.greater_cell,
    "equivalent": claim_tests.equivalent_cells,
    "near": claim_tests.near,
    "slope": claim_tests.slope,
    "ordered": claim_tests.ordered,
    "interior_best": claim_tests.interior_best,
    "holds": claim_tests.holds,
    "exists": claim_tests.exists,
}


def evaluate(
    project: Project, paper_name: str, scale_name: str, summaries_dir: Path, output_path: Path
) -> list[dict[str, Any]]:
    """Judge a paper's claims at a scale, write them with the printed numbers, and return them.

    summaries_dir holds a folder a paper: results/{scale}/summaries.
    """
    paper, scale = project.paper(paper_name), project.scale(scale_name)
    summaries = {
        name: read_summary(summaries_dir, paper_name, name)
        for name in paper.experiments
        if all(path.exists() for path in paths(summaries_dir, paper_name, name))
    }
    comparisons = {name: _comparisons(paper, name, summaries) for name in paper.artifacts}
    outcomes = [
        at_budget(
            _outcome(claim, paper, summaries, comparisons), claim.test,
            shortened(project, paper, scale, claim.test),
        )
        for claim in paper.claims
    ]  # fmt: skip
    results = judge(paper.claims, outcomes)
    if not scale.verdicts:
        results = [_silenced(result, scale_name) for result in results]
    counts = Counter(result["verdict"] for result in results)
    write_json(
        output_path,
        {
            "paper": paper_name,
            "title": paper.title,
            "scale": scale_name,
            "counts": {verdict: counts[verdict] for verdict in VERDICTS},
            "claims": results,
            "printed": {
                name: [vars(row) for row in rows] for name, rows in comparisons.items() if rows
            },
        },
    )
    return results


def judge(claims: list[Claim], outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Outcomes as results. Holm's correction runs over all statistical claims of the paper,
    once for what speaks for them and once for what speaks against, so that the chance of any
    wrong 'reproduced', and likewise of any wrong 'contradicted', is at most one in twenty."""
    tested = [i for i, outcome in enumerate(outcomes) if outcome.p_for is not None]
    speaks_for = dict(zip(tested, holm([outcomes[i].p_for or 0.0 for i in tested]), strict=True))
    against = dict(zip(tested, holm([outcomes[i].p_against or 0.0 for i in tested]), strict=True))
    results = []
    for index, (claim, outcome) in enumerate(zip(claims, outcomes, strict=True)):
        verdict = outcome.verdict or INCONCLUSIVE
        if index in speaks_for:
            if speaks_for[index] < SIGNIFICANCE:
                verdict = REPRODUCED
            elif against[index] < SIGNIFICANCE:
                verdict = CONTRADICTED
        results.append({
            "id": claim.id,
            "words": claim.words,
            "where": claim.where,
            "kind": claim.test.kind,
            "verdict": verdict,
            "evidence": outcome.evidence,
            "p_value": outcome.p_for,
            "p_adjusted": speaks_for.get(index),
            "p_against": outcome.p_against,
            "p_against_adjusted": against.get(index),
            "effect": outcome.effect,
            "low": outcome.low,
            "high": outcome.high,
            "seeds": outcome.seeds,
            "counterexample": outcome.counterexample,
        })  # fmt: skip
    return results


def _outcome(
    claim: Claim,
    paper: Paper,
    summaries: dict[str, Summary],
    comparisons: dict[str, list[Comparison]],
) -> Outcome:
    """The test of a claim, where everything that it needs was run."""
    test = claim.test
    needed = _experiments(paper, test)
    missing = sorted(name for name in needed if name not in summaries)
    if missing or not needed:
        reason = f"no results of {', '.join(missing)}" if missing else "no printed numbers"
        return Outcome(f"{reason} at this scale", 0, NOT_RUN)
    if isinstance(test, Agrees):
        return claim_tests.agrees(test, comparisons[test.artifact])
    return outcome_of(test, summaries[test.experiment])


def outcome_of(test: Any, summary: Summary) -> Outcome:
    """What the test of one experiment found."""
    return claim_tests.within_premises(TESTS[test.kind](test, summary), test, summary)


def shortened(project: Project, paper: Paper, scale: Scale, test: Test) -> str:
    """What the scale runs less of than the paper, for the experiments that a test looks at."""
    only = named_cells(test) or None  # a control may have no budget
    found = [
        phrase
        for name in _experiments(paper, test)
        for phrase in cuts(project, paper.paper, name, scale.scale, only)
    ]
    return ", ".join(dict.fromkeys(found))


def at_budget(outcome: Outcome, test: Test, less: str) -> Outcome:
    """Evidence says where a budget was cut; printed numbers are of the whole budget only."""
    if not less or outcome.verdict == NOT_RUN:
        return outcome
    outcome = replace(outcome, evidence=f"{outcome.evidence} ({less})")
    return replace(outcome, verdict=INCONCLUSIVE) if isinstance(test, Agrees) else outcome


def _experiments(paper: Paper, test: Test) -> list[str]:
    """The experiments that a test needs."""
    if isinstance(test, Agrees):
        printed = paper.artifacts[test.artifact].printed
        return list(dict.fromkeys(row.experiment for row in printed))
    return [test.experiment]


def _comparisons(paper: Paper, artifact: str, summaries: dict[str, Summary]) -> list[Comparison]:
    """The printed numbers of an artifact beside ours, where those were run."""
    return [
        compare(printed, summaries[printed.experiment])
        for printed in paper.artifacts[artifact].printed
        if printed.experiment in summaries
    ]


def _silenced(result: dict[str, Any], scale: str) -> dict[str, Any]:
    """A claim at a scale that only proves the wiring: it was computed, and says nothing."""
    kept = {"id", "words", "where", "kind", "seeds"}
    silent = {key: value if key in kept else None for key, value in result.items()}
    return silent | {"verdict": NOT_RUN, "evidence": f"{scale} scale issues no verdicts"}
