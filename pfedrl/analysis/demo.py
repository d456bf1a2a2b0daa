"""One table and one learning curve in a minute, each compared with the paper and with the record.

The runs are the first seeds of runs that are committed, so every one of them can be compared.
"""

import os
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pfedrl.analysis.drawing import draw
from pfedrl.analysis.output import read_result
from pfedrl.analysis.style import (
    every_style,
    label_of,
    listed_styles,
    new_figure,
    paper_style,
    save,
)
from pfedrl.analysis.summaries import Summary, read_summary
from pfedrl.analysis.summarise import summarise
from pfedrl.core.metrics import words_of
from pfedrl.core.processor import flags
from pfedrl.core.progress import progress_bar
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.execute import run
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reruns import compare_with_record
from pfedrl.pipeline.store import block_name, run_path
from pfedrl.pipeline.verify import why_other_bits

SCALE, PAPER = "demo", "qavg"
TABLE = ("table1_random_mdps", "table1_windy_cliffs")
CURVE, LEARNERS, METRIC = "deep_cartpoles", ("dqn", "dqn_avg_12"), "greedy_return"
SUMMARIES = Path("results", SCALE, "summaries")
FIGURES = Path("results", SCALE, "paper_figures", PAPER)
BARS = "▁▂▃▄▅▆▇█"
NEXT = """Next:
  open paper_figures/index.html                      every table, figure and verdict of the record
  pfedrl compare pfed_dqn_rep dqn_avg --on cartpole  two algorithms, from the committed runs
  make reproduce TARGET=qavg                         one paper from your own runs"""


def demo(project: Project, console: Console) -> None:
    """Run, draw and compare; everything is written below results/demo."""
    began = time.monotonic()
    answers: Counter[str] = Counter()
    here, whole = (
        project.budget(project.scale(scale), PAPER, TABLE[0]) for scale in (SCALE, "paper")
    )
    assert here is not None and whole is not None
    console.print(
        f"1 of 2: QAvg's Table 1 with {here.seeds} seeds (the paper: {whole.seeds:,}), about 10 s"
    )
    for experiment in TABLE:
        answers.update(_run(project, experiment))
    draw(project, PAPER, "table1", SCALE, SUMMARIES, FIGURES)
    table = read_result(FIGURES / "table1.json")
    assert table is not None
    for experiment in TABLE:
        title = project.experiment(PAPER, experiment).title
        console.print(beside(title, [r for r in table["printed"] if r["experiment"] == experiment]))
    within = sum(abs(row["deviation"]) <= 2 for row in table["printed"])
    console.print(
        f"{within} of {len(table['printed'])} printed numbers lie within two combined standard "
        f"errors of ours. Saved: {FIGURES / 'table1.md'}\n"
    )
    console.print(
        "2 of 2: DQN alone and averaged (DQNAvg) on CartPoles of unlike length, about 30 s"
    )
    answers.update(_run(project, CURVE, LEARNERS))
    summary = read_summary(SUMMARIES, PAPER, CURVE)
    for line in in_text(summary):
        console.print(line)
    console.print(f"Saved: {draw_curves(project, summary)}\n")
    console.print(_record(answers))
    console.print(f"Done in {time.monotonic() - began:.0f} s.\n\n{NEXT}")


def _run(project: Project, experiment: str, only: Collection[str] = ()) -> Iterator[str]:
    """Run the cells of an experiment, summarise them, and say how each compares with the record."""
    chosen = [
        cell
        for cell in cells(project, PAPER, experiment, SCALE)
        if not only or cell.variant in only
    ]
    with progress_bar(project.experiment(PAPER, experiment).title, every=5.0) as progress:
        for place, cell in enumerate(chosen):
            run(cell, cell.seeds, run_path(cell, block_name(cell.seeds)))
            progress(place + 1, len(chosen))
    summarise(project, PAPER, experiment, SCALE)
    for cell in chosen:
        compared = compare_with_record(project, cell, cell.seeds)
        yield "nothing stored" if compared is None else compared.answer


def beside(title: str, printed: list[dict[str, Any]]) -> Table:
    """Ours beside the paper's, one row for each kappa."""
    table = Table("κ", box=None, pad_edge=False, padding=(0, 1, 0, 0), title=title,
                  title_justify="left")  # fmt: skip
    algorithms = list(dict.fromkeys(row["variant"] for row in printed))
    for name in algorithms:
        table.add_column(f"{label_of(name)}\nours", justify="right")
        table.add_column("\npaper", justify="right", style="bold")
    for kappa in dict.fromkeys(row["at"] for row in printed):
        found = {row["variant"]: row for row in printed if row["at"] == kappa}
        numbers = [
            text
            for name in algorithms
            for text in (f"{found[name]['ours']:.2f}±{found[name]['our_error']:.2f}",
                         found[name]["printed"].replace(" ", ""))
        ]  # fmt: skip
        table.add_row(f"{kappa:g}", *numbers)
    return table


def in_text(summary: Summary) -> Iterator[str]:
    """Each learner's curve as a line of bars on one common scale."""
    curves = {name: summary.curve(name, METRIC) for name in LEARNERS}
    ends = [value for curve in curves.values() for value in curve["mean"]]
    least, most = min(ends), max(ends)
    for name, curve in curves.items():
        bars = "".join(
            BARS[round((value - least) / (most - least) * (len(BARS) - 1))]
            for value in curve["mean"]
        )
        label = label_of(_algorithm(summary, name))
        cap = summary.family(name)["cap"]
        yield f"{label:8s} {bars}  {curve['mean'].iloc[-1]:5.1f} of {cap} steps at the end"


def draw_curves(project: Project, summary: Summary) -> Path:
    """The same curves as a picture."""
    path = FIGURES / "cartpoles.png"
    styles = every_style(listed_styles(project))
    with paper_style():
        figure, axis = new_figure(2.6)
        for name in LEARNERS:
            curve, algorithm = summary.curve(name, METRIC), _algorithm(summary, name)
            axis.plot(curve["at"], curve["mean"], color=styles.of(algorithm).colour,
                      label=label_of(algorithm))  # fmt: skip
        axis.set(xlabel="episode", ylabel=words_of(METRIC), ylim=(0, None))
        axis.set_title("CartPoles: DQN alone and averaged, mean over agents, one seed", loc="left")
        axis.legend(loc="lower right")
    save(figure, path)
    return path


def _algorithm(summary: Summary, cell: str) -> str:
    return str(summary.algorithm(cell)["name"])


def _record(answers: Counter[str]) -> str:
    """How the runs compare with the committed ones, in one line."""
    if set(answers) == {"same bits"}:
        return f"Equal to the record: same bits in all {answers.total()} runs."
    counted = ", ".join(f"{answer} in {count}" for answer, count in answers.most_common())
    reason = why_other_bits(os.environ, flags())
    return f"Compared with the record: {counted}." + (f" {reason}" if reason else "")
