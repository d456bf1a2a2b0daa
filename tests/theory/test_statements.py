"""Every statement is run and judged once, on one page."""

from pathlib import Path

from pfedrl.core.registry import components
from pfedrl.pipeline.project import Project

PROJECT = Project(Path(__file__).parents[2])
STATEMENTS = set(components("theory"))


def runs():
    """(paper, experiment, variant, statement) of every variant that is a statement."""
    for paper, page in PROJECT.papers.items():
        for experiment, found in page.experiments.items():
            for variant, settings in found.variants.items():
                name = settings.get("algorithm", variant)
                if name in STATEMENTS:
                    yield paper, experiment, variant, name


def test_one_page_runs_all_statements_and_the_papers_pages_link_to_it():
    assert {paper for paper, *_ in runs()} == {"theory"}
    assert {name for *_, name in runs()} == STATEMENTS
    for paper in ("qavg", "fedkl", "pfedrl_rep"):
        assert PROJECT.paper(paper).theory == "theory"


def test_every_statement_is_judged_and_no_test_twice():
    tests = [claim.test for claim in PROJECT.paper("theory").claims]
    assert len({str(test) for test in tests}) == len(tests)
    judged = {
        (test.experiment, getattr(test, key, None))
        for test in tests
        for key in ("variant", "cell", "greater")
    }
    found = {name for _, experiment, variant, name in runs() if (experiment, variant) in judged}
    assert found == STATEMENTS
