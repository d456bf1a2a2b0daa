import json
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from pfedrl.analysis.drawing import Context, context_of, draw, drawn
from pfedrl.analysis.summaries import read_summary
from pfedrl.core.errors import PfedrlError
from tests.analysis import fake

COMPARISON = "comparison_table1_windy_cliffs"
ARTIFACTS = ("table1", "figure2", "generalisation", "sweep", "theory", COMPARISON)


@pytest.mark.parametrize("name", ARTIFACTS)
def test_every_file_is_written_the_same_each_time_and_says_how_to_rebuild_it(
    project, made, tmp_path, name
):
    again = draw(project, "qavg", name, "laptop", made, tmp_path / "again")
    kind = project.paper("qavg").artifacts[name].kind
    written = draw(project, "qavg", name, "laptop", made, tmp_path)
    ends = {
        "table": ["csv", "md", "tex", "json"],
        "figure": ["pdf", "png", "csv", "json"],
        "comparison": ["csv", "md", "pdf", "png", "json"],
    }[kind]
    assert [path.name for path in written] == [f"{name}.{end}" for end in ends]
    assert all(path.stat().st_size > 0 for path in written)
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    known = json.loads((tmp_path / f"{name}.json").read_text())
    assert known["command"] == f"snakemake --cores all qavg_{name}"
    assert known["caption"].endswith("Scale laptop, 200 seeds.")
    counts = known["run_files"].values()  # experiments may share a run
    assert max(counts) <= len(known["runs"]) <= sum(counts)
    assert known["commits"] == ["0123456789ab"]
    assert known["origins"].keys() == known["seeds"].keys()
    for found in known["origins"].values():
        (origin,) = found
        assert (origin["seeds"], origin["processor"]) == ([0, 200], "AMD EPYC")


def test_another_scale_is_named_in_the_command(project, made, tmp_path):
    draw(project, "qavg", "theory", "smoke", made, tmp_path)
    known = json.loads((tmp_path / "theory.json").read_text())
    assert known["command"].endswith("qavg_theory --config scale=smoke")
    assert known["caption"].endswith("Scale smoke, 200 seeds.")


def test_budgets_are_called_as_the_scale_says_or_by_its_name(project):
    def at(*called):
        found = {str(i): SimpleNamespace(facts={"budget": name}) for i, name in enumerate(called)}
        paper = project.paper("qavg")
        return Context(paper, "table1", paper.artifacts["table1"], "record", found, {}).ran_at()

    assert at("paper", "laptop", "paper") == "laptop and paper"
    assert at("") == "record"


def test_table1_holds_the_summarys_numbers_and_the_papers(project, made, tmp_path):
    draw(project, "qavg", "table1", "laptop", made, tmp_path)
    rows = pd.read_csv(tmp_path / "table1.csv")
    assert len(rows) == 2 * 5 * 5  # families, kappas, algorithms with floor and ceiling
    chosen = (rows["variant"] == "soft_pavg") & (rows["kappa"] == 0.4)
    row = rows[chosen & (rows["experiment"] == "table1_windy_cliffs")].iloc[0]
    summary = read_summary(made, "qavg", "table1_windy_cliffs")
    last = summary.last("soft_pavg_kappa=0.4", "centre_value")
    assert (row["mean"], row["se"]) == pytest.approx((last["mean"], last["se"]))
    assert row["paper_mean"] == pytest.approx(133.9 - 2 * 0.31)
    assert f"| {133.9 - 2 * 0.31:.2f} ± 0.05 |" in (tmp_path / "table1.md").read_text()
    assert f"{last['mean']:.2f} ± {last['se']:.2f}" in (tmp_path / "table1.md").read_text()
    controls = rows[rows["variant"].isin(fake.CONTROLS)]
    assert controls["paper_mean"].isna().all()


def test_figure2_keeps_what_both_panels_show(project, made):
    rows = drawn(context_of(project, "qavg", "figure2", "laptop", made)).data
    left, right = (rows[rows["panel"] == side] for side in ("left", "right"))
    assert len(left) == 3 * 7
    assert left["paper_mean"].notna().sum() == 3 * 6  # the paper has no E = 32
    assert set(right["variant"]) == {"qavg"}
    assert sorted(right["local_steps"].unique()) == fake.STEPS
    curve = read_summary(made, "qavg", "figure2_qavg").curve("qavg_local_steps=8", "objective")
    own = right[right["local_steps"] == 8]
    np.testing.assert_allclose(own["mean"], curve["mean"])
    assert (own["low"] < own["mean"]).all() and (own["mean"] < own["high"]).all()


def test_a_sweep_is_drawn_with_a_line_for_each_variant(project, made):
    rows = drawn(context_of(project, "qavg", "sweep", "laptop", made)).data
    summary = read_summary(made, "qavg", "table1_random_mdps")
    assert set(rows["variant"]) == {*fake.ALGORITHMS, *fake.CONTROLS}
    for variant, own in rows.groupby("variant"):
        np.testing.assert_allclose(own["at"], fake.KAPPAS)
        cells = summary.points_along(variant, "kappa").values()
        means = [summary.last(cell, "centre_value")["mean"] for cell in cells]
        np.testing.assert_allclose(own["mean"], means)


def test_generalisation_gap_is_by_seed(project, made):
    rows = drawn(context_of(project, "qavg", "generalisation", "laptop", made)).data
    assert len(rows) == 2 * (3 * 3 + 2)  # families; three schedules of three algorithms, controls
    chosen = (rows["cell"] == "qavg_local_steps=inf") & (rows["schedule"] == "Baseline")
    row = rows[chosen & (rows["experiment"] == "generalisation_windy_cliffs")].iloc[0]
    summary = read_summary(made, "qavg", "generalisation_windy_cliffs")
    training, held_out = (
        summary.final("qavg_local_steps=inf", f"baseline_{name}")
        for name in ("objective", "held_out_objective")
    )
    gap = training - held_out
    assert row["gap_mean"] == pytest.approx(gap.mean())
    assert row["gap_se"] == pytest.approx(gap.std(ddof=1) / np.sqrt(len(gap)))


def test_theory_table_counts_instances(project, made):
    rows = drawn(context_of(project, "qavg", "theory", "laptop", made)).data.set_index("statement")
    margins = read_summary(made, "qavg", "theory").final("lemma1", "margin")
    assert rows.loc["lemma1", "holding"] == (margins >= 0).sum()
    assert rows.loc["lemma1", "tightest"] == pytest.approx(margins.min())
    assert rows.loc["lemma1", "counterexample_size"] == 2
    assert np.isnan(rows.loc["theorem1", "counterexample_seed"])


def test_an_artifact_that_does_not_exist_gets_the_nearest(project, made, tmp_path):
    with pytest.raises(PfedrlError, match="Did you mean 'figure2'"):
        draw(project, "qavg", "figure", "laptop", made, tmp_path)


def test_fonts_are_embedded_no_date_is_written_and_no_setting_of_matplotlib_stays(
    project, made, tmp_path
):
    before = dict(matplotlib.rcParams)
    draw(project, "qavg", "figure2", "laptop", made, tmp_path)
    assert dict(matplotlib.rcParams) == before
    text = (tmp_path / "figure2.pdf").read_bytes()
    assert b"/FontFile2" in text and b"/Type3" not in text
    assert b"CreationDate" not in text
