"""The committed site in a real browser, from its folder, without a network."""

import json
import shutil
from collections.abc import Iterator

import pytest

from pfedrl.analysis import compare_words as words
from pfedrl.analysis.compare import compare, differences
from pfedrl.analysis.verdict import AGAINST
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

SITE = ROOT / "paper_figures"
KINDS = (
    "index.html", "pfedrl_rep/index.html", "qavg/figure3.html", "pfedrl_rep/table3.html",
    "compare.html", "algorithms.html", "environments.html", "appendix.html",
    "algorithms/pfeddqn-rep.html", "environments/cartpoles.html",
    "pfedrl_rep/comparison_control_cartpole.html", "theory/index.html",
)  # fmt: skip
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")


@pytest.fixture(scope="module")
def browser() -> Iterator:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: install the system's package `chromium`")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture
def visit(browser) -> Iterator:
    """Opens a page of the site; at the end no script failed and nothing came from outside."""
    faults: list[str] = []
    contexts = []

    def visit(path: str, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: m.type == "error" and faults.append(m.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("requestfailed", lambda request: faults.append(f"failed: {request.url}"))
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or faults.append(r.url))
        name, mark, rest = path.partition("?" if "?" in path else "#")
        page.goto((SITE / name).as_uri() + mark + rest)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert faults == []


def shown(page) -> list:
    return page.locator(".claim:visible").all()


def test_sentences_are_filtered_searched_and_sorted(visit):
    page = visit("pfedrl_rep/index.html")
    every = len(shown(page))
    page.select_option("[name=badge]", "contradicted")
    failed = shown(page)
    assert 0 < len(failed) < every
    assert {one.get_attribute("data-badge") for one in failed} == {"contradicted"}
    page.select_option("[name=environments]", "CartPoles")
    page.select_option("[name=algorithms]", "FedDQN")
    for one in shown(page):
        assert "CartPoles" in one.get_attribute("data-environments").split("|")
        assert "FedDQN" in one.get_attribute("data-algorithms").split("|")
    assert page.locator("output").inner_text() == f"{len(shown(page))} of {every} shown"
    for name in ("badge", "environments", "algorithms"):
        page.select_option(f"[name={name}]", "")
    page.fill("[name=search]", "acrobot")
    found = shown(page)
    assert 0 < len(found) < every
    assert all("acrobot" in one.inner_text().lower() for one in found)
    page.fill("[name=search]", "")
    page.select_option("[name=sort]", "evidence")
    strengths = [
        float(one.get_attribute("data-evidence"))
        for one in page.locator(".claims").first.locator(".claim").all()
    ]
    assert strengths == sorted(strengths, reverse=True) and len(set(strengths)) > 1


def test_a_sentence_has_a_link_of_its_own(visit):
    first = visit("fedkl/index.html").locator(".claim").last.get_attribute("id")
    page = visit(f"fedkl/index.html#{first}")
    assert page.locator(f"#{first}").is_visible()
    page.wait_for_function("scrollY > 0")
    assert page.evaluate(f"document.querySelector(':target').id === '{first}'")


def test_a_chart_tells_values_and_switches_series(visit):
    page = visit("qavg/figure3.html")
    svg = page.locator(".chart .panels svg").first
    svg.hover()
    told = page.locator(".chart .hover").first
    assert told.inner_text().startswith("at ")
    lines = page.locator(".chart .panels path.line").count()
    key = page.locator(".chart .keys button").first
    name = key.inner_text().strip()
    assert name in told.inner_text()
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    assert page.locator(".chart .panels path.line").count() < lines
    page.locator(".chart .panels svg").first.focus()
    page.keyboard.press("ArrowRight")
    assert f": {name} " not in page.locator(".chart .hover").first.inner_text()
    key.click()
    assert page.locator(".chart .panels path.line").count() == lines


def test_a_table_is_sorted_by_a_click(visit):
    page = visit("pfedrl_rep/table3.html")
    table = page.locator("#printed table")

    def column() -> list[float]:
        cells = table.locator("tbody td:nth-child(5)").all_inner_texts()
        return [float(cell.rstrip("%").replace("−", "-")) for cell in cells if cell != "–"]

    button = table.locator("th:nth-child(5) button")
    button.click()
    assert column() == sorted(column()) and len(set(column())) > 1
    button.click()
    assert column() == sorted(column(), reverse=True)


def test_two_algorithms_are_compared(visit):
    page = visit("compare.html")
    page.select_option("[name=family]", "CartPoles")
    page.wait_for_selector("[name=a] option:text-is('PFedDQN-Rep')", state="attached")
    page.select_option("[name=a]", "PFedDQN-Rep")
    page.select_option("[name=b]", "FedDQN")
    said = page.locator("#answer .said").first.inner_text()
    assert said.startswith("PFedDQN-Rep") and "FedDQN" in said and "seeds" in said
    assert page.locator("#answer svg circle").count() > 1
    first = page.locator("#answer > section")

    def column(place: int) -> list[str]:
        return first.locator(f"tbody td:nth-child({place})").all_text_contents()

    metrics, ours, ways = column(1), column(2), column(7)
    assert len(metrics) == len(set(metrics)) > 5
    page.select_option("[name=a]", "FedDQN")
    page.select_option("[name=b]", "PFedDQN-Rep")
    assert page.locator("#answer .said").first.inner_text().startswith("FedDQN")
    assert "a=FedDQN" in page.url
    assert column(1) == metrics and column(3) == ours
    turned = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
    assert column(7) == [turned.get(way, way) for way in ways] and "worse" in {*ways, *column(7)}


def test_a_comparison_has_every_metric_that_the_console_prints(visit):
    project = Project.here(ROOT)
    fullest, *_ = compare(project, "PFedDQN-Rep", "FedDQN", "cartpole")
    printed = [words.row(one)[0] for one in differences(project, fullest)]
    page = visit("compare.html?family=CartPoles&a=PFedDQN-Rep&b=FedDQN")
    page.wait_for_selector("#answer > section")
    shown = page.locator("#answer > section tbody td:first-child").all_text_contents()
    assert shown == printed


def test_three_questions_are_answered_within_three_clicks(visit):
    page = visit("index.html")  # does PFedRL-Rep beat FedDQN on CartPole?
    page.click("text=Compare two algorithms")
    page.wait_for_selector("#answer .said")
    assert page.locator("#answer .said").first.inner_text().startswith("PFedDQN-Rep")
    page = visit("index.html")  # which of FedKL's sentences failed?
    page.click("main >> text=FedKL")
    judged = json.loads((SITE / "fedkl" / "claims.json").read_text())["claims"]
    offered = {one.get_attribute("value") for one in page.locator("[name=badge] option").all()}
    for badge in AGAINST:
        found = {f"claim-{claim['id']}" for claim in judged if claim["badge"] == badge}
        assert (badge in offered) == bool(found)
        if found:
            page.select_option("[name=badge]", badge)
            assert {one.get_attribute("id") for one in shown(page)} == found
    page = visit("index.html")  # how do I make Table 3 myself?
    page.click("main >> text=PFedRL-Rep")
    page.click("text=Table 3")
    page.click("text=How to make it")
    assert "snakemake --cores all pfedrl_rep_table3" in page.locator("#make").inner_text()


@pytest.mark.parametrize("path", KINDS)
def test_a_phone_scrolls_no_page_sideways_and_dark_is_dark(visit, path: str):
    page = visit(path, viewport={"width": 420, "height": 800}, color_scheme="dark")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, colour.removeprefix("rgb(").rstrip(")").split(","))) < 60
