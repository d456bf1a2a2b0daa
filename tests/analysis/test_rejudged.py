"""The ledger of before beside the verdicts of now: nothing is left out, and nothing is typed in."""

import json
import subprocess

import pytest
import yaml

from pfedrl.analysis.rejudged import (
    REASONS,
    Before,
    OldLedger,
    _reasons,
    read_old,
    rejudge,
    write_rejudged,
)
from pfedrl.analysis.verdicts import AT_TOP, NOT_ABOVE_CONTROL, ONE_SEED
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import FOLDER
from tests.tiny import ROOT

CLAIMS = ROOT / FOLDER / "claims"


@pytest.fixture(scope="module")
def project() -> Project:
    return Project.here(ROOT)


@pytest.fixture(scope="module")
def old(project: Project) -> OldLedger:
    found = read_old(project)
    assert found is not None
    return found


def shown(commit: str, path: str) -> str:
    command = ["git", "show", f"{commit}:{path}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        pytest.skip("the old commit is not in this clone")
    return found.stdout


def test_every_claim_of_the_old_ledger_is_there_as_it_stood(old: OldLedger):
    page = shown(old.commit, "paper_figures/README.md")
    for paper, claims in old.papers.items():
        written = yaml.safe_load(shown(old.commit, f"workflow/papers/{paper}.yaml"))["claims"]
        assert [claim.id for claim in claims] == [claim["id"] for claim in written]
    claims = [claim for of in old.papers.values() for claim in of]
    rows = [f"{c.verdict} | {c.words} ({c.where}) | {c.evidence} |" for c in claims]
    judged = [line[4:] for line in page.splitlines() if line[:3] in ("| ✓", "| ✗", "| ?")]
    assert sorted(rows) == sorted(line.replace(r"\|", "|") for line in judged)


def test_every_claim_named_exists_and_its_verdict_is_the_published_one(
    project: Project, old: OldLedger
):
    rows = rejudge(project, old, CLAIMS)
    assert len(rows) == sum(map(len, old.papers.values()))
    judged = {
        f"{path.stem}/{claim['id']}": claim["verdict"]
        for path in CLAIMS.glob("*.json")
        for claim in json.loads(path.read_text())["claims"]
    }
    for row in rows:
        assert row.reasons and set(row.reasons) <= set(REASONS)
        assert row.verdict == (judged.get(row.now, "not run") if row.now else "dropped")
        assert bool(row.now) != bool(row.before.dropped)


def test_a_claim_that_does_not_exist_is_an_error(project: Project, old: OldLedger):
    claim = old.papers["qavg"][0].model_copy(update={"now": "heterogeneity_random_mdp"})
    wrong = old.model_copy(update={"papers": {"qavg": [claim]}})
    with pytest.raises(PfedrlError, match="Did you mean 'qavg/heterogeneity_random_mdps'"):
        rejudge(project, wrong, CLAIMS)


def test_the_committed_table_is_what_the_committed_verdicts_give(project: Project, tmp_path):
    write_rejudged(project, CLAIMS, tmp_path)
    for name in ("rejudged.csv", "rejudged.md"):
        committed = ROOT / "paper_figures" / "evidence" / name
        assert (tmp_path / name).read_text() == committed.read_text(), "pfedrl rejudged"


@pytest.mark.parametrize(
    "expected, verdict, seeds, notes",
    [
        ("few seeds", "undecided", 10, []),
        ("one seed", "undecided", 20, [f"reproduced, {ONE_SEED}"]),
        ("control", "undecided", 20, [f"a {NOT_ABOVE_CONTROL} b (return)"]),
        ("control", "undecided", 20, [f"{AT_TOP} b"]),
        ("stricter", "undecided", 20, ["about 40 similar seeds would decide this"]),
        ("leans", "leans against", 20, ["reduced budget: 20 of 200 rounds"]),
        ("premises", "outside its assumptions", 64, []),
        ("not run", "not run", 0, []),
        ("seeds", "reproduced", 40, []),
        ("evidence", "contradicted", 20, []),
    ],
)
def test_the_first_reason_is_computed(expected, verdict, seeds, notes):
    claim = Before(
        id="a", words="w", where="h", verdict="reproduced", evidence="1, 20 paired seeds"
    )
    result = {"verdict": verdict, "seeds": seeds, "notes": notes}
    assert _reasons(claim, result, merged=False)[0] == expected


def test_another_test_comes_before_its_strictness_and_after_what_is_enough():
    claim = Before(id="a", words="", where="", verdict="reproduced", evidence="", test="otherwise")
    result = {"verdict": "undecided", "seeds": 40, "notes": []}
    assert _reasons(claim, result, merged=True) == ["test", "stricter", "merged"]
    assert _reasons(claim, result | {"seeds": 5}, merged=True) == ["few seeds", "test", "merged"]


def test_the_number_of_seeds_is_read_from_the_old_evidence():
    def seeds(evidence: str) -> int:
        return Before(id="a", words="", where="", verdict="reproduced", evidence=evidence).seeds

    assert seeds("a minus b = 1 (95% CI 0 to 2), 4,000 paired seeds") == 4000
    assert seeds("fails on 527 of 1,000 instances (52.7%)") == 1000
    assert seeds("30 of 30 printed numbers lie within 3 combined standard errors") == 0
