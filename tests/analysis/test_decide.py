"""Buying evidence: in which order, not beyond the time, and that it decides."""

import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from pfedrl.analysis.claims import evaluate
from pfedrl.analysis.decide import decide, run_jobs, spend
from pfedrl.analysis.plan import Ledger, read_ledger
from pfedrl.analysis.redraw import judge_published
from pfedrl.analysis.summaries import paths
from pfedrl.analysis.summarise import summarise
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.artifact import read_facts, read_run
from pfedrl.pipeline.cells import cells, find_cell, parse_block, run_path
from pfedrl.pipeline.costs import START_UP
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import publish, published_runs, scale_of
from tests.analysis.ledgers import claim, ledger, measured, place
from tests.projects import write_paper, write_scale, write_yaml
from tests.tiny import ROOT

JUDGING = 10.0  # seconds, of the fake clock


class Market:
    """Jobs that take as long as they should, times the pace; claims are decided as hoped."""

    def __init__(self, found: Ledger, pace: float = 1.0) -> None:
        self.ledger, self.pace, self.now = found, pace, 0.0
        self.bought: list[tuple[str, int]] = []
        self.said: list[str] = []

    def judge(self, bought):
        self.now += JUDGING
        for name, upto in (bought or {}).items():
            old = self.ledger.measured[name]
            self.ledger = Ledger(
                self.ledger.verdicts
                | {(c.paper, c.id): "reproduced" for c in self.ledger.open if c.needs == bought},
                tuple(c for c in self.ledger.open if c.needs != bought),
                self.ledger.measured | {name: replace(old, seeds=range(upto))},
            )
        return self.ledger

    def buy(self, jobs, end):
        unhurried = {job.place: self.ledger.measured[job.place] for job in jobs}
        run = [job for job in jobs if not job.taken]
        seconds = sum(unhurried[job.place].rates[job.cell] * len(job.seeds) for job in run)
        self.now += (seconds + START_UP * len(run)) * self.pace
        self.bought += [(job.place[1], job.seeds.stop) for job in jobs]
        return self.now <= end

    def spend(self, seconds: float):
        return spend(seconds, 1, self.judge, self.buy, self.said.append, lambda: self.now)


def market(pace: float = 1.0) -> Market:
    return Market(
        ledger(
            {"popular": measured(10, 100.0), "cheap": measured(10, 50.0),
             "dear": measured(10, 1e6)},
            claim("a", popular=20), claim("b", popular=20), claim("c", popular=20),
            claim("d", cheap=20), claim("e", dear=20),
        ),
        pace,
    )  # fmt: skip


def test_what_decides_most_an_hour_is_bought_first_and_what_never_fits_not_at_all():
    shop = market()
    bill = shop.spend(3600.0)
    assert shop.bought == [("popular", 20), ("cheap", 20)]
    assert bill.lines() == [f"p/{name}: undecided -> reproduced" for name in "abcd"]
    assert "the shortest extension takes" in shop.said[-1]


def test_it_stops_in_time_with_the_last_judging():
    for seconds in (60.0, 530.0, 1030.0, 1100.0, 1600.0):
        shop = market()
        shop.spend(seconds)
        assert shop.now <= seconds
        assert len(shop.bought) == {60.0: 0, 1600.0: 2}.get(seconds, 1)


def test_on_a_slow_machine_the_next_jobs_are_taken_to_be_slow():
    shop = market(pace=3.0)
    shop.spend(3010.0 + 3 * START_UP + 1000.0)  # 500 s of work would seem to fit, and take 1,500
    assert shop.bought == [("popular", 20)]


def test_rows_that_are_all_taken_over_say_nothing_of_the_pace():
    shop = market(pace=3.0)
    name = place("cheap")
    found = shop.ledger.measured[name]
    twins = {cell: {Path("run"): range(20)} for cell in found.rates}
    shop.ledger.measured[name] = replace(found, twins=twins)
    shop.spend(3010.0 + 3 * START_UP + 1000.0)
    assert shop.bought == [("cheap", 20), ("popular", 20)]


def test_claims_for_which_seeds_were_bought_in_vain_are_named():
    shop = market()
    before = shop.ledger
    bill = shop.spend(1100.0)
    bill.after = before
    assert bill.lines() == ["No verdict changed."] + [f"p/{n}: still undecided" for n in "abc"]


