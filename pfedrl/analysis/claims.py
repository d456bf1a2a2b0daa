"""Verdicts: every claim of a paper against what was run."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pfedrl.analysis import claim_tests, theory
from pfedrl.analysis.check import named_cells
from pfedrl.analysis.cuts import cuts
from pfedrl.analysis.outcomes import NOT_RUN, REPRODUCED, UNDECIDED, Outcome
from pfedrl.analysis.output import write_json
from pfedrl.analysis.printed import Comparison, agrees, compare, printed_least
from pfedrl.analysis.summaries import Summary, paths, read_summary
from pfedrl.analysis.verdicts import (
    LEANS_FOR,
    VERDICTS,
    at_budget,
    contradicting,
    decide,
    expected_wrong,
    gated,
    kinds,
    worth_seeds,
)
from pfedrl.pipeline.claim import Agrees, Claim, Greater, Near, PrintedLeast, Test
from pfedrl.pipeline.paper import Paper
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reading import Reading
from pfedrl.pipeline.scale import Scale
from pfedrl.pipeline.served import absent

KEPT_OF_READINGS = ("verdict", "effect", "low", "high", "ways", "seeds")
TESTS: dict[str, Any] = {
    "monotone": claim_tests.monotone,
    "greater": claim_tests.greater_cell,
    "equivalent": claim_tests.equivalent_cells,
    "near": claim_tests.near,
    "share": claim_tests.share,
    "slope": claim_tests.slope,
    "ordered": claim_tests.ordered,
    "best": claim_tests.best,
    "holds": theory.holds,
    "exists": theory.exists,
}


def evaluate(
    project: Project,
    paper_name: str,
    scale_name: str,
    summaries_dir: Path,
    output_path: Path,
    made_from: str = "",
) -> list[dict[str, Any]]:
    """Judge a paper's claims at a scale, write them with the printed numbers, and return them.

    summaries_dir holds a folder a paper: results/{scale}/summaries.
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
    less = partial(shortened, project, paper, scale)
    results = [
        judge(claim, paper, summaries, less(claim.tests), reasons)
        | {"readings": readings(claim, paper, summaries, less)}
        for claim in paper.claims
    ]
    if not scale.verdicts:
        results = [_silenced(result, scale_name) for result in results]
    counts = {ours: Counter(r["verdict"] for r in results if r["ours"] == ours) for ours in (0, 1)}
    tested, wrong = expected_wrong(results)
    comparisons = {name: _comparisons(paper, name, summaries) for name in paper.artifacts}
    write_json(
        output_path,
        {
            "made_from": made_from,
            "paper": paper_name,
            "title": paper.title,
            "scale": scale_name,
            "counts": {verdict: counts[False][verdict] for verdict in VERDICTS},
            "ours": {verdict: counts[True][verdict] for verdict in VERDICTS},
            "tested": tested,
            "expected_wrong": wrong,
            "claims": results,
            "printed": {
                name: [vars(row) for row in rows] for name, rows in comparisons.items() if rows
            },
        },
    )
    return results


def judge(
    claim: Claim,
    paper: Paper,
    summaries: dict[str, Summary],
    less: str = "",
    reasons: Mapping[str, str | None] = MappingProxyType({}),
) -> dict[str, Any]:
    """A claim's result: its verdict, with all that was found.

    `less` says what was shortened, `reasons` why experiments have no summary.
    """
    outcomes = [_outcome(test, paper, summaries, reasons) for test in claim.tests]
    verdict = decide(claim, outcomes)
    if verdict.verdict != NOT_RUN:
        verdict = worth_seeds(claim, verdict, outcomes, summaries)
        verdict = at_budget(claim, gated(claim, verdict, outcomes, summaries), less)
    main = max(outcomes, key=lambda o: -1.0 if o.p_for is None else o.p_for)
    smallest = [o.p_against for o in outcomes if o.p_against is not None]
    examples = [o.counterexample for o in outcomes if o.counterexample is not None]
    return {
        "id": claim.id,
        "words": claim.words,
        "where": claim.where,
        "ours": claim.ours,
        "kind": kinds(claim.tests),
        "verdict": verdict.verdict,
        "evidence": _evidence(claim.tests, outcomes),
        "notes": [*verdict.notes, *([claim.note] if claim.note else [])],
        "needed": verdict.needed,
        "p_value": main.p_for,
        "p_against": min(1.0, len(smallest) * min(smallest)) if smallest else None,
        "effect": main.effect,
        "low": main.low,
        "high": main.high,
        "ways": _ways(claim.tests, outcomes),
        "seeds": min(outcome.seeds for outcome in outcomes),
        "counterexample": examples[0] if examples else None,
    }


def _evidence(tests: Sequence[Test], outcomes: Sequence[Outcome]) -> list[str]:
    """What each comparison found, said with the experiment and metric where these differ.

    What contradicts a claim stands first.
    """
    differ = [
        key for key in ("experiment", "metric") if len({getattr(t, key, "") for t in tests}) > 1
    ]
    found = []
    for test, outcome in zip(tests, outcomes, strict=True):
        named = getattr(test, "greater_metric", None) or isinstance(test, Near)  # by their labels
        said = [key for key in differ if key == "experiment" or not named]
        place = ", ".join(filter(None, (getattr(test, key, "") for key in said)))
        if outcome.verdict == NOT_RUN:  # which names the experiment itself
            place = ""
        found.append(f"{place}: {outcome.evidence}" if place else outcome.evidence)
    turned = zip(contradicting(outcomes), found, strict=True)
    first = sorted(turned, key=lambda pair: not pair[0])  # the others stay in their order
    return list(dict.fromkeys(words for _, words in first))


