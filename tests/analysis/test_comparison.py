"""Every variant of an experiment beside the others, from made-up runs."""

from dataclasses import replace

import numpy as np
import pytest

from pfedrl.analysis.curves import shades
from pfedrl.analysis.drawing import context_of, drawn
from pfedrl.analysis.figures import comparison, control_table
from pfedrl.analysis.labels import own_name
from pfedrl.analysis.statistics import mean_interval
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.claim import Ceiling
from pfedrl.pipeline.paper import LONG_RUN, Comparison, Experiment, Printed, comparison_of
from tests.analysis import fake

SEEDS = 5
RETURNS = {
    "dqn": [1.0, 2.0, 3.0, 4.0, 5.0], "dqn_avg": [2.0, 2.5, 3.5, 4.0, 6.0],
    "lfrl": [0.0, 0.0, 1.0, 0.0, np.nan], "best_found": [9.0] * SEEDS,
    "random_policy": [0.1, 0.2, 0.1, 0.3, 0.1],
}  # fmt: skip


def context(tmp_path, chosen=None, metric="return_average", sent=False):
    """The comparison of an experiment with three learners and two controls."""
    cells = []
    for variant, values in RETURNS.items():
        measured = {("episode", 9, metric): np.array(values)}
        if sent and variant == "dqn_avg":
            measured["episode", 9, "megabytes_sent"] = np.full(SEEDS, 2.5)
        cells.append(fake.cell("control", variant, {}, SEEDS, measured))
    spec = Experiment(title="t", family={"name": "made_up"}, variants={v: {} for v in RETURNS},
                      comparison=chosen or {})  # fmt: skip
    summary = fake.summary(tmp_path, "pfedrl_rep", *cells)
    return fake.context({"control": spec}, comparison_of("control", spec), {"control": summary})


def test_every_variant_is_there_with_paired_differences_to_the_best_and_the_baseline(tmp_path):
    drawn = comparison.draw(context(tmp_path))
    data = drawn.data.set_index("cell")
    assert list(data.index) == ["dqn", "dqn_avg", "lfrl", "best_found", "random_policy"]
    assert set(data["best"]) == {"dqn_avg"} and set(data["baseline"]) == {"dqn"}
    differences = np.array(RETURNS["dqn"]) - np.array(RETURNS["dqn_avg"])
    row = data.loc["dqn"]
    assert row["to_best"] == pytest.approx(differences.mean())
    assert (row["to_best_low"], row["to_best_high"]) == pytest.approx(mean_interval(differences))
    assert (data.loc["lfrl", "missing"], data.loc["lfrl", "diverged"]) == (1, 0)
    assert "† Some seeds have no value and are excluded from the mean." in drawn.table.notes
    assert data.loc["lfrl", "to_baseline"] == pytest.approx(np.mean([-1, -2, -2, -4]))
    rows = drawn.table.sections[0].rows
    assert rows[0][-1] == "the baseline" and rows[1][-2] == "the best"
    assert [row[0] for row in rows][-1] == "Random policy"


def test_a_ceiling_of_another_experiment_is_beside_and_does_not_compete(tmp_path):
    made = context(tmp_path)
    values = np.array([20.0, 22.0, 24.0])
    long = fake.summary(
        tmp_path, "pfedrl_rep", fake.cell("long", "dqn", {}, 3, {("episode", 99, "best"): values})
    )
    top = {"experiment": "long", "cell": "dqn", "metric": "best"}
    spec = made.paper.experiments["control"].model_copy(
        update={"comparison": Comparison(ceiling=Ceiling(**top))}
    )
    artifact = comparison_of("control", spec)
    assert artifact.experiments == ["control", "long"] and artifact.may_miss == ["long"]
    without = comparison.draw(replace(made, artifact=artifact, absent={"long": "not run"}))
    assert LONG_RUN not in set(without.data["label"])
    summaries = made.summaries | {"long": long}
    drawn = comparison.draw(replace(made, artifact=artifact, summaries=summaries))
    row = drawn.data.set_index("label").loc[LONG_RUN]
    assert (row["mean"], row["experiment"], row["metric"]) == (22.0, "long", "best")
    assert set(drawn.data["best"].dropna()) == {"dqn_avg"} and np.isnan(row["to_best"])
    (mean,) = [line for line in drawn.figure.axes[0].lines if list(line.get_xdata()) == [22.0]]
    of_control = shades(made.styles.of("best_found"), 2)  # which is there as well
    assert mean.get_color() == of_control[1].colour


def test_a_variant_is_called_as_its_experiment_says(tmp_path):
    made = context(tmp_path)
    own = {"labels": {"dqn_avg": "FedDQN, {name}"}}
    spec = made.paper.experiments["control"].model_copy(update=own)
    paper = made.paper.model_copy(update={"experiments": {"control": spec}})
    drawn = comparison.draw(replace(made, paper=paper))
    assert drawn.data["label"].tolist()[:2] == ["DQN", "FedDQN, dqn_avg"]
    with pytest.raises(ValueError, match="labels: 'dqn_av' is not one of its variants"):
        Experiment(title="t", variants={"dqn_avg": {}}, labels={"dqn_av": "FedDQN"})


