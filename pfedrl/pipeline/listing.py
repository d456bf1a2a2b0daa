"""What `pfedrl list` shows: tables of what can be named in settings and commands."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import components, load
from pfedrl.pipeline.project import Project

KINDS = ("papers", "experiments", "algorithms", "families", "statements", "cells")


def show(
    project: Project, what: str | None, paper: str | None, experiment: str | None, scale: str
) -> None:
    """Print one table, or all but the cells where none is named."""
    if what is not None and what not in KINDS:
        raise unknown("list", what, KINDS)
    if what == "cells" and (paper is None or experiment is None):
        raise PfedrlError("cells belong to an experiment: pfedrl list cells PAPER EXPERIMENT.")
    console = Console()
    for kind in [what] if what else KINDS[:-1]:
        console.print(_table(project, kind, paper, experiment, scale))


def _table(
    project: Project, kind: str, paper: str | None, experiment: str | None, scale: str
) -> Table:
    match kind:
        case "papers":
            rows: Iterable[tuple[str, ...]] = (
                (name, page.title, page.reference) for name, page in project.papers.items()
            )
            return table("Papers", ("name", "title", "reference"), rows)
        case "experiments":
            chosen = project.papers if paper is None else {paper: project.paper(paper)}
            rows = (
                (name, key, spec.title, (spec.family or {}).get("name", ""), ", ".join(spec.sweep))
                for name, page in chosen.items()
                for key, spec in page.experiments.items()
            )
            return table("Experiments", ("paper", "name", "title", "family", "sweep"), rows)
        case "algorithms":
            rows = (
                (name, found.label, ", ".join(sorted(found.kinds)), first_line(found))
                for name, found in loaded("algorithms")
            )
            return table("Algorithms", ("name", "label", "runs on", "what it is"), rows)
        case "families":
            rows = (
                (name, found.label, found.kind, found.varies, first_line(found))
                for name, found in loaded("envs")
            )
            return table("Families", ("name", "label", "kind", "varies", "what it is"), rows)
        case "statements":
            rows = ((name, found.label, first_line(found)) for name, found in loaded("theory"))
            return table("Statements", ("name", "label", "what it says"), rows)
    from pfedrl.pipeline.cells import cells

    assert paper is not None and experiment is not None
    rows = (
        (
            cell.name,
            cell.algorithm,
            f"{cell.budget.seeds} in {len(cell.blocks())}",
            cell.skip() or "",
        )
        for cell in cells(project, paper, experiment, scale)
    )
    title = f"Cells of {paper}/{experiment} at the {scale} scale"
    return table(title, ("name", "algorithm", "seeds in blocks", "skipped because"), rows)


def table(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    made = Table(title=title, title_justify="left", title_style="bold", show_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def loaded(room: str) -> Iterable[tuple[str, Any]]:
    return ((name, load(room, name)) for name in components(room))


def first_line(component: type) -> str:
    return (component.__doc__ or "").strip().splitlines()[0] if component.__doc__ else ""