def _ways(tests: Sequence[Test], outcomes: Sequence[Outcome]) -> list[int] | None:
    """Of how many orders the mean over seeds goes the paper's way, and how many orders there are.

    It says where things point while there are too few seeds for a verdict; None where a claim is
    about other things than which of two is larger.
    """
    known = []
    for test, outcome in zip(tests, outcomes, strict=True):
        if not isinstance(test, Greater):
            return None
        if outcome.effect is not None:
            known.append(outcome.effect > test.margin)
    return [sum(known), len(known)] if known else None


def readings(
    claim: Claim,
    paper: Paper,
    summaries: dict[str, Summary],
    less: Callable[[list[Test]], str],
) -> list[dict[str, Any]]:
    """The verdict under each declared reading of what the paper leaves open, where it matters.

    A reading's experiment may have fewer variants; comparisons with the others are left out. `less`
    says what was shortened of the experiments that tests look at.
    """
    found = []
    for reading in paper.readings:
        if not any(_matters(reading, test) for test in claim.tests):
            continue
        tests = [reading.of(test) for test in claim.tests]
        ran = [test for test in tests if _ran(test, summaries)]
        judged: dict[str, Any] = {"verdict": NOT_RUN}
        if ran:
            read = claim.model_copy(update={"test": ran, "floor": reading.floor(claim.floor)})
            judged = judge(read, paper, summaries, less(ran))
        left_out = len(tests) - len(ran)
        if left_out and judged["verdict"] in (REPRODUCED, LEANS_FOR):
            judged["verdict"] = UNDECIDED  # some of what must hold was not looked at
        kept = {key: judged.get(key) for key in KEPT_OF_READINGS}
        found.append({"id": reading.id, "words": reading.words, "left_out": left_out, **kept})
    return found


def _matters(reading: Reading, test: Test) -> bool:
    """Whether a comparison looks at anything that a reading changes."""
    read = reading.of(test)
    if getattr(read, "experiment", None) == getattr(test, "experiment", None):
        return read != test
    looked_at = (getattr(test, "metric", ""), getattr(test, "greater_metric", None) or "")
    if not any(metric.startswith(reading.changes) for metric in looked_at):
        return False
    cells = product(named_cells(test), reading.changed)
    return any(f"{cell}_".startswith(f"{name}_") for cell, name in cells)


def _ran(test: Test, summaries: dict[str, Summary]) -> bool:
    """Whether the experiment of a reading has all that is compared."""
    summary = summaries.get(getattr(test, "experiment", ""))
    if summary is None:
        return False
    return named_cells(test) <= {*summary.statistics["cell"], *summary.statistics["variant"]}


def _outcome(
    test: Test, paper: Paper, summaries: dict[str, Summary], reasons: Mapping[str, str | None]
) -> Outcome:
    """A comparison, where everything that it needs was run."""
    if isinstance(test, PrintedLeast):
        return printed_least(test, paper.artifacts[test.artifact].options[test.option])
    needed = experiments_of(paper, test)
    missing = sorted(name for name in needed if name not in summaries)
    if missing:
        said = (f"{name}: {reasons.get(name) or 'no results at this scale'}" for name in missing)
        return Outcome("; ".join(said), 0, NOT_RUN)
    if not needed:
        return Outcome("no printed numbers at this scale", 0, NOT_RUN)
    if isinstance(test, Agrees):
        return agrees(test, _comparisons(paper, test.artifact, summaries), summaries)
    return outcome_of(test, summaries[test.experiment])


def outcome_of(test: Test, summary: Summary) -> Outcome:
    """What a comparison in one experiment found."""
    return theory.within_premises(TESTS[test.kind](test, summary), test, summary)


def shortened(project: Project, paper: Paper, scale: Scale, tests: list[Test]) -> str:
    """What the scale runs less of than the paper, for the cells that tests look at.

    Theory, which has no family, is computed on instances of ours: it has no budget of the paper's.
    """
    found = [
        phrase
        for test in tests
        for name in experiments_of(paper, test)
        if paper.experiments[name].family is not None
        for phrase in cuts(project, paper.paper, name, scale.scale, named_cells(test) or None)
    ]
    return ", ".join(dict.fromkeys(found))


def experiments_of(paper: Paper, test: Test) -> list[str]:
    """The experiments that a comparison needs."""
    if isinstance(test, Agrees):
        printed = paper.artifacts[test.artifact].printed
        return list(dict.fromkeys(row.experiment for row in printed))
    if isinstance(test, PrintedLeast):
        return []
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
    kept = {"id", "words", "where", "ours", "kind", "seeds"}
    silent = {key: value if key in kept else None for key, value in result.items()}
    silent |= {"notes": [], "readings": []}
    return silent | {"verdict": NOT_RUN, "evidence": [f"the {scale} scale gives no verdicts"]}
