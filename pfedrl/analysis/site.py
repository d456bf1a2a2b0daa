"""What a person reads of a scale: the report, its overview, and for the record the README's parts."""

from pathlib import Path

from pfedrl.analysis.findings import tell
from pfedrl.analysis.output import read_result
from pfedrl.analysis.overview import overview
from pfedrl.analysis.printed_figure import draw_printed
from pfedrl.analysis.readme import fill_readme
from pfedrl.analysis.report import report
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import RECORD
from pfedrl.pipeline.verify import code_behind


def write_site(project: Project, scale: str, page: Path | None = None) -> None:
    """Write the pages from what was drawn and judged at a scale."""
    figures = Path(project.scale(scale).figures)
    claims = Path("results", scale, "claims")
    page = page or figures / "index.html"
    if scale != RECORD:
        report(project, figures, claims, page, scale=scale)
        overview(project, figures, claims)
        return
    judged = {paper: read_result(claims / f"{paper}.json") for paper in project.papers}
    told = tell(project, judged)
    report(project, figures, claims, page, code_behind(project, scale), scale, told=told)
    overview(project, figures, claims, told=told)
    draw_printed(project, figures)
    fill_readme(project, judged, told, figures)