def small_project(root: Path, **budget) -> Project:
    """A small paper with one clear claim and one without an effect, its laptop scale published."""
    shutil.copytree(ROOT / "envs", root / "envs")
    greater = {"kind": "greater", "experiment": "tables", "metric": "objective"}
    write_paper(
        root, "p",
        {
            "title": "t", "reference": "r",
            "experiments": {
                "tables": {
                    "title": "t", "family": {"name": "random_mdp"},
                    "variants": {
                        "qavg": {"learning_rate": 0.01, "decay": 0.95, "iterations": 64,
                                 "local_steps": 4},
                        "random_policy": {},
                    },
                }
            },
            "claims": [
                {"id": "learns", "words": "w", "where": "s",
                 "test": greater | {"greater": "qavg", "smaller": "random_policy"}},
                {"id": "equal", "words": "w", "where": "s",
                 "test": greater | {"greater": "qavg", "smaller": "qavg"}},
            ],
        },
    )  # fmt: skip
    whole = {"p": {"tables": {"seeds": 20, "block": 10}}}
    for scale, papers in (("paper", whole), ("laptop", {"p": {"tables": budget}})):
        write_scale(root, scale, {"scale": scale, "description": "d", "verdicts": True,
                                  "papers": papers})  # fmt: skip
    project = Project.here(root)
    for path, cell, block in laptop_runs(project):
        run(cell, parse_block(block), path)
    list(publish(project, "laptop", ["p"]))
    return project


def laptop_runs(project: Project):
    for cell in cells(project, "p", "tables", "laptop"):
        for block in cell.blocks():
            yield project.root / run_path("laptop", cell, block), cell, block


