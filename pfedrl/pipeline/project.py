"""The project on disk: its papers, scales and family files, read and checked."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.settings import read_yaml, validate
from pfedrl.pipeline.paper import Experiment, Paper
from pfedrl.pipeline.scale import Budget, Scale


@dataclass(frozen=True)
class Project:
    """The folder with Snakefile, workflow/ and envs/."""

    root: Path

    @classmethod
    def here(cls, root: Path | None = None) -> "Project":
        root = Path.cwd() if root is None else root
        if not (root / "workflow" / "papers").is_dir():
            raise PfedrlError(
                f"{root} is not the project's folder: it has no workflow/papers. "
                "Run the command from the folder that holds the Snakefile."
            )
        return cls(root)

    @cached_property
    def papers(self) -> dict[str, Paper]:
        found = {}
        for path in sorted((self.root / "workflow" / "papers").glob("*.yaml")):
            paper = validate(Paper, read_yaml(path), str(path.relative_to(self.root)))
            if paper.paper != path.stem:
                raise PfedrlError(f"{path}: 'paper' is '{paper.paper}', the file is '{path.stem}'.")
            found[paper.paper] = paper
        return found

    def paper(self, name: str) -> Paper:
        if name not in self.papers:
            raise unknown("paper", name, self.papers)
        return self.papers[name]

    def experiment(self, paper: str, name: str) -> Experiment:
        experiments = self.paper(paper).experiments
        if name not in experiments:
            raise unknown("experiment", name, experiments, where=f"workflow/papers/{paper}.yaml")
        return experiments[name]

    def scale(self, name: str) -> Scale:
        """A file in workflow/scales, or 'published': each experiment at its fullest budget."""
        if name == "published":
            from pfedrl.pipeline.published import published_scale

            return published_scale(self)
        folder = self.root / "workflow" / "scales"
        known = [path.stem for path in folder.glob("*.yaml")]
        if name not in known:
            raise unknown("scale", name, known)
        path = folder / f"{name}.yaml"
        scale = validate(Scale, read_yaml(path), str(path.relative_to(self.root)))
        for paper, budgets in scale.papers.items():
            where = f"workflow/scales/{name}.yaml"
            if paper not in self.papers:
                raise unknown("paper", paper, self.papers, where)
            for experiment in budgets:
                if experiment != "default" and experiment not in self.paper(paper).experiments:
                    raise unknown("experiment", experiment, self.paper(paper).experiments, where)
        return scale

    def budget(self, scale: Scale, paper: str, experiment: str) -> Budget | None:
        """The budget of an experiment, or None where the scale leaves the paper out."""
        budgets = scale.papers.get(paper, {})
        return budgets.get(experiment, budgets.get("default"))

    def family_defaults(self, name: str) -> dict[str, Any]:
        """What envs/<name>.yaml says of a family."""
        folder = self.root / "envs"
        known = [path.stem for path in folder.glob("*.yaml")]
        if name not in known:
            raise unknown("family", name, known)
        values = read_yaml(folder / f"{name}.yaml")
        values.pop("family", None)
        values.pop("description", None)
        return values

    def family_files(self) -> Iterator[Path]:
        yield from sorted((self.root / "envs").glob("*.yaml"))
