"""Open claims: their number, the seeds they need, and the price of those seeds."""

import json
from pathlib import Path

import pytest

from pfedrl.analysis import open as opened
from pfedrl.analysis.open import ABSENT, BUDGET, OTHERWISE, SEEDS, lines, open_claims
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.costs import duration
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT, tiny_project

HOUR = 1.0  # of a seed of an experiment


@pytest.fixture(scope="module")
def project() -> Project:
    return Project.here(ROOT)


def test_the_committed_verdicts_have_priced_open_claims(project: Project):
    found = open_claims(project)
    judged = [json.loads(p.read_text()) for p in (ROOT / "paper_figures").glob("*/claims.json")]
    results = [result for page in judged for result in page["claims"]]
    assert len(found) == sum(r["verdict"] in opened.OPEN for r in results)
    for claim in found:
        assert (claim.core_hours is not None) == (claim.needed is not None), claim
        assert claim.needed is None or claim.needed > claim.seeds


def judge(folder: Path, *results: dict) -> Project:
    """The project in a folder of its own, with other verdicts."""
    place = folder / "paper_figures" / "pfedrl_rep" / "claims.json"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({"claims": results}))
    return tiny_project(folder)


def result(name: str, **given) -> dict:
    plain = {"id": name, "verdict": "undecided", "seeds": 10, "needed": None, "notes": []}
    return plain | given


def test_a_claim_lacks_seeds_or_budget_or_something_else(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(opened, "_hours_per_seed", lambda *place: HOUR)
    reduced = "reduced budget: 80 of 500 episodes"
    ids = [claim.id for claim in project.paper("pfedrl_rep").claims if not claim.budget_free]
    decided, few, shorter, close, absent = ids[:5]
    found = open_claims(judge(
        tmp_path,
        result(decided, verdict="reproduced"),
        result(few, needed=40),
        result(shorter, needed=20, notes=["about 20", reduced]),
        result(close, notes=["no feasible number"]),
        result(absent, verdict="not run", evidence=["its data are missing"]),
    ))  # fmt: skip
    ours = {claim.id: claim for claim in found if claim.paper == "pfedrl_rep"}
    assert decided not in ours
    assert [ours[name].lacks for name in ids[1:5]] == [SEEDS, BUDGET, OTHERWISE, ABSENT]
    assert ours[few].core_hours == 30 * HOUR * len(ours[few].experiments)
    assert ours[absent].notes == ("its data are missing",)
    assert all(claim.lacks == ABSENT for claim in found if claim.paper != "pfedrl_rep")
    assert [claim.id for claim in found[:2]] == [shorter, few], "the cheapest first"
    short, whole = ("\n".join(lines(found, 268, every)) for every in (False, True))
    assert few in short and shorter not in short and "pfedrl open --all" in short
    assert shorter in whole and reduced in whole and "its data are missing" in whole


def test_before_there_are_verdicts_it_says_how_to_make_them(tmp_path: Path):
    with pytest.raises(PfedrlError, match="no verdicts yet"):
        open_claims(tiny_project(tmp_path))


@pytest.mark.parametrize(
    ("hours", "said"),
    [(None, "unknown"), (0.003, "11 s"), (0.5, "30.0 min"), (1500.0, "1,500.0 h")],
)
def test_durations_read_well(hours, said):
    assert duration(hours) == said
