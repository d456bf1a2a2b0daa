"""What the README shows and links to is what is here."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_calibration_table_is_the_one_that_calibration_wrote():
    table = (ROOT / "paper_figures/fedkl/calibration.md").read_text().strip()
    assert len(table.splitlines()) == 9
    assert table in README


def test_every_link_leads_to_a_file():
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert targets
    assert not missing
