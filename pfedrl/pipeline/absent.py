"""Why experiments have no runs: what tables, panels and verdicts say in the place of numbers."""

from pfedrl.envs.data.data_sets import FACTS
from pfedrl.envs.data.sources import data_sources
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.project import Project


def absent(project: Project, paper: str, experiment: str, scale: str) -> str | None:
    """Why an experiment has no runs at a scale, or None."""
    published = scale == "published"  # of these, data are no longer needed
    if project.budget(project.scale(scale), paper, experiment) is None:
        if not published:
            return f"not run at the {scale} scale"
        return in_no_package(project, paper, experiment) or "not published"
    if published:
        return None
    reasons = [cell.skip() for cell in cells(project, paper, experiment, scale)]
    return None if None in reasons else in_no_package(project, paper, experiment) or reasons[0]


def in_no_package(project: Project, paper: str, experiment: str) -> str | None:
    """That an experiment's data must be brought by hand, and how; None where a package has them."""
    name = (project.experiment(paper, experiment).family or {}).get("data")
    source = data_sources(project.root).get(str(name))
    if source is None or source.package is not None:
        return None
    command = f"pfedrl data fetch {name} --folder FOLDER"
    title = FACTS[str(name)].title
    return f"{title} cannot be downloaded automatically; supply it with: {command}"
