"""Figures along the number of agents whose values lie on a logarithmic scale, from made-up runs."""

import numpy as np
import pytest

from pfedrl.analysis.figures import speedup_figure, tradeoff_figure
from pfedrl.pipeline.paper import Experiment
from tests.analysis import fake

EPISODES, SEEDS = 160, 5
AGENTS = (2.0, 4.0, 8.0)


def context(tmp_path, options):
    """Half of the way takes 80 episodes over N; the whole is not reached by two seeds of each."""
    cells = []
    for agents in AGENTS:
        half = 80 / agents * np.exp(np.linspace(-0.1, 0.1, SEEDS))
        whole = np.where(np.arange(SEEDS) < 2, EPISODES, 3 * half)
        measured = {
            "to_half": half, "reached_half": np.ones(SEEDS), "to_whole": whole,
            "reached_whole": (whole < EPISODES).astype(float),
            "error": agents * np.array([1.0, 10.0, 100.0, 1000.0, 10000.0]),
        }  # fmt: skip
        for variant in ("dqn", "dqn_avg"):
            cells.append(fake.cell(
                "speedup", variant, {"agents": agents}, SEEDS,
                {("episode", EPISODES, metric): values for metric, values in measured.items()},
            ))  # fmt: skip
    spec = Experiment(
        title="t", family={"name": "made_up"}, sweep={"family.agents": list(AGENTS)},
        variants={"dqn": {}, "dqn_avg": {}}, labels={"dqn_avg": "FedDQN"},
    )  # fmt: skip
    summary = fake.summary(tmp_path, "pfedrl_rep", *cells)
    return fake.context({"speedup": spec}, fake.figure("speedup", options), {"speedup": summary})


def test_runs_that_ended_first_are_hollow_end_intervals_and_leave_no_exponent(tmp_path):
    marks = [
        {"metric": f"to_{mark}", "reached": f"reached_{mark}", "label": mark}
        for mark in ("whole", "half")
    ]
    drawn = speedup_figure.draw(
        context(tmp_path, {"variant": "dqn", "along": "agents", "marks": marks})
    )
    whole, half = (own for _, own in drawn.data.groupby("metric", sort=False))
    assert (whole["never"] == 2).all() and whole["high"].max() == EPISODES
    assert whole["slope"].isna().all() and half["slope"].iloc[0] == pytest.approx(1)
    left, right = drawn.figure.axes
    texts = {text.get_text() for text in right.get_legend().get_texts()}
    assert "whole: not drawn, 6 of 15 runs never reached it" in texts
    assert any(text.startswith("half: $N^{1.00}$") for text in texts)
    hollow = [len(line.get_xdata()) for line in left.lines if line.get_markerfacecolor() == "white"]
    assert len(AGENTS) in hollow, "a mean that some runs never reached is a lower bound"
    assert [text.get_text() for text in left.texts] == ["2/5"] * len(AGENTS)
    colours = {line.get_color() for line in left.lines if line.get_marker() in ("o", "s")}
    assert len({str(colour) for colour in colours}) == 2


def test_errors_on_a_logarithmic_axis_are_geometric_means_beside_each_other(tmp_path):
    options = {"serial": "dqn", "metric": "error", "along": "agents"}
    drawn = tradeoff_figure.draw(context(tmp_path, options))
    data = drawn.data
    assert data["geometric_mean"].tolist() == pytest.approx([200, 400, 800] * 2)
    assert (data["low"] > 0).all()
    ratios = data["high"] / data["geometric_mean"], data["geometric_mean"] / data["low"]
    assert ratios[0].tolist() == pytest.approx(ratios[1].tolist()), "even on logs"
    assert data["label"].unique().tolist() == ["DQN", "FedDQN"]
    left, right = drawn.figure.axes
    places = [line.get_xdata()[0] for line in right.lines if len(line.get_xdata()) == len(AGENTS)]
    assert len(set(places)) == 2, "no mark lies on another"
    assert "geometric" in right.get_ylabel()
    alone = data["seconds_one_after_another"] / data["seconds_side_by_side"]
    assert alone.tolist() == pytest.approx(data["agents"].tolist()), "every algorithm by N"
    assert len([line for line in left.lines if len(line.get_xdata())]) == 4, "two for each"
