"""Every table, figure, verdict and finding again, from the published runs alone."""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from pfedrl.analysis.claims import evaluate
from pfedrl.analysis.drawing import draw
from pfedrl.analysis.findings import at_other_scales, summaries_at, tell
from pfedrl.analysis.open import open_claims, prices
from pfedrl.analysis.output import read_result
from pfedrl.analysis.overview import overview
from pfedrl.analysis.printed_figure import draw_printed
from pfedrl.analysis.readme import fill_readme
from pfedrl.analysis.report import report
from pfedrl.analysis.summaries import paths
from pfedrl.analysis.summarise import summarise
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.confirmed import code_on_page
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.published import NAME, scale_of, shared_runs
from pfedrl.pipeline.scale import Scale

Progress = Callable[[int, int], None]
Job = tuple[Any, ...]  # a function and what it is called with


def redraw(
    project: Project,
    figures: Path,
    folder: Path,
    cores: int = 1,
    progress: Progress = lambda done, total: None,
) -> None:
    """Tables and figures go to `figures`, summaries and verdicts to `folder`, headlines of what was
    found to the README beside `figures`, if there is one with a place for them.

    No simulator is needed: what is not published is not drawn.
    """
    scale = _published(project)
    summaries = folder / "summaries"
    first: list[Job] = [
        (_summarise, project, paper, experiment, summaries)
        for paper, budgets in scale.papers.items()
        for experiment in budgets
    ]
    first += [
        (_summarise, project, paper, experiment, summaries_at(summaries, other), other)
        for paper, experiment, other in at_other_scales(project)
    ]
    then: list[Job] = [
        (evaluate, project, paper, NAME, summaries, folder / "claims" / f"{paper}.json")
        for paper in scale.papers
    ]
    then += [
        (draw, project, paper, name, NAME, summaries, figures / paper)
        for paper, budgets in scale.papers.items()
        for name, artifact in project.paper(paper).artifacts.items()
        if artifact.drawable(budgets)
    ]
    done, total = 0, len(first) + len(then)
    pool = ProcessPoolExecutor(cores, get_context("spawn"))
    try:
        for jobs in (first, then):
            for finished in as_completed([pool.submit(*job) for job in jobs]):
                finished.result()
                done += 1
                progress(done, total)
    finally:
        pool.shutdown(cancel_futures=True)  # after an error, those that wait are not begun
    _write_pages(project, figures, summaries, folder / "claims")


def _write_pages(project: Project, figures: Path, summaries: Path, claims: Path) -> None:
    """The report, its overview, and the findings in the README."""
    priced = prices(open_claims(project, NAME, claims))
    judged = {paper: read_result(claims / f"{paper}.json") for paper in project.papers}
    told = tell(project, summaries, judged)
    page = figures / "index.html"
    report(project, figures, claims, page, code_on_page(project), NAME, priced, told)
    overview(project, figures, claims, priced, told)
    draw_printed(project, figures)
    fill_readme(project, judged, told, figures)


def _published(project: Project) -> Scale:
    scale = project.scale(NAME)
    if not scale.papers:
        raise PfedrlError(
            "nothing is published. Run the pipeline, then `pfedrl publish`, and try again."
        )
    return scale


def _summarise(
    project: Project, paper: str, experiment: str, summaries: Path, at: str | None = None
) -> None:
    """Of the published runs at a scale, or at the fullest."""
    source = at or scale_of(project, paper, experiment)
    assert source is not None
    shared = shared_runs(project, paper, experiment, source)
    # provenance names no one's folders
    runs = [Path(os.path.relpath(run)) for found in shared.values() for run in found]
    summarise(runs, *paths(summaries, paper, experiment))
