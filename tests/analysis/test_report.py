import re
import shutil
from html.parser import HTMLParser

import pytest

from pfedrl.analysis.claims import evaluate
from pfedrl.analysis.drawing import draw
from pfedrl.analysis.output import read_result
from pfedrl.analysis.overview import overview
from pfedrl.analysis.report import readable, report
from pfedrl.core.errors import PfedrlError
from tests.analysis.conftest import stubbed

VOID = {"meta", "img", "br"}


class Balance(HTMLParser):
    """Fails where a tag is closed that was not the last to be opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


DRAWN = ("table1", "figure2", "generalisation", "theory", "comparison_table1_random_mdps")


@pytest.fixture(scope="module")
def drawn(made, tmp_path_factory):
    """The paper's artifacts and a comparison, drawn and judged."""
    folder = tmp_path_factory.mktemp("drawn")
    with pytest.MonkeyPatch.context() as patch:
        project = stubbed(patch, tmp_path_factory.mktemp("of"))
        for name in DRAWN:
            draw(project, "qavg", name, "laptop", made, folder / "figures" / "qavg")
        evaluate(project, "qavg", "laptop", made, folder / "figures" / "qavg" / "claims.json")
    return folder


@pytest.fixture
def page(project, drawn, tmp_path):
    """The page's path, of what was drawn."""
    shutil.copytree(drawn, tmp_path, dirs_exist_ok=True)
    return write(project, tmp_path / "figures")


def write(project, figures, **more):
    judged = {"qavg": read_result(figures / "qavg" / "claims.json")}
    report(project, figures, judged, figures / "index.html", **more)
    return figures / "index.html"


def test_page_shows_every_artifact_claim_counterexample_note_and_command(page, project):
    text = page.read_text()
    paper = project.paper("qavg")
    for artifact in paper.artifacts.values():
        assert artifact.title in text
    for name in DRAWN:
        assert f"snakemake --cores all qavg_{name}<" in text
    for claim in paper.claims:
        assert f"{claim.where} · {claim.id}" in text
    for word in ("The counterexample", "family.centre_included"):
        assert word in text
    assert text.count("Scale laptop, 200 seeds.") >= len(DRAWN)
    assert "theory: seeds 0 to 199, 2 cells, commit 0123456789ab, AMD EPYC" in text


def test_page_begins_with_the_counts_and_shows_the_decided_first(page, project):
    text = page.read_text()
    assert text.index('class="numbers glance"') < text.index("<section")
    shown = re.findall(
        r'<details class="group"( open)?><summary><span class="verdict (\S+)">', text
    )
    assert shown[:2] == [(" open", "reproduced"), (" open", "contradicted")]
    assert len(shown) == len({kind for _, kind in shown})
    for name in project.paper("qavg").artifacts:
        assert text.count(f'"#qavg-{name}"') == text.count(f'id="qavg-{name}"') == 1


def test_page_is_balanced_and_shows_only_the_pictures_beside_it(page):
    text = page.read_text()
    balance = Balance()
    balance.feed(text)
    assert balance.open == []
    assert re.findall(r'src="([^"]+)"', text) == [
        "./qavg/figure2.png", "./qavg/comparison_table1_random_mdps.png"
    ]  # fmt: skip
    assert len(text) < 100_000
    assert "http" not in text and "@import" not in text and "<script" not in text


def test_links_lead_to_files(page):
    links = re.findall(r'(?:href|src)="([^#"]+)"', page.read_text())
    assert len(links) == 4 * 4 + 5 + 2  # a table's, a figure's, a comparison's files; pictures
    assert all((page.parent / link).is_file() for link in links)


def test_a_paper_links_to_the_page_of_its_theory(page):
    text = page.read_text()
    assert '<section id="qavg">' in text
    assert '<a href="#qavg">theory</a>' in text


def test_page_is_the_same_when_written_again(page, project):
    before = page.read_bytes()
    assert write(project, page.parent).read_bytes() == before


def test_page_says_whether_the_code_here_made_the_numbers(page, project):
    assert "<dt>Code</dt><dd>table1_random_mdps" not in page.read_text()
    code = {("qavg", "table1_random_mdps"): "another version"}
    write(project, page.parent, code=code)
    assert "<dt>Code</dt><dd>table1_random_mdps: another version</dd>" in page.read_text()


def test_before_anything_ran_the_page_says_how_to_build_it(project, tmp_path, monkeypatch):
    missing = {"theory": "no <data>"}
    monkeypatch.setattr(
        "pfedrl.analysis.report.absent", lambda *asked, scale: missing.get(asked[2])
    )
    text = write(project, tmp_path / "figures", scale="smoke").read_text()
    assert text.count("Not drawn yet.") == 4 + 7  # the paper's, and a comparison an experiment
    assert text.count("<p>Not drawn. theory: no &lt;data&gt;.</p>") == 1
    assert "No verdicts yet." in text
    assert text.count(" --config scale=smoke</pre>") == text.count("snakemake --cores all") == 11


def test_the_overview_links_the_evidence_that_is_there(project, tmp_path):
    for there in (False, True):
        if there:
            (tmp_path / "evidence").mkdir()
            (tmp_path / "evidence" / "level.md").touch()
        overview(project, tmp_path, {"qavg": None})
        text = (tmp_path / "README.md").read_text()
        assert ("[evidence/level.md](evidence/level.md)" in text) == there


def test_a_broken_result_is_named(project, tmp_path):
    broken = tmp_path / "qavg" / "claims.json"
    broken.parent.mkdir()
    broken.write_text("{")
    with pytest.raises(PfedrlError, match=r"claims\.json.*Rebuild it"):
        write(project, tmp_path)


def test_a_matrix_is_readable():
    assert readable({"P": [[1, 2], [3, 4]]}) == '{\n  "P": [\n    [1, 2],\n    [3, 4]\n  ]\n}'
