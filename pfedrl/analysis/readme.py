"""The blocks of the project's README that `make figures` writes: badges by paper, findings."""

import re
from collections.abc import Mapping
from pathlib import Path

from pfedrl.analysis.findings import Told
from pfedrl.analysis.output import write_text
from pfedrl.analysis.report import Judged
from pfedrl.analysis.telling import links
from pfedrl.analysis.verdict import BADGES, DECIDED
from pfedrl.pipeline.project import Project


def fill_readme(
    project: Project, judged: Judged, told: Mapping[str, list[Told]], figures: Path
) -> None:
    """Write each block into the README beside the figures, where it has a place for it."""
    readme = figures.parent / "README.md"
    if not readme.exists():
        return
    text = readme.read_text(encoding="utf-8")
    blocks = {"badges": badges(project, judged), "findings": headlines(project, told, figures)}
    for name, block in blocks.items():
        place = rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)"
        text = re.sub(place, block.replace("\\", r"\\"), text, flags=re.DOTALL)
    write_text(readme, text)


def badges(project: Project, judged: Judged) -> str:
    """How many of each paper's own sentences have each verdict, the most decided paper first."""
    counts = {project.paper(name).short: found["counts"] for name, found in judged.items() if found}
    order = sorted(counts, key=lambda name: -sum(counts[name][badge] for badge in DECIDED))
    lines = ["| paper | " + " | ".join(BADGES) + " |", "|---|" + "--:|" * len(BADGES)]
    lines += [
        f"| {name} | " + " | ".join(str(counts[name][verdict] or "") for verdict in BADGES) + " |"
        for name in order
    ]
    return "\n".join(lines) + "\n"


def headlines(project: Project, told: Mapping[str, list[Told]], figures: Path) -> str:
    """One line for each finding that has a headline, with links to its figures."""
    return "".join(
        f"- **{one.title}.** {one.headline}{links(project.paper(paper), one, f'{figures.name}/')}\n"
        for paper, found in told.items()
        for one in found
        if one.headline
    )
