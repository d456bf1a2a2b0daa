"""Published runs: what is added, what is refused, and that the page is made from them alone."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from pfedrl.analysis.redraw import redraw
from pfedrl.pipeline.artifact import read_facts, read_run
from pfedrl.pipeline.published import (
    FOLDER,
    publish,
    published_runs,
    scale_of,
    shared_runs,
    waiting,
)

from pfedrl.analysis.summaries import read_summary
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.cells import cells, run_path
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

EXPERIMENT = ("pfedrl_rep", "figure2")
KEYS = ["metric", "axis", "agent", "seed", "at"]


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A project in which one experiment has been run, at a laptop scale of a few seeds."""
    for folder in ("workflow", "envs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    scales = tmp_path / "workflow" / "scales"
    tiny = (scales / "tiny.yaml").read_text().replace("scale: tiny", "scale: laptop")
    (scales / "laptop.yaml").write_text(tiny)
    monkeypatch.chdir(tmp_path)
    project = Project.here(tmp_path)
    for cell in cells(project, *EXPERIMENT, "laptop"):
        run(cell, range(4), tmp_path / run_path("laptop", cell, "0-4"))
    return project


def first_cell(project):
    return next(iter(cells(project, *EXPERIMENT, "laptop")))


def test_finished_runs_are_added_once_and_keep_their_numbers(finished):
    added = list(publish(finished, "laptop", ["pfedrl_rep"]))
    assert len(added) == len(list(cells(finished, *EXPERIMENT, "laptop")))
    assert not list(publish(finished, "laptop", ["pfedrl_rep"]))
    cell = first_cell(finished)
    ours, facts = read_run(finished.root / run_path("laptop", cell, "0-4"))
    kept, kept_facts = read_run(published_runs(finished.root, "laptop", cell)[0])
    assert kept_facts == facts
    ours, kept = (
        table.to_pandas().astype({"value": np.float32}).sort_values(KEYS, ignore_index=True)
        for table in (ours, kept)
    )
    pd.testing.assert_frame_equal(ours, kept, check_exact=True, check_categorical=False)


def test_the_points_of_a_curve_are_kept_side_by_side(finished):
    list(publish(finished, "laptop", ["pfedrl_rep"]))
    kept, _ = read_run(published_runs(finished.root, "laptop", first_cell(finished))[0])
    rows = kept.to_pandas()
    curves = rows.groupby(["metric", "axis", "agent", "seed"], observed=True)
    for _, curve in curves:
        assert curve["at"].is_monotonic_increasing
        assert len(curve) == curve.index[-1] - curve.index[0] + 1


def test_more_seeds_are_added_and_seeds_are_never_counted_twice(finished):
    list(publish(finished, "laptop", ["pfedrl_rep"]))
    cell = first_cell(finished)
    run(cell, range(4, 6), finished.root / run_path("laptop", cell, "4-6"))
    assert [path.name for path in publish(finished, "laptop", ["pfedrl_rep"])] == ["4-6.parquet"]
    run(cell, range(5, 7), finished.root / run_path("laptop", cell, "5-7"))
    with pytest.raises(PfedrlError, match=r"shares seeds .*git rm .*4-6.*: rm .*5-7"):
        list(publish(finished, "laptop", ["pfedrl_rep"]))


def test_seeds_wait_until_all_cells_have_them(finished):
    first, *others = cells(finished, *EXPERIMENT, "laptop")

    def published_seeds(*runs):
        for cell, seeds in runs:
            name = f"{seeds.start}-{seeds.stop}"
            run(cell, seeds, finished.root / run_path("laptop", cell, name))
        list(publish(finished, "laptop", ["pfedrl_rep"]))
        runs = shared_runs(finished, *EXPERIMENT, "laptop").values()
        (seeds,) = {
            tuple(seed for path in paths for seed in range(*read_facts(path)["seeds"]))
            for paths in runs
        }
        return seeds

    assert published_seeds() == (0, 1, 2, 3)
    assert published_seeds((first, range(4, 6)), (first, range(6, 8))) == (0, 1, 2, 3)
    (words,) = waiting(finished, "laptop", ["pfedrl_rep"])
    behind = ", ".join(cell.name for cell in others)
    assert words.startswith(f"pfedrl_rep/figure2: new seeds of {first.name} are not used yet")
    assert f"seeds of {behind} " in words
    # a block of one cell that is half there in another waits as a whole
    assert published_seeds(*((cell, range(4, 7)) for cell in others)) == (0, 1, 2, 3)
    assert published_seeds(*((cell, range(7, 8)) for cell in others)) == tuple(range(8))
    assert not list(waiting(finished, "laptop", ["pfedrl_rep"]))


def test_runs_of_other_settings_are_never_mixed_in(finished):
    list(publish(finished, "laptop", ["pfedrl_rep"]))
    scale = finished.root / "workflow" / "scales" / "laptop.yaml"
    text = scale.read_text()
    scale.write_text(text.replace("training_rounds: 10}}", "training_rounds: 12}}", 1))
    changed = Project.here(finished.root)
    assert not list(publish(changed, "laptop", ["pfedrl_rep"]))
    with pytest.raises(PfedrlError, match="have changed since this run"):
        scale_of(changed, *EXPERIMENT)


def test_the_page_is_drawn_from_published_runs_alone(finished):
    list(publish(finished, "laptop", ["pfedrl_rep"]))
    shutil.rmtree(finished.root / "results" / "laptop")
    redraw(Project.here(finished.root), finished.root / "paper_figures", finished.root / FOLDER)
    assert (finished.root / "paper_figures" / "pfedrl_rep" / "figure2.png").exists()
    assert (finished.root / "paper_figures" / "index.html").exists()
    summary = read_summary(finished.root / "results/published/summaries", *EXPERIMENT)
    assert summary.seeds == range(4)


def test_after_an_error_no_more_is_begun(tmp_path, monkeypatch):
    begun, cancelled = [], threading.Event()

    def summarise(*job):
        begun.append(job)
        if len(begun) == 1:
            raise PfedrlError("broken")
        cancelled.wait()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait=True, *, cancel_futures=False):
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            cancelled.set()
            super().shutdown(wait=wait)

    monkeypatch.setattr("pfedrl.analysis.redraw.ProcessPoolExecutor", lambda *_: Pool(1))
    monkeypatch.setattr("pfedrl.analysis.redraw._summarise", summarise)
    monkeypatch.setattr("pfedrl.analysis.redraw._published", lambda project: project.scale("tiny"))
    with pytest.raises(PfedrlError, match="broken"):
        redraw(Project.here(ROOT), tmp_path, tmp_path)
    assert len(begun) <= 2, "the one that failed, and one that the pool may have begun meanwhile"


def test_nothing_published_is_one_clear_error(tmp_path):
    for folder in ("workflow", "envs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    with pytest.raises(PfedrlError, match="nothing is published"):
        redraw(Project.here(tmp_path), tmp_path / "paper_figures", tmp_path)