def test_a_single_seed_has_a_difference_without_an_interval():
    row = {"to_best": -1.5, "to_best_low": np.nan, "to_best_high": np.nan}
    assert comparison.shift(row, "best", 1) == "−1.5"
    assert comparison.shift(row | {"to_best_low": -2, "to_best_high": -1}, "best", 1) == (
        "−1.5 [−2.0 to −1.0]"
    )


def test_what_is_better_and_the_baseline_can_be_chosen(tmp_path):
    chosen = {"metric": "error", "best": "lowest", "baseline": "dqn_avg"}
    data = comparison.draw(context(tmp_path, chosen, metric="error")).data
    assert set(data["best"]) == {"lfrl"} and set(data["baseline"]) == {"dqn_avg"}


def test_a_metric_that_nobody_chose_has_to_be_one_of_the_usual(tmp_path):
    with pytest.raises(PfedrlError, match=r"comparison\.metric in experiments\.yaml"):
        comparison.draw(context(tmp_path, metric="error"))


def test_communication_is_shown_where_it_is_recorded(tmp_path):
    without = comparison.draw(context(tmp_path / "without")).table
    assert "sent (MB)" not in [column.title for column in without.columns]
    table = comparison.draw(context(tmp_path / "sent", sent=True)).table
    assert [row[-1] for row in table.sections[0].rows] == ["–", "2.50", "–", "–", "–"]


def test_points_of_a_familys_sweep_are_sections_and_an_algorithms_are_rows(project, made):
    swept, own = (
        drawn(context_of(project, "qavg", f"comparison_{name}", "laptop", made)).table
        for name in ("table1_windy_cliffs", "figure2_qavg")
    )
    assert [len(section.rows) for section in swept.sections] == [5] * 5
    labels = [row[0] for row in own.sections[0].rows]
    assert {"QAvg, local steps 16", "QAvg, local steps ∞"} <= set(labels)


def test_experiments_without_anything_to_compare_have_no_comparison(project):
    artifacts = project.paper("qavg").artifacts
    assert "comparison_generalisation_random_mdps" in artifacts
    assert "comparison_speedup" not in artifacts and "comparison_theory" not in artifacts


def test_a_variant_that_is_added_is_compared_and_may_be_listed_in_table_3(tmp_path, monkeypatch):
    """Of which the paper prints nothing, while it prints the others."""
    monkeypatch.setitem(RETURNS, "per_dqn_avg", [3.0, 2.0, 4.0, 5.0, 3.5])
    made = context(tmp_path)
    drawn = comparison.draw(made)
    assert "per_dqn_avg" in set(drawn.data["cell"])
    assert "PerDQNAvg" in [row[0] for row in drawn.table.sections[0].rows]
    for cell in made.summaries["control"].facts["cells"].values():
        cell["settings"]["family"]["agents"] = 10
    options = {"variants": ["per_dqn_avg", "dqn_avg", "dqn"], "floor": "random_policy",
               "ceiling": "best_found", "printed_seconds": {"dqn": 3840}}  # fmt: skip
    printed = [
        Printed(experiment="control", variant=variant, metric="return_average", value=value)
        for variant, value in (("dqn", "135"), ("dqn_avg", "119"))
    ]
    artifact = made.artifact.model_copy(update={"options": options, "printed": printed})
    table = control_table.draw(replace(made, name="table3", artifact=artifact))
    rows = {row[0]: row for row in table.sections[0].rows}
    titles = [(column.group, column.title) for column in table.columns]
    assert list(rows) == ["PerDQNAvg", "DQNAvg", "DQN", "LFRL"]
    theirs = [place for place, (_, title) in enumerate(titles) if title == "Paper"]
    assert [rows["PerDQNAvg"][place] for place in theirs] == ["–"] * len(theirs)
    assert rows["PerDQNAvg"][titles.index(("Average", "Ours"))].startswith("3.50 ±")
    assert rows["DQN"][titles.index(("Average", "Paper"))] == "135"
    assert rows["DQN"][titles.index(("Rank", "Paper"))] == "1"
    assert rows["LFRL"][1:3] == ["4", "–"], "an algorithm that is not listed has a rank, too"
    assert (rows["LFRL"][-1], rows["DQN"][-1]) == ("–", "3840")


STEPS = {"frames": 3200000, "local_steps": 40000}


@pytest.mark.parametrize(
    ("name", "given", "others", "ran", "said"),
    [  # a number of its settings that others have not is the one that was run
        ("40000", STEPS, [{"local_steps": 10000}], {"local_steps": 8000}, "local steps 8000"),
        ("64", {"first": 64, "second": 64}, [STEPS], {"first": 64, "width": 64}, "64"),
        ("by_hand", STEPS, [{"local_steps": 10000}], {"local_steps": 8000}, "by hand"),
        ("ring", {"graph": "ring"}, [{"graph": "fully_connected"}], {"graph": "ring"}, "ring"),
        ("1", {"updates": 1, "local_steps": 1}, [{"updates": 1, "local_steps": 2}],
         {"updates": 1, "local_steps": 1}, "local steps 1"),
    ],
)  # fmt: skip
def test_variants_of_one_algorithm_are_told_apart(name, given, others, ran, said):
    assert own_name(name, given, others, ran) == said
