"""Profiles for clusters: what is asked of them is what the runs before took."""

from pathlib import Path

import pytest
import yaml

from pfedrl.pipeline.costs import (
    LONGEST,
    NEVER_RUN,
    SHORTEST,
    START_UP,
    UNKNOWN_MINUTES,
    Cost,
    bills,
    makespan,
    megabytes,
    minutes,
    nodes,
    sentences,
)
from tests.tiny import tiny_project
from tests.workflow.conftest import ROOT, Tiny


@pytest.mark.parametrize("name", ["slurm", "kubernetes"])
def test_a_profile_passes_a_dry_run(new_project: Tiny, name: str):
    pytest.importorskip(f"snakemake_executor_plugin_{name}", reason="pip install '.[cluster]'")
    output = new_project.make("--dry-run", "--workflow-profile", f"profiles/{name}")
    assert "run " in output and "10" in output


def test_time_and_memory_are_asked_for_with_room_and_within_bounds():
    hour = Cost(seconds=3600, memory_mb=1000, disk_mb=1)
    assert minutes(hour) == 181 and minutes(hour, attempt=2) == 361
    assert minutes(Cost(1, 1, 1)) == SHORTEST and minutes(Cost(1e9, 1, 1)) == LONGEST
    assert minutes(None) == UNKNOWN_MINUTES
    assert megabytes(hour) == 1500 and megabytes(hour, attempt=2) == 3000


def test_every_run_of_the_paper_scale_ends_within_its_retries(tmp_path: Path):
    profile = yaml.safe_load((ROOT / "profiles/slurm/config.yaml").read_text())
    tries = 1 + profile["retries"]  # each goes on from the checkpoint of the one before
    found = bills(tiny_project(tmp_path, published=True), "paper")
    longest = max(cost.seconds for bill in found.values() for cost in bill.costs)
    assert longest < tries * 60 * LONGEST / 1.5, "on a processor that is slower by half"


def test_nodes_that_are_done_in_time():
    jobs = [600.0 - START_UP] * 8
    assert makespan(jobs, 4) == 1200
    assert nodes(jobs, cores=2, within=1200) == 2
    assert nodes(jobs, cores=2, within=600) == 4


@pytest.mark.parametrize(
    ("costs", "uncounted", "hours", "said"),
    [
        ([], {NEVER_RUN: 3}, 24.0,
         ["3 runs are not counted: no similar run has been measured here."]),
        ([Cost(3600, 512, 0.5)] * 4, {}, 24.0,
         ["4 runs take about 4.0 h of core time, 2.0 h on 2 cores; the longest 1.0 h. "
          "Up to 512 MB of memory per job, 2 MB of disk.",
          "Nodes of 2 cores needed to finish within 24.0 h: 1."]),
        ([Cost(0, 1, 1)] * 12, {}, 24.0,  # to start is work
         ["12 runs take about 1.0 min of core time, 30 s on 2 cores; the longest 0 s. "
          "Up to 1 MB of memory per job, 12 MB of disk.",
          "Nodes of 2 cores needed to finish within 24.0 h: 1."]),
        ([Cost(3600 - START_UP, 512, 0.5)] * 4, {}, 0.5,
         ["4 runs take about 4.0 h of core time, 2.0 h on 2 cores; the longest 59.9 min. "
          "Up to 512 MB of memory per job, 2 MB of disk.",
          "The longest run alone takes more than 0.5 h, on any number of nodes.",
          "Nodes of 2 cores needed to finish within 1.0 h: 2."]),
    ],
)  # fmt: skip
def test_a_scale_is_priced_in_sentences(costs, uncounted, hours, said):
    assert list(sentences(costs, uncounted, 2, hours)) == said
