"""The runs behind an experiment's cells at a scale, and why there are none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pfedrl.envs.data.data_sets import FACTS, missing
from pfedrl.envs.data.sources import data_sources
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import Part, Store


@dataclass(frozen=True)
class Served:
    """A cell of an experiment, and where the seeds that its scale asks for are."""

    cell: Cell
    parts: list[Part]
    missing: int  # seeds that are nowhere

    @property
    def why_not(self) -> str | None:
        """Why the cell has no numbers, or None."""
        if not self.missing:
            return None
        seeds = len(self.cell.seeds)
        return self.cell.why_not() or f"not run ({seeds - self.missing:,} of {seeds:,} seeds)"


def served(project: Project, paper: str, experiment: str, scale: str) -> list[Served]:
    """The cells of an experiment with the runs that the scale's layers have of each.

    A scale that makes no runs does without local ones of other code: nothing would remake them.
    """
    store, chosen = Store(project.root), project.scale(scale)
    found = []
    for cell in cells(project, paper, experiment, scale):
        parts, missing = store.find(cell, cell.seeds, chosen.reads)
        kept = [part for part in parts if chosen.makes or store.is_current(cell, part)]
        lost = sum(len(part.take) for part in parts) - sum(len(part.take) for part in kept)
        found.append(Served(cell, kept, len(missing) + lost))
    return found


def absent(project: Project, paper: str, experiment: str, scale: str) -> str | None:
    """Why an experiment has no runs at a scale, or None."""
    chosen = project.scale(scale)
    reasons: list[str | None] = [f"not run at the {scale} scale"]
    if project.budget(chosen, paper, experiment) is not None:
        if chosen.makes:
            reasons = [cell.why_not() for cell in cells(project, paper, experiment, scale)]
        else:
            reasons = [one.why_not for one in served(project, paper, experiment, scale)]
    if None in reasons:
        return None
    data = str((project.experiment(paper, experiment).family or {}).get("data"))
    source = data_sources(project.root).get(data) if data in FACTS else None
    if source is not None and source.package is None:
        command = f"pfedrl data fetch {data} --folder FOLDER"
        return f"{FACTS[data].title} cannot be downloaded automatically; supply it with: {command}"
    return reasons[0]


def skipped(project: Project, names: Mapping[str, Iterable[str]]) -> str:
    """One line on experiments, by paper, that cannot run here, and what supplies their data."""
    papers, data = [], set()
    for paper, experiments in names.items():
        page = project.paper(paper)
        families = [page.experiments[name].family or {} for name in experiments]
        papers += [f"{len(families)} experiments of {page.short}"] if families else []
        data |= {family.get("data") for family in families}
    lacking = {name for name in data if name in FACTS and missing(name) is not None}
    by_hand = {name for name in lacking if data_sources(project.root)[name].package is None}
    fetched, supplied = (
        ", ".join(sorted(FACTS[name].title for name in some))
        for some in (lacking - by_hand, by_hand)
    )
    ways = [f"`pfedrl data fetch` downloads {fetched}"] if fetched else []
    if supplied:
        ways.append(f"supply {supplied} with `pfedrl data fetch NAME --folder FOLDER`")
    reason = f", whose data are not here: {'; '.join(ways)}" if ways else ""
    return f"Skipped: {' and '.join(papers)}{reason}." if papers else ""
