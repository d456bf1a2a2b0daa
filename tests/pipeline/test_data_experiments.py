"""What experiments on data add to a page: settings for all variants, experiments that may be
missing, sentences about many cells, readings by metric."""

import pytest

from pfedrl.analysis.check import check_paper
from pfedrl.analysis.claims import evaluate
from pfedrl.envs.data import data_sets
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.claim import Ahead, Claim, Pair, Trend, Trends
from pfedrl.pipeline.paper import Artifact
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reading import Reading
from pfedrl.pipeline.served import absent, skipped
from tests.projects import AVERAGING, project
from tests.tiny import ROOT, every_short_run

REAL = Project.here(ROOT)


def test_settings_of_all_variants_reach_those_that_have_them_and_give_way_to_their_own(tmp_path):
    variants = {"qavg": {"learning_rate": 0.5, "decay": 0.1}, "random_policy": {},
                "short": {**AVERAGING, "algorithm": "qavg", "iterations": 8}}  # fmt: skip
    common = {"iterations": 32, "local_steps": 4}
    edits = {"experiments/e/variants": variants, "experiments/e/settings": common}
    made = project(tmp_path, edits=edits)
    found = {cell.variant: cell.runnable for cell in cells(made, "p", "e", None)}
    assert found["qavg"].iterations == 32
    assert found["short"].iterations == 8
    assert "iterations" not in type(found["random_policy"]).model_fields


def test_missing_data_skip_an_experiment_with_the_reason_and_break_no_check(tmp_path, monkeypatch):
    monkeypatch.setenv(data_sets.FOLDER, str(tmp_path))
    reason = "HAPT is not here (bring it: pfedrl data fetch hapt)"
    assert absent(REAL, "deprl", "hapt", "laptop") == reason
    assert absent(REAL, "deprl", "cifar10", "smoke") == "not run at the smoke scale"
    assert absent(REAL, "deprl", "clusters", "smoke") is None
    check_paper(REAL, "deprl")
    (tmp_path / "hapt.npz").touch()
    assert absent(REAL, "deprl", "hapt", "laptop") is None


def test_all_that_is_skipped_is_one_line_with_the_commands_that_supply_it(tmp_path, monkeypatch):
    monkeypatch.setenv(data_sets.FOLDER, str(tmp_path))
    named = {"deprl": ["hapt", "speedup_hapt", "harbox"], "qavg": []}
    said = skipped(REAL, named)
    assert said.startswith("Skipped: 3 experiments of DePRL, ") and "\n" not in said
    assert said.count("HAPT") == said.count("HARBox") == 1 and "CIFAR" not in said
    assert "`pfedrl data fetch`" in said and "`pfedrl data fetch NAME --folder FOLDER`" in said
    assert skipped(REAL, {"deprl": [], "qavg": []}) == ""


@pytest.mark.parametrize("scale", ["laptop", "paper", "record"])
def test_data_that_no_package_has_say_so_at_every_scale(tmp_path, monkeypatch, scale):
    monkeypatch.setenv(data_sets.FOLDER, str(tmp_path))
    reason = absent(REAL, "deprl", "speedup_harbox", scale)
    assert reason is not None and "HARBox cannot be downloaded" in reason
    assert reason.endswith("pfedrl data fetch harbox --folder FOLDER")


def test_a_claim_without_runs_says_why(tmp_path):
    results = evaluate(REAL, "deprl", "record", tmp_path, tmp_path / "claims.json")
    found = {result["id"]: result for result in results}
    assert found["figure9_cifar100"]["badge"] == "not run"
    assert "CIFAR-100 cannot be downloaded" in found["figure9_cifar100"]["comparisons"][0]["words"]


def test_an_artifact_is_drawn_without_what_it_may_miss_and_not_without_the_rest():
    made = Artifact(kind="table", title="t", draw="d", caption="c", experiments=["a", "b", "c"],
                    may_miss=["b", "c"])  # fmt: skip
    assert made.drawable(["a"]) and made.drawable(["a", "c"])
    assert not made.drawable(["b", "c"])
    all_may = made.model_copy(update={"may_miss": ["a", "b", "c"]})
    assert all_may.drawable(["b"]) and not all_may.drawable(["other"])


def test_ahead_is_a_comparison_for_each_pair_metric_and_point():
    written = Ahead(kind="ahead", experiment="e", metrics=["m", "n"], ahead={"a": ["b", "c"]},
                    points=["pi=0.1", "pi=0.5"])  # fmt: skip
    claim = Claim(id="x", words="w", where="h", test=written)
    assert len(claim.tests) == 8
    assert claim.tests[0] == Pair(
        experiment="e", metric="m", first="a_pi=0.1", second="b_pi=0.1", highest=True
    )
    unswept = Ahead(kind="ahead", experiment="e", metrics=["m"], ahead={"a": ["b"]})
    assert [test.first for test in unswept.expanded()] == ["a"]


def test_ahead_may_be_the_lower_and_of_single_agents():
    written = Ahead(kind="ahead", experiment="e", metrics=["m"], ahead={"a": ["b"]}, best="lowest",
                    agents=[1, 3], ends="round", factor=2, scale="log")  # fmt: skip
    shared = {"experiment": "e", "metric": "m", "first": "a", "second": "b", "ends": "round",
              "factor": 2, "scale": "log", "highest": False}  # fmt: skip
    assert list(written.expanded()) == [Pair(agent=agent, **shared) for agent in (1, 3)]


def test_a_trend_is_a_comparison_for_each_variant():
    shared = {"experiment": "e", "metric": "m", "along": "k", "direction": "falls", "points": [1]}
    written = Trends(kind="trend", variants=["a", "b"], **shared)
    claim = Claim(id="x", words="w", where="h", test=[written])
    assert claim.tests == [Trend(variant=v, **shared) for v in ("a", "b")]


def test_a_reading_may_be_another_metric_of_the_same_experiment():
    test = Pair(experiment="e", metric="m", first="a", second="b", highest=True)
    reading = Reading(id="r", words="w", metrics={"m": "other"})
    assert reading.of(test) == test.model_copy(update={"metric": "other"})
    other = Reading(id="r", words="w", experiments=["e"], variants={"v": {}})
    assert other.of(test).experiment == "e_r"
    assert Reading(id="r", words="w", metrics={"n": "other"}).of(test) == test


def test_every_sentence_about_accuracy_has_all_three_moments():
    page = REAL.paper("deprl")
    looked_at = [test for claim in page.claims for test in claim.tests
                 if getattr(test, "metric", "") == "accuracy_after_mixing"]  # fmt: skip
    assert looked_at
    for reading in page.readings:
        assert all(reading.of(test) != test for test in looked_at)


def test_printed_numbers_are_all_there_and_the_ring_stands_alike_in_both_tables():
    page = REAL.paper("deprl")
    counts = {name: len(page.artifacts[name].printed) for name in page.artifacts}
    tables = ("table1", "table2", "table7", "table8", "table9")
    assert [counts[name] for name in tables] == [108, 108, 84, 84, 32]
    for ring, server in (("table1", "table7"), ("table2", "table8")):
        known = {(r.experiment, r.variant, r.metric, r.at): (r.value, r.error)
                 for r in page.artifacts[ring].printed}  # fmt: skip
        same = [row for row in page.artifacts[server].printed if row.variant.endswith("_ring")]
        assert len(same) == 36
        for row in same:
            key = (row.experiment, row.variant, row.metric, row.at)
            assert known[key] == (row.value, row.error), key


def test_short_runs_need_no_data():
    for cell in every_short_run().values():
        assert getattr(cell.family, "data", "clusters") == "clusters"
