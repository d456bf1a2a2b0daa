"""What a scale runs less of than an experiment's own settings, in words for captions."""

from collections.abc import Iterable
from typing import Any

from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.project import Project


def cuts(
    project: Project, paper: str, experiment: str, scale: str, only: Iterable[str] | None = None
) -> list[str]:
    """One phrase a setting that the scale changes, as in '20 of 200 communication rounds'.

    The other value is the experiment's, or the algorithm's default, at which the paper's stands.
    `only` names the cells that matter, by name or by variant; none are all.
    """
    if project.budget(project.scale(scale), paper, experiment) is None:
        return []
    own = {cell.name: cell for cell in cells(project, paper, experiment, None)}
    wanted = None if only is None else set(only)
    found: dict[str, list[tuple[Any, Any, bool]]] = {}
    for cell in cells(project, paper, experiment, scale):
        if wanted is None or wanted & {cell.name, cell.variant}:
            for name, ours, theirs, counted in changed(cell, own[cell.name]):
                found.setdefault(name, []).append((ours, theirs, counted))
    return [_phrase(name.replace("_", " "), changes) for name, changes in found.items()]


def changed(cell: Cell, own: Cell) -> Iterable[tuple[str, Any, Any, bool]]:
    """The settings that differ, each with both values and whether it counts something."""
    pairs = [(cell.runnable, own.runnable), (cell.family, own.family)]
    for ours, theirs in pairs:
        if ours is None or theirs is None:
            continue
        for name, field in type(ours).model_fields.items():
            if getattr(ours, name) != getattr(theirs, name):
                yield name, getattr(ours, name), getattr(theirs, name), field.annotation is int


def _phrase(name: str, changes: list[tuple[Any, Any, bool]]) -> str:
    """'20 of 200 rounds' where something is counted, else 'target 250 instead of 350'."""
    ours, theirs = _span({ours for ours, _, _ in changes}), _span({own for _, own, _ in changes})
    if all(counted and less < own for less, own, counted in changes):
        return f"{ours} of {theirs} {name}"
    return f"{name} {ours} instead of {theirs}"


def _span(values: set[Any]) -> str:
    """One value, or the least and the most."""
    if not all(isinstance(value, int | float) for value in values):
        return " or ".join(sorted(map(str, values)))
    ends = dict.fromkeys((min(values), max(values)))
    return " to ".join(f"{value:,}" if isinstance(value, int) else f"{value:g}" for value in ends)


def cuts_of(project: Project, paper: str, experiments: Iterable[str], scale: str) -> str:
    """The cuts of several experiments as one text; said by experiment where they differ."""
    titles = project.paper(paper).experiments
    by_title = {titles[e].title: ", ".join(cuts(project, paper, e, scale)) for e in experiments}
    texts = dict.fromkeys(by_title.values())
    if len(texts) <= 1:
        return "".join(texts)
    return "; ".join(f"{title}: {text}" for title, text in by_title.items() if text)
