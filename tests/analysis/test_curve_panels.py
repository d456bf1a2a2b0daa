"""Curves in panels, and FedKL's figures, from made-up runs."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.figures import curve_panels, fedkl_figure5
from pfedrl.analysis.style import every_style
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.paper import Artifact, Experiment, Paper
from tests.analysis import fake

ROUNDS = 6
SPEC = Experiment(title="t", variants={name: {} for name in ("fed_avg", "fed_kl", "zero_action")})


def context(tmp_path, options, seeds=3):
    """An artifact of one experiment: two algorithms over rounds, and a control looked at once."""
    rounds, cells = range(ROUNDS), []
    for variant in ("fed_avg", "fed_kl"):
        measured = {("round", at, "return"): np.linspace(-90 + 9 * at, -80, seeds) for at in rounds}
        for at in rounds:
            measured["round", at, "selected_G"] = np.full(seeds, 1.0 if at % 2 else -1.0)
            measured["round", at, "drawdown"] = np.linspace(0, at, seeds)
        cells.append(fake.cell("curves", variant, {}, seeds, measured))
    control = {("round", 0, "return"): np.full(seeds, -12.0)}
    cells.append(fake.cell("curves", "zero_action", {}, seeds, control))
    artifact = Artifact(
        kind="figure", title="t", draw="d", experiments=["curves"], caption="c", options=options
    )
    paper = Paper(paper="fedkl", short="T", title="t", reference="r", experiments={"curves": SPEC})
    summary = fake.summary(tmp_path, "fedkl", *cells)
    return Context(paper, "a", artifact, "laptop", {"curves": summary}, every_style({}))


def panel(metric="return", **more):
    return {"title": "A panel", "metric": metric, **more}


LINES = [{"cell": cell} for cell in ("fed_avg", "fed_kl", "zero_action")]


def test_curves_have_a_line_each_and_controls_are_level(tmp_path):
    options = {"panels": [panel(limits=[-60, -5]), panel("drawdown", y="lost")], "lines": LINES}
    drawn = curve_panels.draw(context(tmp_path, options))
    left, right = drawn.figure.axes
    (legend,) = drawn.figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["FedAvg", "FedKL", "Zero action"]
    assert len(left.lines) == 3 and len(right.lines) == 2
    assert left.get_ylim() == (-60, -5)
    assert (left.get_ylabel(), right.get_ylabel()) == ("return", "lost")
    assert len(drawn.data) == 2 * 2 * ROUNDS + 1
    assert [list(line.get_ydata()) for line in left.lines].count([-12.0, -12.0]) == 1


def test_a_ceiling_is_a_level_in_the_look_of_a_control(tmp_path):
    line = {**LINES[0], "ceiling": True, "label": "top"}
    drawn = curve_panels.draw(context(tmp_path, {"panels": [panel(lines=[LINES[0], line])]}))
    last = drawn.data[drawn.data["line"] == "top"]["mean"].item()  # a row, of its last round
    (level,) = [line for line in drawn.figure.axes[0].lines if set(line.get_ydata()) == {last}]
    assert level.get_color() == every_style({}).of("best_found").colour


def test_a_panel_of_what_was_not_run_says_so(tmp_path):
    options = {"panels": [panel(), panel(experiment="walkers", x="frame")], "lines": LINES}
    made = context(tmp_path, options)
    made = replace(made, absent={"walkers": "not published"})
    drawn = curve_panels.draw(made)
    left, right = drawn.figure.axes
    assert len(left.lines) == 3 and left.get_xlabel() == "episode"
    assert right.texts[0].get_text() == "not published" and not right.lines
    assert set(drawn.data["panel"]) == {"A panel"}


def test_the_axis_ends_where_the_papers_does_also_where_our_run_is_shorter(tmp_path):
    short, long = panel(until=3), panel(until=200)
    drawn = curve_panels.draw(context(tmp_path, {"panels": [short, long], "lines": LINES}))
    assert [axis.get_xlim() for axis in drawn.figure.axes] == [(0, 3), (0, 200)]
    assert drawn.data["at"].max() == ROUNDS - 1


def test_lines_of_one_algorithm_are_shades_of_its_colour(tmp_path):
    lines = [{"cell": "fed_kl", "label": label} for label in ("one", "another", "third")]
    made = context(tmp_path, {"panels": [panel(lines=lines)]})
    (axis,) = curve_panels.draw(made).figure.axes
    colours = [to_hex(line.get_color()).upper() for line in axis.lines]
    assert len(set(colours)) == 3
    assert made.styles.of("fed_kl").colour in colours


def test_intervals_lie_along_the_lines_or_at_their_ends(tmp_path):
    bands = curve_panels.draw(context(tmp_path, {"panels": [panel()], "lines": LINES}))
    ends = {"panels": [panel()], "lines": LINES, "intervals": "end"}
    bars = curve_panels.draw(context(tmp_path / "again", ends))
    kinds = [{type(c).__name__ for c in d.figure.axes[0].collections} for d in (bands, bars)]
    assert kinds == [{"FillBetweenPolyCollection"}, {"LineCollection"}]


def test_no_band_goes_beyond_what_is_possible(tmp_path):
    made = context(tmp_path, {"panels": [panel("drawdown")], "lines": LINES, "band": 5.0})
    drawn = curve_panels.draw(made).data
    assert (drawn["low"] >= 0).all() and (drawn["mean"] - 5 * drawn["se"] < 0).any()
    stored = made.summaries["curves"].curve("fed_kl", "drawdown")
    assert (stored["low"] >= 0).all()


def test_a_label_takes_the_runs_own_settings_and_a_wrong_one_is_named(tmp_path):
    lines = [{"cell": "fed_kl", "label": "{name}!"}]
    drawn = curve_panels.draw(context(tmp_path, {"panels": [panel(lines=lines)]}))
    assert set(drawn.data["line"]) == {"fed_kl!"}
    lines[0]["label"] = "{nam}"
    with pytest.raises(PfedrlError, match="Did you mean 'name'"):
        curve_panels.draw(context(tmp_path / "again", {"panels": [panel(lines=lines)]}))


def test_marks_are_in_the_figures_legend(tmp_path):
    panels = [panel(mark=-20), panel(mark=-30)]
    drawn = curve_panels.draw(context(tmp_path, {"panels": panels, "lines": LINES}))
    (legend,) = drawn.figure.legends
    assert legend.get_texts()[-1].get_text() == "−20 and −30"
    assert legend.get_lines()[-1].get_color() == drawn.figure.axes[0].lines[-1].get_color()


def test_figure5_marks_the_rounds_that_train_with_a_negative_g(tmp_path):
    drawn = fedkl_figure5.draw(context(tmp_path, {}, seeds=1))
    assert drawn.data["negative"].tolist() == [True, False, True, False, True, False]
    assert drawn.data["return"].iloc[0] == pytest.approx(-90)
    upper, _ = drawn.figure.axes
    assert len(upper.patches) == 3
    texts = [text.get_text() for text in upper.get_legend().get_texts()]
    assert texts[1] == "G of selected agents < 0 (minimum −1)"
