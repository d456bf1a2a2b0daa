"""Drawing a table or a figure: what its module gets, and the files it becomes."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pfedrl.analysis.cuts import cuts_of
from pfedrl.analysis.labels import variant_label
from pfedrl.analysis.options import BaseOptions, module_of
from pfedrl.analysis.output import listed, rebuild_command, write_json
from pfedrl.analysis.printed import Comparison, compare
from pfedrl.analysis.style import METADATA, Styles, every_style, listed_styles, paper_style, save
from pfedrl.analysis.summaries import Summary, read_summary, sweep_name
from pfedrl.analysis.tables import Table, latex, markdown
from pfedrl.core.errors import unknown
from pfedrl.core.files import write_text
from pfedrl.core.settings import validate
from pfedrl.pipeline.paper import SUFFIXES, Artifact, Paper
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.served import absent

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Given = TypeVar("Given", bound=BaseOptions)


@dataclass(frozen=True)
class Context:
    """What a module in figures/ draws from."""

    paper: Paper
    name: str
    artifact: Artifact
    scale: str
    summaries: dict[str, Summary]  # by experiment, in the artifact's order
    styles: Styles
    cut: str = ""  # what the scale runs less of than the paper
    absent: dict[str, str] = field(default_factory=dict)  # why experiments are missing

    def options(self, model: type[Given]) -> Given:
        """The artifact's options, validated by the drawing's model."""
        return validate(model, self.artifact.options, f"{self.paper.paper}/{self.name}, options")

    def comparisons(self) -> list[Comparison]:
        """The artifact's printed numbers beside ours."""
        return [
            compare(printed, self.summaries)
            for printed in self.artifact.printed
            if printed.experiment in self.summaries
        ]

    def printed(self, experiment: str, cell: str, metric: str) -> float:
        """The paper's number for a cell's final value, wherever it is printed, or nan."""
        summary = self.summaries[experiment]
        variant = summary.facts["cells"][cell]["variant"]
        for row in self.paper.printed:
            if (row.experiment, row.variant, row.metric) == (experiment, variant, metric):
                point = {} if row.along is None else {sweep_name(row.along): float(row.at or 0)}
                if summary.cell_at(variant, **point) == cell:
                    return float(row.value)
        return math.nan

    def label(self, experiment: str, cell: str) -> str:
        """What tables and figures call a cell: by its experiment's labels, or as its algorithm."""
        facts = self.summaries[experiment].facts["cells"][cell]
        spec = self.paper.experiments[experiment]
        return variant_label(spec, facts["variant"], facts["settings"]["algorithm"])

    def title(self, experiment: str) -> str:
        """An experiment's title, with the reason where it was not run."""
        title = self.paper.experiments[experiment].title
        return f"{title}: {self.absent[experiment]}" if experiment in self.absent else title

    def short_title(self, experiment: str) -> str:
        """An experiment's title up to its first comma."""
        return self.paper.experiments[experiment].title.split(",")[0]

    def seeds(self) -> str:
        """The number of seeds, or the least and the most where experiments differ."""
        counts = sorted({len(summary.seeds) for summary in self.summaries.values()})
        number = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        return f"{number} {'seed' if counts == [1] else 'seeds'}"

    def ran_at(self, *experiments: str) -> str:
        """What the budgets of experiments are called, or of all: as their scale, or otherwise."""
        chosen = [self.summaries[name] for name in experiments or self.summaries]
        return " and ".join(sorted({one.facts["budget"] or self.scale for one in chosen}))

    def caption(self) -> str:
        """The artifact's caption, with the scale, the number of seeds, and what the scale cuts."""
        cut = f"; {self.cut}" if self.cut else ""
        left_out = "".join(f" {self.title(name)}." for name in self.absent)
        scale = f"Scale {self.ran_at()}, {self.seeds()}{cut}."
        return f"{self.artifact.caption.strip()} {scale}{left_out}"


@dataclass(frozen=True)
class Drawing:
    """A figure and the numbers that it shows, beside a table where there is one."""

    figure: Figure
    data: pd.DataFrame
    table: Table | None = None


