"""The committed page is what the published runs give: it cannot go stale unseen."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure
from pfedrl.analysis.redraw import redraw
from pfedrl.pipeline.published import FOLDER

from pfedrl.pipeline.project import Project
from tests.processes import once
from tests.tiny import ROOT

NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+−]?\d+)?")
WRITTEN = re.compile(r"[-−\d][-−\d.,e+]*")  # with signs, which zero may have or not


def lay_out(figure: Figure, path: Path, **_: object) -> None:
    if path.suffix == ".png":  # its PDF has the same layout
        figure.draw_without_rendering()
    path.touch()


def redraw_without_pictures(folder: Path) -> None:
    """Figures are laid out, and not written as pictures: most of the time goes there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", lay_out)
        here = ThreadPoolExecutor(1)  # other processes would not know of it
        patch.setattr("pfedrl.analysis.redraw.ProcessPoolExecutor", lambda *_: here)
        simulated = Path("paper_figures", "evidence", "level.md")  # not drawn from runs
        (folder / simulated).parent.mkdir(parents=True)
        shutil.copy(ROOT / simulated, folder / simulated)
        shutil.copy(ROOT / "README.md", folder / "README.md")  # headlines go into it
        redraw(Project.here(ROOT), folder / "paper_figures", folder)


@pytest.fixture(scope="module")
def redrawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "page", redraw_without_pictures)


def test_every_number_that_is_drawn_is_the_committed_one(redrawn: Path):
    drawn = sorted((redrawn / "paper_figures").rglob("*.csv"))
    assert drawn
    for path in drawn:
        committed = ROOT / path.relative_to(redrawn)
        # another processor may round the last digit of a statistic otherwise
        pd.testing.assert_frame_equal(
            pd.read_csv(path), pd.read_csv(committed), check_exact=False, rtol=1e-6, obj=path.name
        )


@pytest.mark.parametrize("page", ["README.md", "index.html"])
def test_every_word_and_number_of_the_page_is_the_committed_one(redrawn: Path, page: str):
    ours, theirs = (
        (folder / "paper_figures" / page).read_text().splitlines() for folder in (redrawn, ROOT)
    )
    assert_same_but_for_rounding(ours, theirs)


def assert_same_but_for_rounding(ours: list[str], theirs: list[str]) -> None:
    """Another processor may round a last digit otherwise: one in a thousand, not more."""
    assert [WRITTEN.sub("#", line) for line in ours] == [WRITTEN.sub("#", line) for line in theirs]
    pairs = [
        pair
        for one, other in zip(ours, theirs, strict=True)
        for pair in zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    ]
    differ = [pair for pair in pairs if len({*pair}) > 1]
    assert len(differ) <= 1 + len(pairs) // 1000, differ
    assert all(same_but_for_rounding(*pair) for pair in differ), differ


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("on 2,000 instances", "on 8,000 instances"),
        ("on 2,000 instances", "on 2,000 tasks"),
        ("a price of 1.25 h", "a price of 1.27 h"),
        ("6.8e-07 at the most", "6.8e-06 at the most"),
        ("17 steps", "17 steps and 3"),
        ("−17 steps", "17 steps"),
    ],
)
def test_a_stale_page_is_seen(ours: str, theirs: str):
    with pytest.raises((AssertionError, ValueError)):
        assert_same_but_for_rounding([ours], [theirs])


def test_a_last_digit_may_be_rounded_otherwise():
    assert_same_but_for_rounding(["a mean of 1.25"], ["a mean of 1.26"])
    assert_same_but_for_rounding(["a mean of -0.0"], ["a mean of 0.0"])


def test_the_words_of_every_finding_hold(redrawn: Path):
    page = (redrawn / "paper_figures" / "README.md").read_text()
    assert not re.findall(r"is omitted. Reason: it states[^<]*", page)


@pytest.mark.parametrize("name", ["badges", "findings"])
def test_the_blocks_of_the_readme_are_those_of_the_published_runs(redrawn: Path, name: str):
    ours, theirs = (block(folder / "README.md", name) for folder in (redrawn, ROOT))
    assert len(ours) >= 5
    assert_same_but_for_rounding(ours, theirs)


def block(readme: Path, name: str) -> list[str]:
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", readme.read_text(), re.DOTALL)
    assert found is not None
    return found[1].splitlines()


def same_but_for_rounding(one: str, other: str) -> bool:
    """Whether two numbers differ by one in the last digit that is written, at the most."""
    first, second = (Decimal(number.replace(",", "").replace("−", "-")) for number in (one, other))
    unit = Decimal(1).scaleb(max(int(number.as_tuple().exponent) for number in (first, second)))
    return abs(first - second) <= unit


def test_every_verdict_is_the_committed_one(redrawn: Path):
    judged = sorted((redrawn / "claims").glob("*.json"))
    assert judged
    for path in judged:
        ours, theirs = (
            {claim["id"]: claim["verdict"] for claim in json.loads(file.read_text())["claims"]}
            for file in (path, ROOT / FOLDER / "claims" / path.name)
        )
        assert ours == theirs, path.stem
