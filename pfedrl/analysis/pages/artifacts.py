"""The page of a table or figure: its chart, its printed numbers, how it is made, and from what."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pfedrl.analysis.curves import looks
from pfedrl.analysis.cuts import cuts
from pfedrl.analysis.output import DEFAULT_SCALE, rebuild_command
from pfedrl.analysis.pages.names import Names, settings_in_words
from pfedrl.core.metrics import words_of
from pfedrl.pipeline.costs import duration
from pfedrl.pipeline.paper import Paper

CENTRES = ("mean", "geometric_mean")  # columns that a chart can show, the first that is there
ALONG = ("at", "agents")
LINES = ("line", "label", "variant", "algorithm")
THEIRS = ("paper_mean", "paper")
MOST_ROWS = 60  # of values without a curve


def chart(path: Path, paper: Paper, experiments: list[str], names: Names) -> dict[str, Any] | None:
    """What an interactive chart of a csv shows, in panels; None where it has no such columns."""
    if not path.exists():
        return None
    rows = pd.read_csv(path)
    centre, along, line, theirs = (
        next((one for one in columns if one in rows), None)
        for columns in (CENTRES, ALONG, LINES, THEIRS)
    )
    if centre is None or line is None or not {"low", "high"} <= set(rows):
        return None
    known = {
        name: cell
        for experiment in experiments
        for name, cell in names.cells(paper.paper, experiment).items()
    }
    by_variant = {cell.variant: cell for cell in known.values()}

    def cell_of(row: Any) -> Any:
        found = known.get(row.get("cell"), by_variant.get(row.get("variant")))
        return found or by_variant.get(row.get("algorithm"))

    def label(row: Any) -> str:
        """As the csv has it, or a variant's label with what tells its rows apart."""
        if line in ("line", "label"):
            return str(row[line])
        cell = cell_of(row)
        words = names.algorithm(cell) if cell else str(row[line]).replace("_", " ")
        if "local_steps" in row:
            steps = row["local_steps"]
            words += f", E = {'∞' if steps == float('inf') else f'{steps:g}'}"
        return words

    records = [
        row | {"_label": label(row)} for row in rows.to_dict("records") if pd.notna(row[centre])
    ]
    if (along is None and len(records) > MOST_ROWS) or not records:
        return None
    cells = {row["_label"]: cell_of(row) for row in records}
    plain = names.styles.of("random_policy")
    styles = {
        name: names.styles.of(cell.algorithm) if cell else plain for name, cell in cells.items()
    }
    drawn = looks(styles)
    series = [
        {"name": name, "colour": _hex(look.colour), "dash": " ".join(map(str, look.dash))}
        for name, look in drawn.items()
    ]
    panels: dict[str, dict[str, list[list[float | None]]]] = {}
    for row in records:
        own = panels.setdefault(_panel(row, names, paper), {}).setdefault(row["_label"], [])
        at = row[along] if along else None
        values = (at, row[centre], row["low"], row["high"], row[theirs] if theirs else None)
        own.append([_rounded(value) for value in values])
    metrics = dict.fromkeys(row["metric"] for row in records if isinstance(row.get("metric"), str))
    return {
        "kind": "curves" if along else "values",
        "y": " or ".join(words_of(metric) for metric in list(metrics)[:2]),
        "x": "number of agents" if along == "agents" else "",
        "series": series,
        "panels": [{"title": title, "lines": lines} for title, lines in panels.items()],
    }


def _panel(row: Mapping[Any, Any], names: Names, paper: Paper) -> str:
    if isinstance(row.get("panel"), str):
        return row["panel"]
    if isinstance(row.get("reading"), str):
        return row["reading"]
    if isinstance(row.get("point"), str):
        return row["point"]
    experiment = row.get("experiment")
    title = paper.experiments[experiment].title if experiment in paper.experiments else ""
    if "agent" in row and "at" in row:
        return f"agent {row['agent']}"
    return f"{title}, κ = {row['kappa']:g}" if "kappa" in row else title


def _hex(colour: Any) -> str:
    from matplotlib.colors import to_hex

    return to_hex(colour)


def _rounded(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(f"{float(value):.5g}")


def printed(found: list[dict[str, Any]], paper: Paper, names: Names) -> Iterator[dict[str, Any]]:
    """Ours beside the paper's numbers: distance as a share of the range from control to best."""
    for row in found:
        known = names.cells(paper.paper, row["experiment"])
        label = names.label(known[row["cell"]]) if row["cell"] in known else row["printed"]
        yield row | {
            "title": paper.experiments[row["experiment"]].title,
            "label": label,
            "words": words_of(row["metric"]),
        }


def commands(paper: Paper, artifact: str, scale: str, names: Names) -> list[tuple[str, str, str]]:
    """What makes an artifact: the command, what it does, and its core time."""
    named = paper.artifacts[artifact].experiments
    found = []
    for chosen, words in (
        (DEFAULT_SCALE, "Make it from runs of your own, shortened for two cores"),
        ("paper", "Make it with the paper's own settings"),
    ):
        scales = names.project.root / "workflow" / "scales"
        known = (scales / f"{chosen}.yaml").exists()
        price = cost(names, paper.paper, named, chosen) if known else None
        if price is not None:
            found.append((rebuild_command(paper.paper, artifact, chosen), words, price))
    drawn = "Draw this page's version again, from the committed runs"
    return [*found, (rebuild_command(paper.paper, artifact, scale), drawn, "seconds")]


def cost(names: Names, paper: str, experiments: list[str], scale: str) -> str | None:
    """The core time of experiments at a scale, by what committed runs took; None without any."""
    project, known, hours = names.project, names.known, 0.0
    chosen = project.scale(scale)
    run = [name for name in experiments if project.budget(chosen, paper, name) is not None]
    if not run:
        return None
    for experiment in run:
        for cell in Names(project, scale).cells(paper, experiment).values():
            if cell.unfit() is not None:
                continue
            one = known.cost(cell, cell.budget.seeds)
            if one is None:
                return "unknown"
            hours += one.seconds / 3600
    return duration(hours)


def settings(paper: Paper, experiment: str, names: Names) -> dict[str, str]:
    """What an experiment ran with, and what was cut."""
    cells = list(names.cells(paper.paper, experiment).values())
    given = [cell.settings()["algorithm"] for cell in cells]
    shared = {
        key: value for key, value in given[0].items() if all(one.get(key) == value for one in given)
    }
    family = cells[0].settings()["family"]
    less = cuts(names.project, paper.paper, experiment, names.scale)
    return {
        "Environments": names.family(paper.paper, experiment),
        "Their settings": settings_in_words(family) if family else "",
        "Settings of every algorithm": settings_in_words(shared),
        "Seeds": f"{cells[0].budget.seeds:,}",
        "Less than in the paper": "; ".join(less) or "nothing",
    }
