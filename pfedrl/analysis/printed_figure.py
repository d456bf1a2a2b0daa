"""Every printed number of all papers beside ours, in one picture and one table."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from pfedrl.analysis.cuts import cuts
from pfedrl.analysis.drawing import write_csv
from pfedrl.analysis.output import read_result
from pfedrl.analysis.printed import GRADES
from pfedrl.analysis.style import FAINT, INK, new_figure, paper_style, save
from pfedrl.core.files import write_text
from pfedrl.core.metrics import words_of
from pfedrl.core.registry import load, load_runnable
from pfedrl.pipeline.paper import Experiment
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import RECORD

# a colour and a marker for what a number is, whatever its paper
KINDS = {
    "mean": ("#0072B2", "o"),
    "median": ("#E69F00", "^"),
    "standard deviation": ("#CC79A7", "s"),
}


def draw_printed(project: Project, figures: Path) -> None:
    """Write printed.png, printed.csv and printed.md into the folder of the drawn artifacts.

    None is written where no printed number has a run.
    """
    found = printed_numbers(project, figures)
    if not found:
        return
    rows = pd.DataFrame(found)
    write_csv(figures / "printed.csv", rows)
    write_text(figures / "printed.md", _page(rows))
    rows = rows.sort_values("shortened", kind="stable")  # papers run at full length first
    panels = list(rows.groupby(["short", "on"], sort=False))
    columns = 3
    with paper_style():
        height = 2.45 * -(-len(panels) // columns) + 0.4
        figure, axes = new_figure(height, ncols=columns, nrows=-(-len(panels) // columns))
        for axis, ((short, on), group) in zip(axes.T.flat, panels, strict=False):
            _panel(axis, f"{short}, {on}", group)
        for axis in axes.T.flat[len(panels) :]:
            axis.set_axis_off()
        handles = [
            Line2D([], [], color=colour, marker=marker, linestyle="", label=kind)
            for kind, (colour, marker) in KINDS.items()
        ]
        handles += [
            Line2D([], [], color=INK, marker="o", linestyle="", label="the paper's settings"),
            Line2D([], [], color=INK, marker="o", linestyle="", mfc="none",
                   label="shorter training, smaller model"),
            Line2D([], [], color=FAINT, linewidth=0.8, label="ours = paper's"),
        ]  # fmt: skip
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
    save(figure, figures / "printed.png")


def printed_numbers(project: Project, figures: Path) -> list[dict[str, Any]]:
    """One row for each printed number with a run of ours, from the artifacts' json files."""
    rows = []
    for name, paper in project.papers.items():
        for artifact in paper.artifacts:
            known = read_result(figures / name / f"{artifact}.json")
            for row in known["printed"] if known else ():
                experiment = project.experiment(name, row["experiment"])
                family = (experiment.family or {})["name"]
                label = load("envs", family).label
                shortened = bool(cuts(project, name, row["experiment"], RECORD))
                rows.append(
                    {
                        "short": paper.short,
                        "artifact": artifact,
                        "on": experiment.title if family == "labelled_data" else label,
                        "algorithm": _label(experiment, row["variant"]),
                        "metric": row["metric"],
                        "kind": _kind(row["metric"]),
                        "at": row["at"],
                        "paper": row["theirs"],
                        "paper_se": row["their_error"],
                        "ours": row["ours"],
                        "ours_se": row["our_error"],
                        "seeds": row["seeds"],
                        "distance": row["distance"],
                        "grade": row["grade"],
                        "shortened": shortened,
                    }
                )
    return rows


def _label(experiment: Experiment, variant: str) -> str:
    """A variant as its experiment or its algorithm calls it."""
    algorithm = experiment.variants[variant].get("algorithm", variant)
    return experiment.labels.get(variant) or str(load_runnable(algorithm).label)


def _page(rows: pd.DataFrame) -> str:
    """How many printed numbers are near ours or far, by table and environment, and every one."""
    lines = [
        "# Printed numbers beside ours",
        "",
        "The distance is ours less the printed number, as a share of the range between the control "
        "that learns nothing and the best that is known. A number is *same* if the 95% interval of "
        "its distance lies within 2%, *near* within 10%, *far* if it lies beyond 10%, and *open* "
        "otherwise. Numbers of a shorter training than the paper's are marked.",
        "",
        f"| table | environment | {' | '.join(GRADES)} |",
        f"|---|---|{'--:|' * len(GRADES)}",
    ]
    for (short, artifact, on), group in rows.groupby(["short", "artifact", "on"], sort=False):
        found = group["grade"].tolist()
        cells = (str(found.count(grade) or "") for grade in GRADES)
        lines.append(f"| {short}, {artifact} | {on} | {' | '.join(cells)} |")
    lines += ["", "| table | environment | algorithm | metric | at | paper | ours | distance | |",
              "|---|---|---|---|--:|--:|--:|--:|---|"]  # fmt: skip
    for row in rows.to_dict("records"):
        at = "" if pd.isna(row["at"]) else str(row["at"])
        distance = "" if pd.isna(row["distance"]) else f"{row['distance']:+.1%}"
        mark = f"{row['grade']}{', shorter training' if row['shortened'] else ''}"
        lines.append(
            f"| {row['short']}, {row['artifact']} | {row['on']} | {row['algorithm']} "
            f"| {words_of(row['metric'])} | {at} | {row['paper']:g} | {row['ours']:.4g} "
            f"| {distance} | {mark} |"
        )
    return "\n".join([*lines, ""])


def _panel(axis: Axes, title: str, rows: pd.DataFrame) -> None:
    ends = rows[["paper", "ours"]].to_numpy(float)
    least, most = np.nanmin(ends), np.nanmax(ends)
    room = 0.06 * (most - least or 1.0)
    span = (least - room, most + room)
    axis.plot(span, span, color=FAINT, linewidth=0.8, zorder=1)
    for kind, shortened in rows[["kind", "shortened"]].drop_duplicates().to_numpy():
        of = rows[(rows["kind"] == kind) & (rows["shortened"] == shortened)]
        colour, marker = KINDS[kind]
        axis.errorbar(
            of["paper"].to_numpy(), of["ours"].to_numpy(), color=colour, marker=marker, mew=0.8,
            xerr=1.96 * of["paper_se"].fillna(0.0).to_numpy(float),
            yerr=1.96 * of["ours_se"].to_numpy(float),
            mfc="none" if shortened else colour, elinewidth=0.6, linestyle="",
        )  # fmt: skip
    axis.xaxis.set_major_locator(MaxNLocator(5))
    axis.yaxis.set_major_locator(MaxNLocator(5))
    unit = "accuracy, %" if "accuracy" in rows["metric"].iloc[0] else "return"
    axis.set(xlim=span, ylim=span, aspect="equal", xlabel=f"printed {unit}", ylabel="ours")
    axis.set_title(f"{title} ({len(rows)})", loc="left")


def _kind(metric: str) -> str:
    for word, kind in (("_median", "median"), ("_deviation", "standard deviation")):
        if metric.endswith(word):
            return kind
    return "mean"
