"""The settings that a scale shortens, in words for captions."""

from collections.abc import Iterable
from typing import Any

from pfedrl.pipeline.cells import cells, changed
from pfedrl.pipeline.project import Project


def cuts(
    project: Project, paper: str, experiment: str, scale: str, only: Iterable[str] | None = None
) -> list[str]:
    """One phrase for each setting that the scale changes: '20 of 200 communication rounds'.

    The second number is the experiment's setting, or the algorithm's default, which is the
    paper's. `only` restricts this to some cells, by name or by variant.
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
    """The cuts of several experiments as one text, listed by experiment where they differ."""
    titles = project.paper(paper).experiments
    by_title = {titles[e].title: ", ".join(cuts(project, paper, e, scale)) for e in experiments}
    texts = dict.fromkeys(by_title.values())
    if len(texts) <= 1:
        return "".join(texts)
    return "; ".join(f"{title}: {text}" for title, text in by_title.items() if text)
