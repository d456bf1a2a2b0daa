"""DePRL's tables and figures from made-up runs: what is shown, and what is said of the missing."""

import numpy as np
import pytest

from pfedrl.analysis.claims import Judge, judge_all
from pfedrl.analysis.drawing import context_of, drawn
from pfedrl.analysis.summaries import read_summary
from pfedrl.envs.data import data_sets
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.served import absent
from tests.analysis import made_up_data
from tests.tiny import ROOT

PROJECT = Project.here(ROOT)
CIFAR_100 = absent(PROJECT, "deprl", "cifar100", "record")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_up_data.summaries(PROJECT, tmp_path_factory.mktemp("made"))


@pytest.fixture
def context(made, tmp_path, monkeypatch):
    """What an artifact is drawn from."""
    monkeypatch.setenv(data_sets.FOLDER, str(tmp_path))
    made_up_data.pretend_that_data_are_here(tmp_path)
    return lambda name: context_of(PROJECT, "deprl", name, made_up_data.SCALE, made)


def rows(table):
    """The sections' titles and rows."""
    return [line for section in table.sections for line in (section.title, *section.rows)]


def test_table_1_has_three_moments_the_papers_numbers_and_the_reason_for_what_is_missing(context):
    table = drawn(context("table1"))
    assert f"CIFAR-100: {CIFAR_100}" in rows(table)
    assert ["0.1", "DePRL", "–", "–", "–", "60.72 ± 0.2"] in [line[:6] for line in rows(table)]
    data = table.data
    row = data[(data["experiment"] == "fashion_mnist") & (data["variant"] == "deprl_ring")
               & (data["pi"] == 0.3) & (data["metric"] == "accuracy_after_mixing")]  # fmt: skip
    assert row["paper"].tolist() == [92.81]
    assert row["seeds"].tolist() == [3]
    np.testing.assert_allclose(row["deviation"], row["se"] * np.sqrt(3), rtol=1e-6)
    assert set(data["metric"]) == {
        f"accuracy_{moment}" for moment in ("after_mixing", "before_mixing", "mean_model")
    }  # fmt: skip


def test_table_2_is_of_new_workers_after_training_at_one_pi(context, made):
    data = drawn(context("table2")).data
    row = data[(data["experiment"] == "hapt") & (data["variant"] == "deprl_fc")
               & (data["pi"] == 0.5)]  # fmt: skip
    summary = read_summary(made, "deprl", "hapt")
    own = summary.final("deprl_fc_pi=0.3", "newcomers_accuracy_0.5")
    assert row["mean"].tolist() == [pytest.approx(own.mean())]


def test_missing_data_are_said_in_the_table_with_what_to_do(context, tmp_path):
    (tmp_path / "cifar10.npz").unlink()
    reason = "CIFAR-10: CIFAR-10 is not here (bring it: pfedrl data fetch cifar10)"
    assert reason in rows(drawn(context("table1")))


def test_table_9_has_steps_beside_the_papers_seconds(context):
    table = drawn(context("table9"))
    row = "32 | DePRL | – | 54.94 | – | – | – | 149.8 | 4.02 | – | – | 47.5 | 7.01"
    assert row.split(" | ") in rows(table)
    data = table.data
    ours = data[(data["experiment"] == "speedup_hapt") & (data["variant"] == "deprl")]
    assert ours["convergence_steps"].is_monotonic_decreasing


def test_figure_4_gives_the_exponent_that_was_made_up(context):
    data = drawn(context("figure4")).data
    assert set(data["at"]) == {1, 4, 8, 16, 32}
    np.testing.assert_allclose(data["exponent"], 0.7, atol=0.05)
    assert (data[data["at"] == 1]["geometric_mean"] == 1).all()


@pytest.mark.parametrize("name", ["figure2", "figure4", "figure7", "figure8", "figure11"])
def test_panels_of_missing_experiments_are_left_out_and_said(context, name):
    made = context(name)
    panels = set(drawn(made).data["panel"])
    assert panels and not any(panel.startswith(("CIFAR-100", "HARBox")) for panel in panels)
    assert CIFAR_100 in made.caption()


def test_figure_3_has_a_row_of_maps_for_each_data_set(context):
    data = drawn(context("figure3")).data
    assert set(data["source"]) == {"fashion_mnist", "hapt"}
    assert data["agent"].max() == 32
    own = data[data["agent"] == data["other"]]
    np.testing.assert_allclose(own["cosine"], 1)


def test_the_partition_is_one_seeds_and_whole(context, made):
    data = drawn(context("partition")).data
    own = data[(data["experiment"] == "hapt") & (data["pi"] == 0.1) & (data["class"] == 2)]
    summary = read_summary(made, "deprl", "hapt")
    finals = summary.finals[summary.finals["agent"] >= 0]
    expected = finals[(finals["cell"] == "majority_class_pi=0.1") & (finals["seed"] == 0)
                      & (finals["metric"] == "samples_of_class_2")]  # fmt: skip
    assert own["worker"].tolist() == list(range(1, 33)), "counted as in Figure 3"
    assert own["samples"].tolist() == expected.sort_values("agent")["value"].tolist()


def test_a_sentence_is_judged_and_read_at_all_moments(made):
    page = PROJECT.paper("deprl")
    results = judge_all(Judge(page, {"hapt": read_summary(made, "deprl", "hapt")}))
    found = {result["id"]: result for result in results}
    sentence = found["table1_hapt_d_psgd"]
    assert sentence["badge"] == "open"  # 3 seeds decide nothing
    badges = {reading["id"]: reading["badge"] for reading in sentence["readings"]}
    assert badges == {"before_mixing": "open", "mean_model": "open"}
    assert found["table1_harbox_d_psgd"]["badge"] == "not run"
