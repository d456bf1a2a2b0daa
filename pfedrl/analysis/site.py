"""The pages of a scale: the report and its overview; of the record also the README's parts."""

from pathlib import Path

from pfedrl.analysis.findings import tell
from pfedrl.analysis.output import read_result
from pfedrl.analysis.overview import overview
from pfedrl.analysis.printed_figure import draw_printed
from pfedrl.analysis.readme import fill_readme
from pfedrl.analysis.report import report
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reruns import code_behind
from pfedrl.pipeline.scale import RECORD


def write_site(project: Project, scale: str, page: Path | None = None, made_from: str = "") -> None:
    """Write the pages from what was drawn and judged at a scale."""
    chosen = project.scale(scale)
    figures = Path(chosen.figures)
    page = page or figures / "index.html"
    judged = {paper: read_result(chosen.verdicts_of(paper)) for paper in project.papers}
    if scale != RECORD:
        report(project, figures, judged, page, scale=scale, made_from=made_from)
        overview(project, figures, judged)
        return
    told = tell(project, judged)
    code = code_behind(project, scale)
    report(project, figures, judged, page, code, scale, told, made_from)
    overview(project, figures, judged, told)
    draw_printed(project, figures)
    fill_readme(project, judged, told, figures)
