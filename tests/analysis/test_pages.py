"""The pages as text: nothing internal, nothing from outside, nothing too large, no dead link."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pfedrl.analysis.output import read_result
from pfedrl.analysis.pages.catalogue import draw_picture
from pfedrl.analysis.pages.exchanges import exchanged
from pfedrl.analysis.pages.ledger import Counts, found, supported
from pfedrl.analysis.pages.plots import seeds_plot
from pfedrl.analysis.pages.site import readable
from pfedrl.core.registry import components, is_control, load
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

SITE = ROOT / "paper_figures"
PAGES = sorted(SITE.rglob("*.html"))
LARGEST = 2_000_000  # bytes
HIDDEN = ("script", "style", "code", "pre")
VOID = ("meta", "link", "img", "br", "input")


class Page(HTMLParser):
    """The visible text of a page, its links and anchors; fails where tags are not balanced."""

    def __init__(self, path: Path):
        super().__init__()
        self.open: list[str] = []
        self.text, self.links, self.ids = "", [], set()
        self.feed(path.read_text(encoding="utf-8"))
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.links += [given[key] for key in ("href", "src") if given.get(key)]
        if "id" in given:
            assert given["id"] not in self.ids, given["id"]
            self.ids.add(given["id"])
        assert tag != "img" or "alt" in given
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not set(self.open) & set(HIDDEN):
            self.text += data


@pytest.fixture(scope="module")
def read() -> dict[Path, Page]:
    return {path: Page(path) for path in PAGES}


def test_no_text_written_into_a_page_has_an_internal_name(read):
    named = [name.rpartition("/")[2] for name in components("algorithms")]
    internal = re.compile("|".join(rf"\b{name}\b" for name in named if "_" in name))
    shown = {
        str(path.relative_to(SITE)): set(internal.findall(page.text)) for path, page in read.items()
    }
    assert {path: names for path, names in shown.items() if names} == {}


def test_every_link_leads_somewhere_beside_the_page(read):
    for path, page in read.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            assert not parts.scheme and not parts.netloc, f"{path}: {link} is outside"
            target = (path.parent / parts.path).resolve() if parts.path else path.resolve()
            assert target.is_file(), f"{path}: {link}"
            if parts.fragment and target.suffix == ".html":
                ids = next(page.ids for known, page in read.items() if known.resolve() == target)
                assert parts.fragment in ids, f"{path}: {link}"


def test_no_file_is_too_large_and_all_pages_are_made_from_the_same():
    for path in [*PAGES, *SITE.rglob("*.js"), *SITE.glob("*.css")]:
        assert path.stat().st_size < LARGEST, path
    heads = {re.search(r'"made_from" content="(\w*)"', path.read_text())[1] for path in PAGES}
    assert len(heads) == 1


def a_comparison(**given):
    plain = {"label": "A-B minus C", "metric": "return", "words": "w", "effect": -2.0, "low": -3.0,
             "high": -1.0, "won": 1, "lost": 9, "tied": 2, "seeds": 12}  # fmt: skip
    return plain | given


def test_a_comparison_has_its_unit_interval_and_seeds():
    words = "A-B minus C: −2 (95% interval −3 to −1); return. 1 seed for, 9 against, 2 tied."
    assert found(a_comparison()) == words
    assert found(a_comparison(low=None)) == "w"


def test_a_plot_has_a_dot_for_each_seed_and_the_claimed_side():
    plot = seeds_plot(a_comparison(differences=[-1.0, -2.0, 0.5], claimed=[0.0, None]))
    assert plot.count("<circle") == 3
    start = float(re.search(r'class="claimed" x="([\d.]+)"', plot)[1])
    assert start == float(re.search(r'class="zero" x1="([\d.]+)"', plot)[1])
    assert seeds_plot(a_comparison(effect=None)) == seeds_plot(None) == ""


def test_an_exchange_is_told_from_what_the_algorithm_makes():
    def told(name: str) -> tuple[str, str, str]:
        return exchanged(load("algorithms", name), None)

    assert told("fed_kl_private_critic")[:2] == ("policy, penalties", "critic")
    assert told("dqn_ditto") == ("global model", "personal model", "the server averages")
    assert told("td") == ("", "everything", "nothing is exchanged")
    assert told("dqn/krum")[2] == "the server: Krum"
    assert told("aff_pcl")[:2] == ("steps of a common table", "own table")
    shared = {name for name in components("algorithms") if not is_control(name) and told(name)[0]}
    alone = {name for name in components("algorithms") if not is_control(name)} - shared
    assert alone == {"ddpg", "dqn", "independent_q", "local_only", "td"}


def test_every_family_of_ours_has_a_picture_with_the_same_bytes_each_time(tmp_path: Path):
    for name in components("envs").keys() - {"gym_any"}:  # which has whatever a user names
        kind, path = load("envs", name), tmp_path / f"{name}.png"
        settings = Project.here(ROOT).family_defaults(name)
        draw_picture(kind, settings, path)
        assert path.read_bytes() == (SITE / "environments" / f"{name}.png").read_bytes(), name


def test_counts_leave_out_questions_of_our_own():
    judged = read_result(SITE / "pfedrl_rep" / "claims.json")
    counts = Counts.of(judged)
    assert counts.total == sum(not claim["ours"] for claim in judged["claims"])
    assert counts.headline.startswith(f"{counts.decided} of {counts.total} sentences decided")


def test_readings_are_counted_where_they_ran():
    read = [{"badge": "replicated"}, {"badge": "open"}, {"badge": "not run"}]
    assert supported({"badge": "open", "readings": read}).startswith("It holds under 1 of 2 other")


def test_a_matrix_is_readable():
    assert readable({"P": [[1, 2], [3, 4]]}) == '{\n  "P": [\n    [1, 2],\n    [3, 4]\n  ]\n}'
