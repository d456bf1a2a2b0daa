"""Every two algorithms that met on a family, as scripts for the page that compares them.

A script is one family: its texts once, and a line for each meeting, so that new runs change few
lines. Numbers in the place of texts say which text it is.
"""

import json
from typing import Any

from pfedrl.analysis import compare_words as words
from pfedrl.analysis.compare import (
    Difference,
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

DOTS = 20  # seeds of a plot, at most


class Texts(dict[str, int]):
    """Each text with its number."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


def pairs(names: Names) -> dict[str, str]:
    """By family, a script that adds to PAIRS its meetings, each with both directions in words."""
    found: dict[str, list[tuple[Meeting, str]]] = {}
    project = names.project
    for paper, page in project.papers.items():
        for experiment, spec in page.experiments.items():
            if spec.family is not None and page.reading_of(experiment) is None:
                own = found.setdefault(names.family(paper, experiment), [])
                own += [(one, page.short) for one in all_meetings(project, paper, experiment)]
    return {family: _script(names, family, own) for family, own in sorted(found.items()) if own}


def _script(names: Names, family: str, meetings: list[tuple[Meeting, str]]) -> str:
    texts = Texts()
    fullest = sorted(meetings, key=lambda one: (not one[0].whole, -one[0].seeds))
    rows = [_json(_pair(names, meeting, short, texts)) for meeting, short in fullest]
    listed = ",\n".join(map(_json, texts))
    joined = ",\n".join(rows)
    return f"PAIRS[{_json(family)}]={{texts:[\n{listed}],\nrows:[\n{joined}]}};\n"


def _pair(names: Names, meeting: Meeting, short: str, texts: Texts) -> dict[str, Any]:
    project = names.project
    found = differences(project, meeting)
    count = len(main(project, meeting, [one.metric for one in found])) or 1
    back = [reversed_difference(one) for one in found[:count]]
    ours, theirs = values_of(project, meeting)
    by_seed = (ours[found[0].metric] - theirs[found[0].metric])[:DOTS]
    at = f", {meeting.point}" if meeting.point else ""
    return {
        "a": texts[meeting.first],
        "b": texts[meeting.second],
        "paper": texts[short],
        "title": texts[f"{meeting.title}{at}"],
        "page": texts[f"{meeting.paper}/comparison_{meeting.experiment}.html"],
        "seeds": meeting.seeds,
        "budget": texts[meeting.budget],
        "said": [words.sentence(meeting, found[:count]), words.sentence(turned(meeting), back)],
        "metrics": [_metric(one, texts) for one in found],
        "dots": [_short(value) for value in by_seed],
        "readings": [
            [texts[one.words], words.result(one), texts[one.budget]]
            for one in readings(project, meeting, found[0].metric)
        ],
    }


def _metric(one: Difference, texts: Texts) -> list[Any]:
    """What the page shows of a metric, in the order in which its script takes it apart."""
    numbers = [_short(value) for value in (one.first, one.second, one.mean, one.low, one.high)]
    states = [texts[words.state(one)], texts[words.state(reversed_difference(one))]]
    counts = [one.won, one.lost, one.tied, one.missing]
    return [texts[one.words], one.better, *numbers, *counts, *states]


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _json(value: Any) -> str:
    return json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False)
