"""The demo runs for real; every run of it is one of the record's, and the README shows it."""

import re
import subprocess
import sys
from pathlib import Path

from tests.tiny import ROOT, tiny_project

NUMBERS = re.compile(r"[\d.]+( +[\d.]+±[\d.]+)+|DQN\w* +[▁-█]+ .+")  # rows of a table, and curves


def test_the_demo_has_the_same_bits_as_the_record_and_the_numbers_of_the_readme(tmp_path: Path):
    tiny_project(tmp_path, published=True)
    (tmp_path / "Snakefile").symlink_to(ROOT / "Snakefile")
    done = subprocess.run(
        [sys.executable, "-m", "pfedrl", "demo"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "same bits in all 52 runs" in done.stdout
    made = tmp_path / "results" / "demo" / "paper_figures" / "qavg"
    assert (made / "table1.md").exists() and (made / "cartpoles.png").exists()
    assert not (tmp_path / "paper_figures").exists()
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert max(map(len, done.stdout.split("Saved")[0].splitlines())) <= 80

    (shown,) = re.findall(
        r"<!-- demo -->\n```\n(.+?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    numbers = [line.strip() for line in shown.splitlines() if NUMBERS.fullmatch(line.strip())]
    assert len(numbers) == 5, "three rows of the table and two curves"
    assert [line for line in numbers if line not in lines] == []