@pytest.fixture(scope="module")
def ten_seeds(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("ten")
    small_project(folder, seeds=10, block=5)
    return folder


@pytest.fixture
def published(ten_seeds, tmp_path, monkeypatch) -> Project:
    """Ten seeds, as long as the paper has it."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    shutil.copytree(ten_seeds, tmp_path, dirs_exist_ok=True)
    return Project.here(tmp_path)


def test_a_claim_undecided_before_is_decided_by_the_runs_it_chose(published):
    said: list[str] = []
    bill = decide(published, 1.0, 2, said.append)
    assert bill.before.verdicts == {("p", "learns"): "undecided", ("p", "equal"): "undecided"}
    assert "p/learns: undecided -> reproduced" in said
    assert not any("version of the code" in line for line in said)
    assert bill.after.verdicts["p", "equal"] == "undecided"
    for cell in cells(published, "p", "tables", "laptop"):
        names = sorted(path.name for path in published_runs(published.root, "laptop", cell))
        assert names == ["0-5.parquet", "10-15.parquet", "15-20.parquet", "5-10.parquet"]


def test_the_plan_says_why_no_seeds_would_decide(published):
    judge_published(published)
    found = {c.id: c for c in read_ledger(published, "published").open}
    assert found["learns"].needs == {place("tables"): 20}
    assert not found["equal"].needs
    assert "no feasible number of similar seeds" in found["equal"].reason


def test_at_a_shorter_budget_no_seeds_are_bought_but_the_papers_own_budget(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    project = small_project(tmp_path, seeds=20, block=20, algorithm={"iterations": 16})
    judge_published(project)
    ledger = read_ledger(project, "published")
    assert ledger.verdicts == {("p", "learns"): "leans for", ("p", "equal"): "undecided"}
    assert all("16 of 64 iterations" in c.reason for c in ledger.open)
    (purchase,) = ledger.purchases()
    assert purchase.whole and [claim.id for claim in purchase.claims] == ["learns"]
    assert {(job.scale, job.seeds) for job in purchase.jobs} == {
        ("paper", range(10)), ("paper", range(10, 20))
    }  # fmt: skip
    said: list[str] = []
    decide(project, 1.0, 2, said.append)
    assert any("p/tables to 20 seeds at the paper's own budget" in line for line in said)
    assert "p/learns: leans for -> reproduced" in said
    assert scale_of(Project.here(tmp_path), "p", "tables") == "paper"


def test_the_plan_of_a_scale_is_that_of_its_own_runs(published):
    folder = published.root / "results" / "laptop"
    runs = [path for path, *_ in laptop_runs(published)]
    summarise(runs, *paths(folder / "summaries", "p", "tables"))
    evaluate(published, "p", "laptop", folder / "summaries", folder / "claims" / "p.json")
    found = read_ledger(published, "laptop")
    assert found.purchases()[0].upto == {place("tables"): 20}
    spent = [read_facts(path)["cpu_seconds"] for path in runs]
    assert found.purchases()[0].core_hours == pytest.approx(sum(spent) / 3600)  # as many again


def test_without_verdicts_there_is_nothing_to_plan(published):
    with pytest.raises(PfedrlError, match="no verdicts yet"):
        read_ledger(published, "laptop")


def test_verdicts_that_cannot_be_read_are_named(published):
    path = published.root / "results" / "laptop" / "claims" / "p.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{")
    with pytest.raises(PfedrlError, match=r"p\.json: cannot be read .*Rebuild it"):
        read_ledger(published, "laptop")


def test_without_time_nothing_is_run(published):
    said: list[str] = []
    assert not decide(published, 0.0, 2, said.append).bought
    assert said[-1] == "No verdict changed."


def test_runs_of_an_unfinished_purchase_are_used(published):
    cell = next(iter(cells(published, "p", "tables", "laptop")))
    path = published.root / run_path("laptop", cell, "10-15")
    run(cell, range(10, 15), path)
    written = path.stat().st_mtime_ns
    said: list[str] = []
    assert decide(published, 1.0, 2, said.append).bought
    assert path.stat().st_mtime_ns == written
    assert sum(line.startswith("  ") for line in said) == 3


def test_seeds_that_another_experiment_has_are_taken_over(published):
    root = published.root
    experiments = yaml.safe_load((root / "workflow/papers/p/experiments.yaml").read_text())
    controls = {**experiments["tables"], "variants": {"random_policy": {}}}
    write_yaml(root / "workflow/papers/p/experiments.yaml", {"controls": controls, **experiments})
    scale = yaml.safe_load((root / "workflow/scales/laptop.yaml").read_text())
    scale["papers"]["p"]["controls"] = {"seeds": 20, "block": 20}
    write_yaml(root / "workflow/scales/laptop.yaml", scale)
    project = Project.here(root)
    owner = next(iter(cells(project, "p", "controls", "laptop")))
    run(owner, range(20), root / run_path("laptop", owner, "0-20"))
    list(publish(project, "laptop", ["p"]))
    said: list[str] = []
    assert decide(project, 1.0, 2, said.append).bought
    assert {line.split(": ")[1] for line in said if line.startswith("  ")} == {
        f"p/tables/qavg, seeds {block}" for block in ("10-15", "15-20")
    }
    cell = find_cell(project, "p", "tables", "random_policy", "laptop")
    taken = [read_run(path) for path in published_runs(root, "laptop", cell)]
    assert [facts.get("taken_from") for _, facts in taken] == [None] * 2 + [
        "controls/random_policy"
    ] * 2
    ((whole, _),) = (read_run(path) for path in published_runs(root, "laptop", owner))
    assert sorted(pa.concat_tables([rows for rows, _ in taken])["value"].to_pylist()) == sorted(
        whole["value"].to_pylist()
    )


def test_seeds_of_other_code_are_said_to_be_so(published, monkeypatch):
    said: list[str] = []
    monkeypatch.setattr("pfedrl.analysis.decide.run_code", lambda cell: "edited since")
    decide(published, 1.0, 2, said.append)
    assert sum("pfedrl verify --published p tables" in line for line in said) == 1


def test_what_runs_when_the_time_is_over_is_stopped_and_not_published(published):
    cell = next(iter(cells(published, "p", "tables", "laptop")))
    job = measured(10, 1.0).jobs(place("tables"), 20)[0]._replace(cell=cell.name)
    ticks = iter([0.0, 1e6])  # when it is begun, and when it is looked at next
    assert not run_jobs(published, [job], 1, 100.0, print, lambda: next(ticks))
    assert not (published.root / run_path("laptop", cell, "10-20")).exists()


def test_a_run_that_would_not_end_in_time_is_not_begun(published):
    jobs = measured(10, 50.0).jobs(place("tables"), 20)
    assert not run_jobs(published, jobs, 1, 100.0, print, lambda: 0.0)
    assert not (published.root / "results/laptop/runs/p/tables/cell0").exists()


def test_a_run_that_fails_is_named_with_its_reason(published):
    jobs = measured(10, 1.0).jobs(place("tables"), 20)
    with pytest.raises(PfedrlError, match=r"p/tables/cell0, seeds 10-20 failed: .*cell 'cell0'"):
        run_jobs(published, jobs, 1, 100.0, print, lambda: 0.0)


def test_of_two_runs_that_fail_at_once_the_first_is_named_and_no_other_goes_on(
    published, monkeypatch
):
    started = []

    def start(project, job, log):
        with log.open("wb") as errors:
            script = "echo why >&2; exit 2" if len(started) < 2 else "sleep 600"
            process = subprocess.Popen(["sh", "-c", script], stderr=errors, start_new_session=True)
        started.append(process)
        if len(started) < 3:
            process.wait()
        return process

    monkeypatch.setattr("pfedrl.analysis.decide._start", start)
    jobs = measured(10, 1.0).jobs(place("tables"), 20) * 3
    with pytest.raises(PfedrlError, match="p/tables/cell0, seeds 10-20 failed: why"):
        run_jobs(published, jobs, 3, 100.0, print, lambda: 0.0)
    assert [process.returncode for process in started] == [2, 2, -signal.SIGTERM]
