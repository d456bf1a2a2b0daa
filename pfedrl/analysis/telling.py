"""Findings where people read them: on the page, on a code host, and in the project's README."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from pfedrl.analysis.evidence import FEWEST
from pfedrl.analysis.findings import Told
from pfedrl.analysis.output import write_text
from pfedrl.pipeline.paper import SUFFIXES, Paper
from pfedrl.pipeline.project import Project

HEADING = "What we found"
CAVEAT = (
    "These are observations in the published runs, with the seeds and the budget that each names. "
    f"Fewer than {FEWEST} seeds decide no difference of means, and a training that is shorter than "
    "the paper's only leans: verdicts are with the claims."
)
ELSEWHERE = "It is written from the published runs alone: make figures."
BLOCK = re.compile(r"(?<=<!-- findings -->\n).*?(?=<!-- /findings -->)", re.DOTALL)


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
        words = f"**{one.title}.** {one.text}{_links(paper, one)}"
        lines.append(f"- {_left_out(one) if one.missing else words}")
    return [*lines, ""]


def write_headlines(project: Project, told: Mapping[str, list[Told]], figures: Path) -> None:
    """The headlines, in the README beside the figures, if there is one with a place for them."""
    readme = figures.parent / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.exists() else ""
    if BLOCK.search(text) is None:
        return
    lines = ""
    for paper, found in told.items():
        for one in found:
            if one.headline:
                links = _links(project.paper(paper), one, f"{figures.name}/")
                lines += f"- **{one.title}.** {one.headline}{links}\n"
    write_text(readme, BLOCK.sub(lambda _: lines, text))


def _left_out(told: Told) -> str:
    return f"{told.finding.id} is left out ({told.missing})."


def _links(paper: Paper, told: Told, before: str = "") -> str:
    """The artifacts that show a finding, in brackets."""
    links = [
        f"[{name}]({before}{paper.paper}/{name}.{SUFFIXES[paper.artifacts[name].kind][1]})"
        for name in told.finding.see
    ]
    return f" ({', '.join(links)})" if links else ""
