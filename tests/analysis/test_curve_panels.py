"""Curves in panels, and FedKL's figures, from made-up runs."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex

from pfedrl.analysis.figures import curve_panels, fedkl_figure5
from pfedrl.analysis.style import every_style
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.paper import Experiment
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
    summary = fake.summary(tmp_path, "fedkl", *cells)
    return fake.context({"curves": SPEC}, fake.figure("curves", options), {"curves": summary})


def panel(metric="return", **more):
    return {"title": "A panel", "metric": metric, **more}


LINES = [{"cell": cell} for cell in ("fed_avg", "fed_kl", "zero_action")]


def test_curves_have_a_line_each_and_controls_are_level(tmp_path):
    options = {"panels": [panel(limits=[-60, -5]), panel("drawdown", y="lost")], "lines": LINES}
    drawn = curve_panels.draw(context(tmp_path, options))
    left, right = drawn.figure.axes
    (legend,) = drawn.figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["FedAvg", "FedKL", "Zero action", "one seed"]
    means = [[line for line in axis.lines if line.get_linewidth() > 0.8] for axis in (left, right)]
    left_beyond = [line for line in means[0] if line.get_marker() in "v^"]
    assert len(means[0]) - len(left_beyond) == 3 and len(means[1]) == 2
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


def test_what_was_not_run_is_a_line_of_text_and_no_panel(tmp_path):
    options = {"panels": [panel(), panel(experiment="walkers", x="frame")], "lines": LINES}
    made = context(tmp_path, options)
    made = replace(made, absent={"walkers": "not published"})
    drawn = curve_panels.draw(made)
    (only,) = drawn.figure.axes
    assert only.get_xlabel() == "episode"
    assert drawn.figure.get_suptitle() == "Not run: not published."
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


def test_a_few_seeds_are_thin_lines_and_more_are_a_band(tmp_path):
    lines = [{"cell": "fed_kl"}]
    for seeds, bands, thin in ((3, 0, 3), (5, 0, 5), (6, 1, 0)):
        made = context(tmp_path / str(seeds), {"panels": [panel()], "lines": lines}, seeds)
        drawn = curve_panels.draw(made)
        (axis,) = drawn.figure.axes
        assert len(axis.collections) == bands, seeds
        assert len([line for line in axis.lines if line.get_linewidth() < 0.8]) == thin, seeds
        (legend,) = drawn.figure.legends
        said = "95% interval" if bands else "one seed"
        assert legend.get_texts()[-1].get_text() == said
        own = made.summaries["curves"].curve("fed_kl", "return")
        if thin:
            assert np.stack(own["by_seed"]).mean(axis=1) == pytest.approx(own["mean"].to_numpy())


def test_the_time_axis_ends_with_the_data_and_last_points_stand_beside_it(tmp_path):
    options = {"panels": [panel()], "lines": LINES, "ends": True}
    drawn = curve_panels.draw(context(tmp_path, options))
    axis, beside = drawn.figure.axes
    drawn.figure.canvas.draw()
    last = drawn.data["at"].max()
    left, right = axis.get_xlim()
    assert right < last * 1.05
    assert all(tick <= last for tick in axis.get_xticks() if left <= tick <= right)
    assert len(beside.collections) == 2 and not beside.axison, "an interval for each line"
    assert beside.get_ylim() == axis.get_ylim()


def test_a_panel_can_end_with_its_shortest_line_and_the_csv_keeps_the_rest(tmp_path):
    options = {"panels": [panel(until=3), panel()], "lines": LINES, "together": True}
    made = context(tmp_path, options)
    rows = made.summaries["curves"].statistics
    longer = (rows["cell"] == "fed_avg") & (rows["at"] > 2)
    made.summaries["curves"] = replace(made.summaries["curves"], statistics=rows[~longer])
    drawn = curve_panels.draw(made)
    assert [axis.get_xlim()[1] for axis in drawn.figure.axes] == [2, 2]
    assert drawn.data["at"].max() == ROUNDS - 1


def test_a_line_that_leaves_the_panel_is_marked_at_its_edge(tmp_path):
    options = {"panels": [panel(limits=[-60, -5])], "lines": [{"cell": "fed_kl"}]}
    (axis,) = curve_panels.draw(context(tmp_path, options)).figure.axes
    (mark,) = [line for line in axis.lines if line.get_marker() == "v"]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([0], [-60])


def test_a_legend_entry_may_differ_from_the_csv_and_a_subtitle_takes_settings(tmp_path):
    lines = [{"cell": "fed_kl", "label": "in full", "legend": "short"}]
    own = panel(lines=lines, subtitle=", {fed_kl[name]}")
    drawn = curve_panels.draw(context(tmp_path, {"panels": [own]}))
    (legend,) = drawn.figure.legends
    assert legend.get_texts()[0].get_text() == "short"
    assert set(drawn.data["line"]) == {"in full"} and set(drawn.data["panel"]) == {"A panel"}
    assert drawn.figure.axes[0].get_title("left") == "A panel, fed_kl"


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