def context_of(
    project: Project, paper_name: str, artifact_name: str, scale_name: str, summaries_dir: Path
) -> Context:
    """What an artifact is drawn from; summaries_dir has one folder for each paper."""
    paper = project.paper(paper_name)
    if artifact_name not in paper.artifacts:
        where = f"workflow/papers/{paper_name}/artifacts.yaml"
        raise unknown("artifact", artifact_name, paper.artifacts, where)
    artifact = paper.artifacts[artifact_name]
    reasons = {name: absent(project, paper_name, name, scale_name) for name in artifact.may_miss}
    missing = {name: reason for name, reason in reasons.items() if reason is not None}
    present = [name for name in artifact.experiments if name not in missing]
    summaries = {name: read_summary(summaries_dir, paper_name, name) for name in present}
    cut = cuts_of(project, paper_name, present, scale_name)
    styles = every_style(listed_styles(project))
    return Context(paper, artifact_name, artifact, scale_name, summaries, styles, cut, missing)


def drawn(context: Context) -> Table | Drawing:
    """The table or figure, before it is written."""
    artifact = context.artifact
    where = f"workflow/papers/{context.paper.paper}/artifacts.yaml, {context.name}.draw"
    module = module_of(artifact, where)
    with nullcontext() if artifact.kind == "table" else paper_style():
        return module.draw(context)


def draw(
    project: Project,
    paper_name: str,
    artifact_name: str,
    scale_name: str,
    summaries_dir: Path,
    output_dir: Path,
    made_from: str = "",
) -> list[Path]:
    """Draw one table or figure into output_dir, the paper's own folder, and return the files."""
    context = context_of(project, paper_name, artifact_name, scale_name, summaries_dir)
    stem = output_dir / artifact_name
    provenance = {"made_from": made_from, **_provenance(context)}
    made = drawn(context)
    table = made if isinstance(made, Table) else made.table
    if table is not None:
        provenance["table"] = table.plain()
        _write_table(stem, table, context)
    if isinstance(made, Drawing):
        write_figure(stem, made.figure)
    write_csv(stem.with_suffix(".csv"), made.data)
    write_json(stem.with_suffix(".json"), provenance)
    return [stem.with_suffix(f".{end}") for end in SUFFIXES[context.artifact.kind]]


def _write_table(stem: Path, table: Table, context: Context) -> None:
    title, caption = context.artifact.title, context.caption()
    write_text(stem.with_suffix(".md"), markdown(table, title, caption))
    if "tex" not in SUFFIXES[context.artifact.kind]:
        return
    label = f"{context.paper.paper}-{context.name}"
    write_text(stem.with_suffix(".tex"), latex(table, title, caption, label))


def write_figure(stem: Path, figure: Figure) -> None:
    """The figure as pdf and png, with the same bytes every time."""
    for end in METADATA:
        save(figure, stem.with_suffix(f".{end}"))


def write_csv(path: Path, data: pd.DataFrame) -> None:
    write_text(path, data.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


def _provenance(context: Context) -> dict[str, Any]:
    """Where the numbers came from, and the command that draws them again."""
    facts = [summary.facts for summary in context.summaries.values()]
    artifact = context.artifact
    versions = [pair for fact in facts for pair in fact["versions"].items()]
    return {
        "paper": context.paper.paper,
        "artifact": context.name,
        "kind": artifact.kind,
        "title": artifact.title,
        "caption": context.caption(),
        "scale": context.ran_at(),
        "command": rebuild_command(context.paper.paper, context.name, context.scale),
        "seeds": {
            name: [summary.seeds.start, summary.seeds.stop]
            for name, summary in context.summaries.items()
        },
        "commits": sorted({commit for fact in facts for commit in fact["commits"]}),
        "origins": {  # which seeds came from which commit and machine
            name: summary.facts["origins"] for name, summary in context.summaries.items()
        },
        "versions": listed((name, one) for name, found in versions for one in found),
        "core_seconds": round(sum(fact["cpu_seconds"] for fact in facts), 1),
        "peak_memory_mb": max(fact["peak_memory_mb"] for fact in facts),
        "run_files": {fact["experiment"]: len(fact["runs"]) for fact in facts},
        "runs": sorted({run for fact in facts for run in fact["runs"]}),
        "printed": [vars(row) for row in context.comparisons()],
    }
