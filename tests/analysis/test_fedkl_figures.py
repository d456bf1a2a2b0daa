"""FedKL's figures from made-up runs."""

import numpy as np
import pytest

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.figures import fedkl_curves, fedkl_figure5
from pfedrl.analysis.summaries import paths, read_summary
from pfedrl.analysis.summarise import summarise
from pfedrl.pipeline.paper import Artifact, Paper
from tests.analysis import fake

ROUNDS = 6


def context(tmp_path, options, seeds=3):
    """An artifact of one experiment: two algorithms over rounds, and a control looked at once."""
    rounds, runs = range(ROUNDS), []
    for variant in ("fed_avg", "fed_kl"):
        measured = {("round", at, "return"): np.linspace(-90 + 9 * at, -80, seeds) for at in rounds}
        for at in rounds:
            measured["round", at, "selected_G"] = np.full(seeds, 1.0 if at % 2 else -1.0)
            measured["round", at, "drawdown"] = np.zeros(seeds)
        runs += fake.write_cell(tmp_path, "curves", variant, {}, seeds, measured)
    control = {("round", 0, "return"): np.full(seeds, -12.0)}
    runs += fake.write_cell(tmp_path, "curves", "zero_action", {}, seeds, control)
    summarise(runs, *paths(tmp_path, "fedkl", "curves"))
    artifact = Artifact(
        kind="figure", title="t", draw="d", experiments=["curves"], caption="c", options=options
    )
    paper = Paper(paper="fedkl", title="t", reference="r", experiments={})
    summary = read_summary(tmp_path, "fedkl", "curves")
    return Context(paper, "a", artifact, "laptop", {"curves": summary})


def test_curves_have_a_line_each_and_controls_are_level(tmp_path):
    cells = ("fed_avg", "fed_kl", "zero_action")
    options = {
        "panels": [
            {"metric": "return", "title": "Return", "label": "return", "limits": [-60, -5]},
            {"metric": "drawdown", "title": "Fall", "label": "lost"},
        ],
        "lines": [{"experiment": "curves", "cell": cell} for cell in cells],
    }
    drawn = fedkl_curves.draw(context(tmp_path, options))
    left, right = drawn.figure.axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == [
        "FedAvg", "FedKL", "Zero action",
    ]  # fmt: skip
    assert len(left.lines) == 3 and len(right.lines) == 2
    assert left.get_ylim() == (-60, -5)
    assert len(drawn.data) == 2 * 2 * ROUNDS + 1
    assert set(left.lines[2].get_ydata()) == {-12.0}


def test_lines_of_one_algorithm_differ_in_colour(tmp_path):
    line = {"experiment": "curves", "cell": "fed_kl"}
    options = {
        "panels": [{"metric": "return", "title": "Return", "label": "return"}],
        "lines": [{**line, "label": "one"}, {**line, "label": "other"}],
    }
    (axis,) = fedkl_curves.draw(context(tmp_path, options)).figure.axes
    assert axis.lines[0].get_color() != axis.lines[1].get_color()


def test_figure5_marks_the_rounds_that_train_with_a_negative_g(tmp_path):
    drawn = fedkl_figure5.draw(context(tmp_path, {}, seeds=1))
    assert drawn.data["negative"].tolist() == [True, False, True, False, True, False]
    assert drawn.data["return"].iloc[0] == pytest.approx(-90)
    upper, _ = drawn.figure.axes
    assert len(upper.patches) == 3
