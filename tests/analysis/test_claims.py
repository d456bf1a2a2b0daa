import subprocess
import sys

from pfedrl.analysis.claims import evaluate


def test_every_kind_of_claim_gets_the_verdict_its_numbers_were_made_for(project, made, tmp_path):
    output = tmp_path / "claims.json"
    results = evaluate(project, "qavg", "laptop", made, output)
    found = {result["kind"]: result["verdict"] for result in results}
    assert found == {
        "monotone": "reproduced",
        "greater": "contradicted",
        "equivalent": "reproduced",
        "interior_best": "contradicted",
        "agrees": "contradicted",
        "holds": "contradicted",
        "exists": "reproduced",
    }


def test_judging_claims_needs_no_plotting_library():
    code = "import sys, pfedrl.analysis.claims; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
