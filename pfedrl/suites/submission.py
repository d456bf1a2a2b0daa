"""Submissions: an algorithm with its settings and runs, in a folder that anyone can verify.

submissions/<name>/ holds the algorithm's file, submission.yaml, and the runs of one suite as a
small store of its own (results/published with its manifest).
"""

import hashlib
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import Field

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import OUTSIDE, outside_file
from pfedrl.core.settings import Settings, read_yaml, validate
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reruns import rerun
from pfedrl.pipeline.store import Store
from pfedrl.pipeline.verify import Compared
from pfedrl.suites.runs import Job, parts_of
from pfedrl.suites.suite import Suite, cells_of, read_suite

FOLDER = Path("submissions")
UNSEEN = 3  # seeds that are drawn from the digest of a submission
FIRST, LAST = 10_000, 2**31 - 1  # where these lie: beyond every scored or tuned seed


class Submission(Settings):
    """submission.yaml."""

    suite: str
    version: int = Field(description="of the suite")
    algorithm: str = Field(description="a file in this folder, as in dqn:my_exchange.py")
    settings: dict[str, Any] = Field(default_factory=dict, description="that differ from defaults")
    trials: int | None = Field(None, description="settings that were tried; none: defaults")


class Entered(NamedTuple):
    """A submission that was read, and its suite with the algorithm in it."""

    name: str
    folder: Path
    said: Submission
    suite: Suite
    variant: str

    @property
    def store(self) -> Store:
        return Store(self.folder)

    def digest(self) -> str:
        """Of all files; a change of any of them draws other unseen seeds."""
        files = sorted(p for p in self.folder.rglob("*") if p.is_file() and p.suffix != ".lock")
        said = [f"{p.relative_to(self.folder)} {hashlib.sha256(p.read_bytes()).hexdigest()}"
                for p in files if "__pycache__" not in p.parts]  # fmt: skip
        return hashlib.sha256("\n".join(said).encode()).hexdigest()

    def unseen(self) -> list[int]:
        """Seeds that the author could not have tuned on."""
        digest = self.digest()
        return [
            FIRST + int(hashlib.sha256(f"{digest} {number}".encode()).hexdigest(), 16)
            % (LAST - FIRST)
            for number in range(UNSEEN)
        ]  # fmt: skip


def submissions(project: Project) -> list[str]:
    return sorted(path.parent.name for path in (project.root / FOLDER).glob("*/submission.yaml"))


def read_submission(project: Project, name: str) -> Entered:
    """A submission by its name, or a folder that holds one."""
    folder = Path(name).resolve()
    if not (folder / "submission.yaml").exists():
        if name not in submissions(project):
            raise unknown("submission", name, submissions(project))
        folder = project.root / FOLDER / name
    place = str(folder / "submission.yaml")
    said = validate(Submission, read_yaml(folder / "submission.yaml"), place)
    suite = read_suite(project, said.suite)
    if suite.version != said.version:
        raise PfedrlError(f"{place}: the suite {said.suite} has version {suite.version} now.")
    method, colon, file = said.algorithm.rpartition(":")
    if str(folder) not in sys.path:  # first: the author's own file may be in this folder
        sys.path.insert(0, str(folder))
    variant, entered = suite.with_algorithm(f"{method}{colon}{folder / file}", said.settings)
    trials = {} if said.trials is None else {variant: said.trials}
    entered = entered.model_copy(update={"trials": entered.trials | trials})
    return Entered(folder.name, folder, said, entered, variant)


def with_submissions(project: Project, suite: Suite) -> tuple[Suite, dict[str, Store]]:
    """A suite with everything that was submitted to it, and where those runs are.

    An algorithm that is given by its author's own file takes the place of its submission.
    """
    stores, given = {}, _given(project)
    for name in submissions(project):
        said = read_yaml(project.root / FOLDER / name / "submission.yaml")
        if said.get("suite") == suite.suite and Path(str(said.get("algorithm"))).stem not in given:
            one = read_submission(project, name)
            own = {task: spec.variants[one.variant] for task, spec in one.suite.tasks.items()}
            suite = suite.with_variant(one.variant, own)
            suite = suite.model_copy(update={"trials": suite.trials | one.suite.trials})
            stores[one.variant] = one.store
    return suite, stores


def _given(project: Project) -> set[str]:
    """The algorithms that this process loaded from files which are no submission's."""
    found = {}
    for name, component in OUTSIDE["algorithms"].items():
        file = outside_file(component.module)
        found[name.rpartition("/")[2]] = file is not None and file[1].resolve()
    own = (project.root / FOLDER).resolve()
    return {name for name, path in found.items() if path and own not in path.parents}


def submit(
    project: Project, suite: Suite, name: str, algorithm: str, settings: dict[str, Any],
    trials: int | None, folder: Path,
) -> Path:  # fmt: skip
    """Pack an algorithm whose runs are all here into a folder."""
    method, colon, file = algorithm.rpartition(":")
    if not file.endswith(".py"):
        raise PfedrlError(f"{algorithm} is no file. Algorithms of pfedrl stand in the suites.")
    variant, entered = suite.with_algorithm(algorithm, settings)
    target = folder / name
    if target.exists():
        raise PfedrlError(f"{target} is there already. Choose another name, or remove it.")
    store = Store(project.root)
    found = []
    for cell in cells_of(project, entered, variant):
        parts, missing = parts_of(store, cell, cell.seeds)
        if missing:
            command = f"pfedrl bench {algorithm} --suite {suite.suite}"
            raise PfedrlError(f"{len(missing)} seeds of {cell.experiment} lack. Run: {command}")
        found.append((cell, parts))
    target.mkdir(parents=True)
    shutil.copy2(file, target)
    packed = Store(target)
    for cell, parts in found:
        for part in parts:
            store.copy(cell, part, packed)
    said = Submission(
        suite=suite.suite, version=suite.version, algorithm=f"{method}{colon}{Path(file).name}",
        settings=settings, trials=trials,
    )  # fmt: skip
    text = yaml.safe_dump(said.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    (target / "submission.yaml").write_text(text, encoding="utf-8")
    return target


def rerun_one_of_each(project: Project, one: Entered) -> Iterator[Compared]:
    """A random scored seed of each task, made again."""
    cells: dict[str, list[Cell]] = {}
    for cell in cells_of(project, one.suite, one.variant):
        cells.setdefault(cell.experiment, []).append(cell)
    for chosen in map(secrets.choice, cells.values()):
        parts, missing = parts_of(one.store, chosen, chosen.seeds)
        if missing:
            yield Compared(chosen.name, "differs", f"{len(missing)} seeds are not in the folder")
            continue
        part = secrets.choice(parts)
        yield rerun(one.store, chosen, part, secrets.choice(part.take))


def unseen_jobs(project: Project, one: Entered) -> list[Job]:
    """Runs of the algorithm, and of the controls, on seeds that its author could not know."""
    wanted = {one.variant, *one.suite.controls}
    store = Store(project.root)
    return [
        Job(cell, range(seed, seed + 1))
        for cell in cells_of(project, one.suite)
        if cell.variant in wanted
        for seed in one.unseen()
        if parts_of(store, cell, [seed])[1]
    ]
