"""What `pfedrl list` shows: tables of what can be named in settings and commands."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.core.registry import known, load
from pfedrl.pipeline.project import Project

NAMES = ("name", "paper", "family", "label", "algorithm")  # columns to copy from
NARROWEST = 20  # letters of a column of texts, below which rows are not broken at all
WIDEST = 10_000  # letters of a line that is not broken
Shown = tuple[str, tuple[str, ...], Iterable[tuple[str, ...]]]
KINDS = ("papers", "experiments", "algorithms", "families", "statements", "cells")


def show(
    project: Project, what: str | None, paper: str | None, experiment: str | None, scale: str
) -> None:
    """Print one table, or all but the cells where none is named."""
    if what is not None and what not in KINDS:
        raise unknown("list", what, KINDS)
    if paper is not None:
        project.paper(paper)
    if what == "cells" and (paper is None or experiment is None):
        raise PfedrlError("cells belong to an experiment: pfedrl list cells PAPER EXPERIMENT.")
    console = Console()
    for kind in [what] if what else KINDS[:-1]:
        show_table(console, *_table(project, kind, paper, experiment, scale))


def _table(
    project: Project, kind: str, paper: str | None, experiment: str | None, scale: str
) -> Shown:
    """The title of a list, its columns and its rows."""
    match kind:
        case "papers":
            rows: Iterable[tuple[str, ...]] = (
                (name, page.title, page.reference) for name, page in project.papers.items()
            )
            return "Papers", ("name", "title", "reference"), rows
        case "experiments":
            chosen = project.papers if paper is None else {paper: project.paper(paper)}
            rows = (
                (name, key, spec.title, (spec.family or {}).get("name", ""), ", ".join(spec.sweep))
                for name, page in chosen.items()
                for key, spec in page.experiments.items()
            )
            return "Experiments", ("paper", "name", "title", "family", "sweep"), rows
        case "algorithms":
            rows = (
                (name, found.label, ", ".join(sorted(found.kinds)), first_line(found))
                for name, found in loaded("algorithms")
            )
            return "Algorithms", ("name", "label", "runs on", "what it is"), rows
        case "families":
            rows = (
                (name, found.label, found.kind, found.varies, first_line(found))
                for name, found in loaded("envs")
            )
            return "Families", ("name", "label", "kind", "varies", "what it is"), rows
        case "statements":
            rows = ((name, found.label, first_line(found)) for name, found in loaded("theory"))
            return "Statements", ("name", "label", "what it says"), rows
    from pfedrl.pipeline.cells import cells

    assert paper is not None and experiment is not None
    rows = (
        (
            cell.name,
            cell.algorithm,
            f"{cell.budget.seeds} in {len(cell.blocks())}",
            cell.why_not() or "",
        )
        for cell in cells(project, paper, experiment, scale)
    )
    title = f"Cells of {paper}/{experiment} at the {scale} scale"
    return title, ("name", "algorithm", "seeds in blocks", "skipped because"), rows


def table(
    title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]], whole: bool = False
) -> Table:
    """A table whose names are never broken across lines; none of its texts where it is `whole`."""
    made = Table(title=title, title_justify="left", title_style="bold", show_edge=False)
    for column in columns:
        made.add_column(column, overflow="fold", no_wrap=whole or column in NAMES)
    for row in rows:
        made.add_row(*row)
    return made


def show_table(
    console: Console, title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> None:
    """At a terminal, texts are broken to fit; in a file, a pipe or a narrow terminal every row is
    one line, so that names can be copied and searched."""
    kept = list(rows)
    names = [i for i, column in enumerate(columns) if column in NAMES]
    taken = sum(max((len(row[i]) for row in kept), default=0) for i in names) + 3 * len(columns)
    fits = console.width >= taken + NARROWEST * (len(columns) - len(names))
    if console.is_terminal and fits:
        console.print(table(title, columns, kept))
        return
    made = table(title, columns, kept, whole=True)
    for line in Console(width=WIDEST).render_lines(made, pad=False):
        console.file.write("".join(segment.text for segment in line).rstrip() + "\n")


def loaded(room: str) -> Iterable[tuple[str, Any]]:
    return ((name, load(room, name)) for name in known(room))


def first_line(component: type) -> str:
    return (component.__doc__ or "").strip().splitlines()[0] if component.__doc__ else ""
