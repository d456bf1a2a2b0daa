"""Which seeds came from which commit and machine; cells that share all of it are one entry."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Origin = dict[str, Any]
NAMED = 5  # cells; of more, a line gives their number


def origins(cells: Mapping[str, Iterable[Mapping[str, Any]]]) -> list[Origin]:
    """The runs of an experiment by seeds, commit and processor, with the cells that share them.

    `cells` holds what each cell's runs say of themselves, ordered by seeds. What was taken over
    from another experiment is said to be: its runs are told there, and may be of several commits.
    """
    shared: dict[tuple[int, int, tuple[tuple[str, str], ...]], list[str]] = {}
    for name, runs in cells.items():
        spans: list[tuple[int, int, tuple[tuple[str, str], ...]]] = []
        for facts in runs:
            start, stop = facts["seeds"]
            source = tuple(_source(facts).items())
            if spans and spans[-1][1:] == (start, source):
                start = spans.pop()[0]
            spans.append((start, stop, source))
        for span in spans:
            shared.setdefault(span, []).append(name)
    return [
        {"seeds": [start, stop], "cells": names, **dict(source)}
        for (start, stop, source), names in sorted(shared.items())
    ]


def _source(facts: Mapping[str, Any]) -> dict[str, str]:
    if "taken_from" in facts:
        return {"taken_from": facts["taken_from"].split("/")[0]}
    return {"commit": facts["commit"], "processor": facts.get("processor", "")}


def in_words(experiment: str, found: Sequence[Origin]) -> list[str]:
    """A line an entry: 'figure6: seeds 0 to 2, 7 cells, commit 96fe65c, AMD EPYC'."""
    everyone = {cell for origin in found for cell in origin["cells"]}
    return [f"{experiment}: {_line(origin, len(everyone))}" for origin in found]


def _line(origin: Origin, everyone: int) -> str:
    (start, stop), cells = origin["seeds"], origin["cells"]
    seeds = f"seeds {start} to {stop - 1}" if stop - start > 1 else f"seed {start}"
    number = "1 cell" if everyone == 1 else f"{everyone} cells"
    if len(cells) < everyone:
        named = f" ({', '.join(cells)})" if len(cells) <= NAMED else ""
        number = f"{len(cells)} of {number}{named}"
    if "taken_from" in origin:
        return f"{seeds}, {number}, reused from {origin['taken_from']}"
    return ", ".join(filter(None, [seeds, number, f"commit {origin['commit']}",
                                   origin["processor"]]))  # fmt: skip
