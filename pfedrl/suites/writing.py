"""The files of a leaderboard: tables, figures, and the numbers behind them."""

from dataclasses import asdict
from pathlib import Path

import pandas as pd

from pfedrl.analysis.drawing import write_csv, write_figure
from pfedrl.analysis.output import write_json, write_text
from pfedrl.analysis.style import every_style, listed_styles, paper_style
from pfedrl.analysis.tables import markdown
from pfedrl.pipeline.project import Project
from pfedrl.suites import drawings
from pfedrl.suites.board import Board, caption, table


def write_board(project: Project, found: Board, folder: Path, made_from: str = "") -> list[Path]:
    """Everything about a suite, in a folder of its own name; returned are the files."""
    folder.mkdir(parents=True, exist_ok=True)
    made, told = table(found), found.plain()
    for name, rows in (("leaderboard", found.rows), ("agents", found.sharing),
                       ("pairs", found.pairs), ("places", found.placed)):  # fmt: skip
        if rows:
            write_csv(folder / f"{name}.csv", pd.DataFrame([asdict(row) for row in rows]))
    write_text(
        folder / "leaderboard.md",
        markdown(made, found.suite.title, f"{found.suite.description} {caption(found)}"),
    )
    styles, pictures = every_style(listed_styles(project)), []
    with paper_style():
        drawn = {
            "scores": drawings.scores(found, styles), "agents": drawings.agents(found),
            "heterogeneity": drawings.by_spread(found, styles),
        }  # fmt: skip
    for name, figure in drawn.items():
        if figure is not None:
            write_figure(folder / name, figure)
            pictures.append(name)
    write_json(folder / "leaderboard.json", {"made_from": made_from, **told, "pictures": pictures})
    return sorted(folder.iterdir())
