"""The report in short, as a page that a code host shows: what was drawn, and every verdict."""

from pathlib import Path
from typing import Any

from pfedrl.analysis.output import write_text
from pfedrl.analysis.report import SYMBOLS, beside, judged_from, ledger, read_result
from pfedrl.pipeline.paper import SUFFIXES, Paper
from pfedrl.pipeline.project import Project


def overview(project: Project, figures_dir: Path, claims_dir: Path) -> None:
    """Write figures_dir/README.md from the same files as the report."""
    sections = [
        _section(paper, figures_dir / name, read_result(claims_dir / f"{name}.json"))
        for name, paper in project.papers.items()
    ]
    heading = "# What was reproduced\n\nThe whole report is `index.html`."
    for words, file in (
        ("How often a verdict may be wrong", "evidence/level.md"),
        ("Which verdicts these rules changed", "evidence/rejudged.md"),
    ):
        if (figures_dir / file).exists():
            heading += f" {words}: [{file}]({file})."
    heading += "\n"
    write_text(figures_dir / "README.md", "\n".join([heading, *sections]))


def _section(paper: Paper, folder: Path, judged: dict[str, Any] | None) -> str:
    lines = [f"## {paper.title}", "", f"{paper.reference}.", ""]
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
    for ours, heading in ((False, "the paper says"), (True, "we ask whether (ours)")):
        claims = [claim for claim in judged["claims"] if claim["ours"] == ours]
        if claims:
            counts = judged["ours" if ours else "counts"]
            lines += _ledger(claims, counts, heading, judged["scale"])
    return "\n".join([*lines, "", ledger(judged), ""])


def _ledger(
    claims: list[dict[str, Any]], counts: dict[str, int], heading: str, scale: str
) -> list[str]:
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    lines = ["", f"Claims {judged_from(scale)}: {counted}.", ""]
    lines += [f"| verdict | {heading} | we find |", "|---|---|---|"]
    for claim in claims:
        words = f"{claim['words']} ({claim['where']})"
        badge = f"{SYMBOLS[claim['verdict']]} {claim['verdict']}"
        cells = ("; ".join([badge, *beside(claim)]), words, claim["evidence"])
        lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return lines
