"""The report in short, as a page that a code host shows: what was drawn, and every verdict."""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from pfedrl.analysis.findings import Told
from pfedrl.analysis.ledger import (
    BRACKETS,
    Group,
    at_a_glance,
    found,
    groups,
    headline,
    judged_from,
    read_beside,
)
from pfedrl.analysis.output import read_result, write_text
from pfedrl.analysis.report import Judged
from pfedrl.analysis.telling import in_markdown
from pfedrl.analysis.verdict import BADGES
from pfedrl.pipeline.paper import SUFFIXES, Paper
from pfedrl.pipeline.project import Project

LEVEL = "evidence/level.md"


def overview(
    project: Project,
    figures_dir: Path,
    judged: Judged,
    told: Mapping[str, list[Told]] | None = None,
) -> None:
    """Write figures_dir/README.md from the same files as the report."""
    sections = [
        _section(paper, figures_dir / name, judged[name], (told or {}).get(name))
        for name, paper in project.papers.items()
    ]
    heading = "# What was reproduced\n\nThe whole report is `index.html`."
    if (figures_dir / LEVEL).exists():
        heading += f" How often a verdict may be wrong: [{LEVEL}]({LEVEL})."
    heading += " Open claims, and the cost of deciding them: `pfedrl open`."
    heads = " | ".join(f"{symbol} {verdict}" for verdict, symbol in BADGES.items())
    heading += f"\n\n| claims | {heads} |\n|---|{'--:|' * len(BADGES)}\n"
    for name, paper in project.papers.items():
        heading += f"| {paper.title} | {' | '.join(at_a_glance(judged[name]))} |\n"
    heading += f"\n{BRACKETS}\n"
    write_text(figures_dir / "README.md", "\n".join([heading, *sections]))


def _section(
    paper: Paper, folder: Path, judged: dict[str, Any] | None, told: list[Told] | None
) -> str:
    lines = [f"## {paper.title}", "", f"{paper.reference}.", "", *in_markdown(paper, told)]
    lines += ["| artifact | what it shows | scale | seeds | core time |", "|---|---|---|--:|--:|"]
    for name, artifact in paper.artifacts.items():
        known = read_result(folder / f"{name}.json")
        if known is None:
            lines.append(f"| {name} | {artifact.title} | not drawn | | |")
            continue
        counts = sorted({stop - start for start, stop in known["seeds"].values()})
        seeds = " to ".join(f"{count:,}" for count in {counts[0]: 0, counts[-1]: 0})
        shown = SUFFIXES[artifact.kind][1]
        lines.append(
            f"| [{name}]({paper.paper}/{name}.{shown}) | {artifact.title} | {known['scale']} "
            f"| {seeds} | {known['core_seconds'] / 60:.1f} min |"
        )
    if judged is None:
        return "\n".join([*lines, "", "No verdicts yet.", ""])
    lines += ["", f"Claims {judged_from(judged['scale'])}. {headline(judged)}", ""]
    for ours, heading in ((False, "the paper says"), (True, "we ask whether (ours)")):
        for group in groups(judged, ours):
            lines += _group(group, heading)
    return "\n".join(lines)


def _group(group: Group, heading: str) -> list[str]:
    asked = " (ours)" if group.claims[0]["ours"] else ""
    opened = " open" if group.unfolded else ""
    lines = [f"<details{opened}><summary><b>{group.heading}</b>{asked}</summary>", ""]
    lines += [f"| {heading} | we find | notes |", "|---|---|---|"]
    for claim in group.claims:
        words = f"{escape(claim['words'])} ({escape(claim['where'])})"
        cells = (words, found(claim), read_beside(claim))
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return [*lines, "", "</details>", ""]
