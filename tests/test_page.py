"""The committed page is what the committed runs give, and says so of itself."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pfedrl.pipeline.project import Project
from tests.processes import call
from tests.tiny import ROOT

RECORD = ("--config", "scale=record")
# a table, a figure, a comparison, and the verdicts of a paper: each within seconds
DRAWN = ("pfedrl_rep/tabular_control", "fedkl/artefact", "fedkl/comparison_driving", "fedkl/claims")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a checkout has: the committed runs and page, and nothing that Snakemake remembers."""
    (tmp_path / "results").mkdir()
    for name in ("pfedrl", "snakemake_logger_plugin_pfedrl", "envs", "profiles"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "results" / "published").symlink_to(ROOT / "results" / "published")
    for name in ("workflow", "paper_figures"):
        shutil.copytree(ROOT / name, tmp_path / name, copy_function=shutil.copy)
    for name in ("Snakefile", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def snakemake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": str(folder)}
    command = ("snakemake", "--cores", "2", *arguments)
    return call(*command, folder=folder, variables=variables, together=True)


def content(path: Path) -> str:
    """But for what a file was made from, which has the code in it."""
    text = path.read_text()
    if path.suffix != ".json":
        return text
    return json.dumps({**json.loads(text), "made_from": ""}, sort_keys=True)


def test_what_is_drawn_and_judged_again_is_what_is_committed(clone: Path):
    targets = [f"paper_figures/{name}.json" for name in DRAWN]
    done = snakemake(clone, *targets, *RECORD, "--forcerun", *targets)
    assert done.returncode == 0, done.stdout
    for target in targets:
        assert (clone / target).stat().st_mtime > (clone / "Snakefile").stat().st_mtime, "drawn"
        for suffix in (".csv", ".md", ".json"):
            ours, theirs = ((root / target).with_suffix(suffix) for root in (clone, ROOT))
            assert ours.exists() == theirs.exists()
            if ours.exists():
                assert content(ours) == content(theirs), f"{target}: run `make figures`"


def test_a_clone_has_nothing_to_do(clone: Path):
    done = snakemake(clone, "--dry-run", *RECORD)
    assert done.returncode == 0, done.stdout
    stale = "code or settings changed since the page was made: run `make figures` and commit it"
    assert "Nothing to be done" in done.stdout, f"{stale}\n{done.stdout}"


def test_every_claim_is_judged_and_has_an_anchor_on_its_page():
    for paper, page in Project.here(ROOT).papers.items():
        folder = ROOT / "paper_figures" / paper
        judged = json.loads((folder / "claims.json").read_text())
        assert [claim["id"] for claim in judged["claims"]] == [claim.id for claim in page.claims]
        text = (folder / "index.html").read_text()
        for claim in page.claims:
            assert text.count(f'id="claim-{claim.id}"') == 1, claim.id


def test_the_badges_of_the_readme_are_those_of_the_verdicts():
    lines = block("badges").splitlines()[2:]
    shown = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in lines}
    for paper, page in Project.here(ROOT).papers.items():
        judged = json.loads((ROOT / "paper_figures" / paper / "claims.json").read_text())
        counts = [int(cell) if cell.strip() else 0 for cell in shown[page.short]]
        assert counts == list(judged["counts"].values())


def test_the_findings_of_the_readme_are_on_the_page_and_their_words_hold():
    page = (ROOT / "paper_figures" / "README.md").read_text()
    assert not re.findall(r"is omitted. Reason: it states[^<]*", page)
    lines = block("findings").splitlines()
    assert len(lines) >= 5
    for line in lines:
        title = re.match(r"- (\*\*.+?\*\*)", line)
        assert title is not None and title[1] in page


def block(name: str) -> str:
    readme = (ROOT / "README.md").read_text()
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", readme, re.DOTALL)
    assert found is not None
    return found[1].strip()
