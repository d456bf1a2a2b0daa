"""A tiny project, a copy of this one with a paper of five cells, on which real DAGs run."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from pfedrl.pipeline.cells import find_cell
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import run_path
from tests.processes import call, copy_tree, once
from tests.projects import write_paper

ROOT = Path(__file__).parents[2]
FIGURES = "results/laptop/paper_figures"
AVERAGING = {"iterations": 16, "local_steps": 4, "learning_rate": 0.01, "decay": 0.9}
PAPER = {
    "title": "A paper for tests",
    "reference": "none",
    "experiments": {
        "random": {
            "title": "RandomMDPs",
            "family": {"name": "random_mdp", "around_centre": True},
            "sweep": {"family.kappa": [0, 0.5]},
            "variants": {"qavg": AVERAGING, "random_policy": {}},
        },
        "windy": {
            "title": "WindyCliffs",
            "family": {"name": "windy_cliff"},
            "variants": {"qavg": AVERAGING},
        },
    },
    "artifacts": {
        "table1": {
            "kind": "table", "title": "A table", "draw": "tiny_table", "experiments": ["random"],
            "caption": "Numbers.",
        },
        "figure1": {
            "kind": "figure", "title": "A figure", "draw": "tiny_figure", "experiments": ["windy"],
            "caption": "Lines.",
        },
    },
}  # fmt: skip
TABLE = """
from pfedrl.analysis.tables import Column, Section, Table


def draw(context):
    data = context.summaries["random"].statistics[["cell", "metric", "mean", "se"]]
    rows = [[str(value) for value in row] for row in data.itertuples(index=False)]
    return Table([Column(name) for name in data], [Section("", rows)], data)
"""
FIGURE = """
from matplotlib.figure import Figure

from pfedrl.analysis.drawing import Drawing


def draw(context):
    figure = Figure()
    data = context.summaries["windy"].statistics[["cell", "mean"]]
    figure.subplots().plot(data["mean"].to_numpy())
    return Drawing(figure, data)
"""

LOOP = "pfedrl/stack/loop.py"
PROGRESS = "        control.progress(done, rounds or done)\n"
WAIT = "        _wait_at_the_gate(done)\n"
GATE = """

def _wait_at_the_gate(done):
    import time
    from pathlib import Path

    with Path("rounds").open("a") as file:
        file.write(f"{done}\\n")
    while done == 3 and not Path("go").exists():
        time.sleep(0.05)
"""  # no run ends before it was struck, however busy or idle the machine


def scale(seeds: int = 8, **changes: object) -> dict:
    budget = {"seeds": seeds, "block": 4}
    made = {"scale": "laptop", "description": "tiny", "verdicts": True}
    return {**made, "papers": {"tiny": {"default": budget}}, **changes}


@dataclass(frozen=True)
class Tiny:
    """The tiny project on disk."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)  # of the environment

    def write(self, name: str, values: dict | str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(values if isinstance(values, str) else yaml.safe_dump(values))

    def append(self, name: str, text: str = "\nEDITED = True\n") -> None:
        time.sleep(0.01)  # a later time of change than any output's
        with (self.root / name).open("a") as file:
            file.write(text)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert text.count(old) == 1, (name, old)
        (self.root / name).write_text(text.replace(old, new))

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]

    def environment(self) -> dict[str, str]:
        return os.environ | {"PYTHONPATH": str(self.root)} | self.variables

    def snakemake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = self.command(*arguments)[2:]
        return call(*command, folder=self.root, variables=self.environment(), together=True)

    def make(self, *arguments: str) -> str:
        done = self.snakemake(*arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *arguments: str) -> set[str]:
        """What would run, as the rules' messages say it."""
        return jobs(self.make("--dry-run", "--printshellcmds", *arguments))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*arguments), cwd=self.root, env=self.environment(),
            start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def start_and_kill(self, target: str, until: Callable[[], bool]) -> None:
        """Start on a target and, once something is so, kill all of it as a power cut would."""
        process = self.start(target)
        while not until() and process.poll() is None:
            time.sleep(0.02)
        ended = process.poll() is not None
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        assert not ended, f"the pipeline ended before it could be killed: {output}"

    def run(self, cell: str = "windy/qavg", block: str = "0-4") -> str:
        """Where a cell's run is written."""
        found = find_cell(Project.here(self.root), "tiny", *cell.split("/"), "laptop")
        return run_path(found, block).as_posix()

    def pfedrl(self, *arguments: str) -> str:
        done = call("pfedrl", *arguments, folder=self.root, variables=self.environment())
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rounds(self) -> list[int]:
        """The rounds that were run behind the gate, over all tries."""
        path = self.root / "rounds"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def open_gate(self) -> None:
        (self.root / "go").touch()

    def files(self, folder: str) -> dict[str, bytes]:
        paths = [path for path in (self.root / folder).rglob("*") if path.is_file()]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in paths}


def jobs(output: str) -> set[str]:
    return set(re.findall(r"^Job \d+: (.+)$", output, flags=re.MULTILINE))


@pytest.fixture(scope="session")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The project before anything ran."""
    return Tiny(once(tmp_path_factory, "fresh", make_fresh) / "project")


def make_fresh(folder: Path) -> None:
    tiny = Tiny(folder / "project")
    for name in ("pfedrl", "snakemake_logger_plugin_pfedrl", "envs", "profiles", "workflow"):
        copy_tree(ROOT / name, tiny.root / name, "papers", "scales")
    for name in ("Snakefile", ".gitignore"):
        shutil.copy2(ROOT / name, tiny.root)
    write_paper(tiny.root, "tiny", PAPER)
    tiny.write("workflow/scales/laptop.yaml", scale())
    budgets = {"tiny": {"windy": {"seeds": 4, "block": 4}}}
    smoke = scale(scale="smoke", verdicts=False, papers=budgets)
    tiny.write("workflow/scales/smoke.yaml", smoke)
    tiny.write("pfedrl/analysis/figures/tiny_table.py", TABLE)
    tiny.write("pfedrl/analysis/figures/tiny_figure.py", FIGURE)
    warm_up(tiny)


def warm_up(tiny: Tiny) -> None:
    """Compile the kernels once; the compiled code stays beside the source, also in copies."""
    for cell in ("random qavg_kappa=0", "random random_policy_kappa=0", "windy qavg"):
        options = ["--seeds", "0-4", "--output", str(tiny.root.parent / "warm.parquet")]
        tiny.pfedrl("run", "tiny", *cell.split(), *options)


def copy_of(tiny: Tiny, folder: Path) -> Tiny:
    """A copy in which nothing looks edited."""
    copy_tree(tiny.root, folder / "project")
    return Tiny(folder / "project")


def gated(tiny: Tiny) -> Tiny:
    """Its runs keep a checkpoint a round, and wait after the third of four until the gate opens."""
    tiny.replace(LOOP, PROGRESS, PROGRESS + WAIT)
    tiny.append(LOOP, GATE)
    return Tiny(tiny.root, {"PFEDRL_CHECKPOINT_SECONDS": "0"})


@pytest.fixture(scope="session")
def finished(fresh: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """The project after everything ran; not to be changed."""
    folder = once(tmp_path_factory, "finished", lambda folder: copy_of(fresh, folder).make())
    return Tiny(folder / "project")


@pytest.fixture
def project(finished: Tiny, tmp_path: Path) -> Tiny:
    """A finished project to change."""
    return copy_of(finished, tmp_path)


@pytest.fixture
def new_project(fresh: Tiny, tmp_path: Path) -> Tiny:
    """A project to start from nothing."""
    return copy_of(fresh, tmp_path)
