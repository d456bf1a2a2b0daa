"""The demo runs for real, with fewer seeds, and every run of it is one of the record's."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.tiny import ROOT


def test_every_run_of_the_demo_has_the_same_bits_as_the_record(tmp_path: Path):
    for name in ("envs", "Snakefile"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "workflow", tmp_path / "workflow")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "published").symlink_to(ROOT / "results" / "published")
    scale = tmp_path / "workflow" / "scales" / "demo.yaml"
    scale.write_text(scale.read_text().replace("400", "8"))
    done = subprocess.run(
        [sys.executable, "-m", "pfedrl", "demo"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "same bits in all 52 runs" in done.stdout
    made = tmp_path / "results" / "demo" / "paper_figures" / "qavg"
    assert (made / "table1.md").exists() and (made / "cartpoles.png").exists()
    assert not (tmp_path / "paper_figures").exists()
    assert max(map(len, done.stdout.split("Saved")[0].splitlines())) <= 80
