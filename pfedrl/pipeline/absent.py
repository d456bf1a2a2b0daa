"""Why experiments have no runs: what tables, panels and verdicts say in the place of numbers."""

from collections.abc import Iterable, Mapping

from pfedrl.envs.data.data_sets import FACTS, missing
from pfedrl.envs.data.sources import data_sources
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import served


def absent(project: Project, paper: str, experiment: str, scale: str) -> str | None:
    """Why an experiment has no runs at a scale, or None."""
    chosen = project.scale(scale)
    if project.budget(chosen, paper, experiment) is None:
        return in_no_package(project, paper, experiment) or f"not run at the {scale} scale"
    if chosen.makes:
        reasons = [cell.skip() for cell in cells(project, paper, experiment, scale)]
    else:
        reasons = [one.why_not for one in served(project, paper, experiment, scale)]
    return None if None in reasons else in_no_package(project, paper, experiment) or reasons[0]


def in_no_package(project: Project, paper: str, experiment: str) -> str | None:
    """That an experiment's data must be brought by hand, and how; None where a package has them."""
    name = (project.experiment(paper, experiment).family or {}).get("data")
    source = None if name is None else data_sources(project.root).get(str(name))
    if source is None or source.package is not None:
        return None
    command = f"pfedrl data fetch {name} --folder FOLDER"
    title = FACTS[str(name)].title
    return f"{title} cannot be downloaded automatically; supply it with: {command}"


def skipped(project: Project, names: Mapping[str, Iterable[str]]) -> str:
    """One line on experiments, by paper, that cannot run here, and what supplies their data."""
    papers: list[str] = []
    downloaded: set[str] = set()
    by_hand: set[str] = set()
    for paper, experiments in names.items():
        page = project.paper(paper)
        families = [page.experiments[name].family or {} for name in experiments]
        if families:
            papers.append(f"{len(families)} experiments of {page.short}")
        for data in (family.get("data") for family in families):
            if data in FACTS and missing(data) is not None:
                package = data_sources(project.root)[data].package
                (by_hand if package is None else downloaded).add(FACTS[data].title)
    ways = []
    if downloaded:
        ways.append(f"`pfedrl data fetch` downloads {', '.join(sorted(downloaded))}")
    if by_hand:
        named = ", ".join(sorted(by_hand))
        ways.append(f"supply {named} with `pfedrl data fetch NAME --folder FOLDER`")
    reason = f", whose data are not here: {'; '.join(ways)}" if ways else ""
    return f"Skipped: {' and '.join(papers)}{reason}." if papers else ""
