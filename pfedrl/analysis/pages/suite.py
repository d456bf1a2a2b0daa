"""The page of a benchmark suite, in the site or by itself."""

from pathlib import Path
from typing import Any

from pfedrl.analysis.output import read_result, write_text
from pfedrl.analysis.pages import TEMPLATES, environment

PICTURES = {
    "scores": "Each algorithm's score with its 95% interval, the best first. A hollow or grey "
    "marker is another variant of the same algorithm.",
    "agents": "What sharing does to each agent: its score less that of the same agent alone, on "
    "the same seeds. + and × mark agents that sharing is shown to help and to hurt.",
    "heterogeneity": "Scores against how far environments differ, with 95% intervals. Where scores "
    "of agents are recorded: how many of them sharing is shown to hurt. Prices below 0.000001 are "
    "drawn there.",
}


def write_page(folder: Path) -> Path:
    """A leaderboard's page beside its tables and figures."""
    found: dict[str, Any] = read_result(folder / "leaderboard.json") or {}
    jinja = environment()
    text = jinja.get_template("bench.html").render(board=found, pictures=PICTURES, folder="")
    for name in ("site.css", "site.js"):
        write_text(folder / name, (TEMPLATES / name).read_text(encoding="utf-8"))
    write_text(folder / "index.html", text)
    return folder / "index.html"
