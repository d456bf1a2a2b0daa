"""Open claims: what they lack, and the chance that an hour decides them."""

import json
from pathlib import Path

import pytest

from pfedrl.analysis import open as opened
from pfedrl.analysis.open import ABSENT, LEARNER, OTHERWISE, SEEDS, lines, open_claims
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT, tiny_project


def test_every_committed_claim_without_a_verdict_is_listed():
    found = open_claims(Project.here(ROOT))
    judged = [json.loads(p.read_text()) for p in (ROOT / "paper_figures").glob("*/claims.json")]
    open_badges = {"open", "points for", "points against", "not run"}
    assert len(found) == sum(r["badge"] in open_badges for page in judged for r in page["claims"])
    assert [one.chance for one in found] == sorted((one.chance for one in found), reverse=True)
    assert len(list(lines(found, 300, every=True))) > len(found)


def result(name: str, won: int, lost: int, **given) -> dict:
    comparisons = [{"label": "a minus b", "won": won, "lost": lost}]
    return {"id": name, "ours": False, "badge": "open", "seeds": won + lost, "asks": "most seeds",
            "experiments": ["figure2"], "control": "", "notes": [], "comparisons": comparisons,
            } | given  # fmt: skip


def test_a_claim_lacks_seeds_or_a_learner_or_more_than_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(opened, "_hours_per_seed", lambda *place: 0.1)  # ten seeds in an hour
    place = tmp_path / "paper_figures" / "pfedrl_rep" / "claims.json"
    place.parent.mkdir(parents=True)
    results = [
        result("decided", 8, 0, badge="replicated"),
        result("near", 7, 0),
        result("nearer", 10, 1),
        result("even", 40, 40),
        result("poor", 7, 0, control="it does not beat the control"),
        result("absent", 0, 0, badge="not run"),
    ]
    place.write_text(json.dumps({"claims": results}))
    found = {one.id: one for one in open_claims(tiny_project(tmp_path))}
    assert {name: one.lacks for name, one in found.items()} == {
        "near": SEEDS, "nearer": SEEDS, "even": OTHERWISE, "poor": LEARNER, "absent": ABSENT,
    }  # fmt: skip
    assert all(one.more == 10 for one in found.values())
    assert 0.5 < found["near"].chance < 1
    assert found["even"].chance < 0.01


def test_without_verdicts_there_is_nothing_to_list(tmp_path: Path):
    with pytest.raises(PfedrlError, match="no verdicts yet"):
        open_claims(tiny_project(tmp_path))
