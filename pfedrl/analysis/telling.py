"""Findings where people read them: on the page and on a code host."""

from collections.abc import Sequence
from html import escape

from pfedrl.analysis.findings import Told
from pfedrl.pipeline.paper import SUFFIXES, Paper

HEADING = "What we found"
CAVEAT = (
    "These are observations in the published runs, at the seeds and the budget that each one "
    "names. They are not verdicts: those are listed with the claims."
)
ELSEWHERE = "Findings are computed from the published runs only. Run: make figures"


def in_html(paper: Paper, told: Sequence[Told] | None) -> str:
    """A part of a paper's section, with links to the figures further down."""
    if not paper.findings:
        return ""
    if told is None:
        return f'<h3>{HEADING}</h3>\n<p class="soft">{ELSEWHERE}</p>\n'
    items = ""
    for one in told:
        if one.missing:
            items += f'<li class="soft">{escape(_left_out(one))}</li>\n'
            continue
        links = " · ".join(
            f'<a href="#{escape(f"{paper.paper}-{name}")}">{escape(name)}</a>'
            for name in one.finding.see
        )
        items += (
            f"<li><b>{escape(one.title)}.</b> {escape(one.text)} "
            f'<span class="soft">{links}</span></li>\n'
        )
    return f'<h3>{HEADING}</h3>\n<p class="soft">{CAVEAT}</p>\n<ul class="found">\n{items}</ul>\n'


def in_markdown(paper: Paper, told: Sequence[Told] | None) -> list[str]:
    """The same in lines of Markdown, with links to the files."""
    if not paper.findings:
        return []
    if told is None:
        return [f"**{HEADING}**: {ELSEWHERE}", ""]
    lines = [f"**{HEADING}**. {CAVEAT}", ""]
    for one in told:
        words = f"**{one.title}.** {one.text}{links(paper, one)}"
        lines.append(f"- {_left_out(one) if one.missing else words}")
    return [*lines, ""]


def _left_out(told: Told) -> str:
    return f"The finding '{told.finding.id}' is omitted. Reason: {told.missing}."


def links(paper: Paper, told: Told, before: str = "") -> str:
    """The artifacts that show a finding, in brackets."""
    links = [
        f"[{name}]({before}{paper.paper}/{name}.{SUFFIXES[paper.artifacts[name].kind][1]})"
        for name in told.finding.see
    ]
    return f" ({', '.join(links)})" if links else ""
