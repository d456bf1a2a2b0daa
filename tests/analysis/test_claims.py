import subprocess
import sys

from pfedrl.analysis.claim_tests import near
from pfedrl.analysis.claims import evaluate
from pfedrl.analysis.summaries import read_summary
from pfedrl.settings.paper import Near


def test_every_kind_of_claim_gets_the_verdict_its_numbers_were_made_for(project, made, tmp_path):
    output = tmp_path / "claims.json"
    results = evaluate(project, "qavg", "laptop", made, output)
    found = {result["kind"]: result["verdict"] for result in results}
    assert found == {
        "monotone": "reproduced",
        "greater": "contradicted",
        "equivalent": "reproduced",
        "near": "reproduced",
        "interior_best": "contradicted",
        "agrees": "contradicted",
        "holds": "contradicted",
        "exists": "reproduced",
    }


def test_a_mean_clearly_outside_the_margin_of_a_number_contradicts_it(made):
    summary = read_summary(made, "qavg", "theory")
    for value, speaks_for, against in ((4.0, True, False), (5.0, False, True)):
        claim = Near(kind="near", experiment="theory", cell="theorem1", metric="margin",
                     value=value, margin=0.2)  # fmt: skip
        outcome = near(claim, summary)
        assert (outcome.p_for < 0.01, outcome.p_against < 0.01) == (speaks_for, against)


def test_judging_claims_needs_no_plotting_library():
    code = "import sys, pfedrl.analysis.claims; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
