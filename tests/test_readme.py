"""What the README shows and links to is what is here."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_calibration_table_is_the_one_that_calibration_wrote():
    table = (ROOT / "paper_figures/fedkl/calibration.md").read_text().strip()
    assert len(table.splitlines()) == 9
    assert table in README


def test_it_says_where_logs_are_and_how_a_deleted_run_is_made_again():
    rules = "\n".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    logs = re.findall(r'log:\n\s+f?"(\S+)"', rules)
    shared = "results/logs/data/"  # of no scale
    places = ("results/{scale}/logs/", "results/{SCALE}/logs/", shared)
    assert len(logs) > 5 and all(log.startswith(places) for log in logs)
    assert "What a job says is in `results/<scale>/logs/`" in README
    assert "A run that was deleted is not missed" in README and "snakemake --force " in README


def test_every_link_leads_to_a_file():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert targets
    assert not missing
