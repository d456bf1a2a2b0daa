"""Every two algorithms that met on a family, as a script for the page that compares them."""

import json
from typing import Any

from pfedrl.analysis import compare_words as words
from pfedrl.analysis.compare import (
    Meeting,
    all_meetings,
    differences,
    main,
    readings,
    reversed_difference,
    turned,
    values_of,
)
from pfedrl.analysis.output import plain
from pfedrl.analysis.pages.names import Names

MOST = 5  # metrics of a pair; the console shows all of them
DOTS = 20  # seeds of a plot, at most


def pairs(names: Names) -> str:
    """A script that sets PAIRS: by family the meetings, each with both directions in words."""
    found: dict[str, list[dict[str, Any]]] = {}
    project = names.project
    for paper, page in project.papers.items():
        for experiment, spec in page.experiments.items():
            if spec.family is None or page.reading_of(experiment) is not None:
                continue
            own = found.setdefault(names.family(paper, experiment), [])
            for meeting in all_meetings(project, paper, experiment):
                own.append(_pair(names, meeting) | {"paper": page.short, "page": paper})
    kept = {family: _fullest_first(rows) for family, rows in sorted(found.items()) if rows}
    return f"window.PAIRS={json.dumps(plain(kept), separators=(',', ':'), ensure_ascii=False)};\n"


def _fullest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (not row["whole"], -row["seeds"]))


def _pair(names: Names, meeting: Meeting) -> dict[str, Any]:
    project = names.project
    first = differences(project, meeting)
    count = len(main(project, meeting, [one.metric for one in first])) or 1
    back = [reversed_difference(one) for one in first[:count]]
    said = [words.sentence(meeting, first[:count]), words.sentence(turned(meeting), back)]
    ours, theirs = values_of(project, meeting)
    top = first[0]
    by_seed = (ours[top.metric] - theirs[top.metric])[:DOTS]
    at = f", {meeting.point}" if meeting.point else ""
    return {
        "a": meeting.first,
        "b": meeting.second,
        "title": f"{meeting.title}{at}",
        "experiment": meeting.experiment,
        "seeds": meeting.seeds,
        "budget": meeting.budget,
        "whole": meeting.whole,
        "said": said,
        "rows": [
            [one.words, one.better, *(_short(v) for v in (one.first, one.second, one.mean)),
             _short(one.low), _short(one.high), one.won, one.lost, one.tied]
            for one in first[:MOST]
        ],
        "dots": [_short(value) for value in by_seed],
        "readings": [words.reading_line(one) for one in readings(project, meeting, top.metric)],
    }  # fmt: skip


def _short(value: float) -> float:
    return float(f"{value:.4g}")
