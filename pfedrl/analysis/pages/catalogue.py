"""Algorithms and environments, from the registry: what is shared, what varies, every score."""

import os
from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from pfedrl.analysis.pages.names import Names, settings_in_words
from pfedrl.analysis.pages.plots import exchange_diagram
from pfedrl.core.metrics import words_of
from pfedrl.core.registry import components, is_control, load
from pfedrl.core.settings import read_yaml

PARTS = {
    "body": "representation",
    "*_body": "representation",
    "*": "everything",
    "global.*": "global model",
}
MIXINGS = {
    "ServerAverage": "the server averages",
    "NeighbourAverage": "neighbours on a graph",
    "ByMask": "neighbours on a graph",
    "ByVisits": "the server, by visits",
    "Distillation": "the server distils",
}
PRIVATE = {("body",): "head", ("*_body",): "heads", ("features",): "weights",
           ("global.*",): "personal model"}  # fmt: skip
PICTURES = "environments"  # a folder of pictures by family, where there are any


def slug(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text.lower()).strip("-")


def scores(names: Names, figures: Path) -> list[dict[str, Any]]:
    """Every final value that a comparison of variants shows."""
    found = []
    for paper, page in names.project.papers.items():
        for artifact in page.artifacts:
            path = figures / paper / f"{artifact}.csv"
            if page.artifacts[artifact].kind != "comparison" or not path.exists():
                continue
            rows = pd.read_csv(path)
            experiment = page.artifacts[artifact].experiments[0]
            for row in rows.to_dict("records"):
                if row["algorithm"] not in components("algorithms") or pd.isna(row["mean"]):
                    continue
                found.append(row | {
                    "paper": page.short, "page": f"{paper}/{artifact}.html",
                    "title": page.experiments[experiment].title,
                    "family": names.family(paper, experiment), "words": words_of(row["metric"]),
                    "reading": page.reading_of(experiment) is not None,
                    "point": row["point"] if isinstance(row.get("point"), str) else "",
                })  # fmt: skip
    return found


def algorithms(
    names: Names, figures: Path, every: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Learners first, then controls, by label; an exchange that is put on every method once."""
    listed: set[str] = set()
    runnable: dict[str, Any] = {}
    called: dict[str, dict[str, str]] = {}
    for paper, page in names.project.papers.items():
        for experiment, spec in page.experiments.items():
            for cell in names.cells(paper, experiment).values() if spec.family else ():
                runnable.setdefault(cell.algorithm, cell.runnable)
                if cell.variant not in spec.labels:
                    continue
                if cell.variant == cell.algorithm and "{" not in spec.labels[cell.variant]:
                    called.setdefault(cell.algorithm, {})[names.algorithm(cell)] = page.short
    for name in sorted(
        components("algorithms"), key=lambda n: (is_control(n), load("algorithms", n).label)
    ):
        kind = load("algorithms", name)
        module = import_module(kind.__module__)
        place = slug(f"{kind.label} {kind.__module__.split('.')[-2]}")
        if place in listed:
            continue
        listed.add(place)
        shared, private, mixing = _shared(runnable.get(name), kind)
        other = {label: of for label, of in called.get(name, {}).items() if label != kind.label}
        own = [row for row in every if row["algorithm"] == name and not row["reading"]]
        yield {
            "label": kind.label,
            "slug": place,
            "control": is_control(name),
            "about": " ".join((getdoc(module) or "").split()),
            "does": " ".join((getdoc(kind) or "").split()),
            "also": ", ".join(f"{label} in {of}" for label, of in other.items()),
            "shared": shared, "private": private, "mixing": mixing,
            "diagram": "" if is_control(name) else exchange_diagram(shared, private, mixing),
            "code": os.path.relpath(str(module.__file__), figures.absolute()),
            "scores": own,
        }  # fmt: skip


def _shared(configured: Any, kind: Any) -> tuple[str, str, str]:
    """What an algorithm's exchange shares, what stays private, and how it is mixed."""
    shares, mixing = tuple(getattr(kind, "shares", ())), "the server averages"
    sizes = SimpleNamespace(sizes=np.ones((1, 4)))
    try:
        exchange = configured.exchange(SimpleNamespace(agents=4, train=sizes), [0])
        shares = tuple(getattr(exchange, "shares", shares))
        mixed = getattr(exchange, "mixing", exchange)
        mixing = MIXINGS.get(type(mixed).__name__, "nothing is exchanged")
        if mixing != "nothing is exchanged" and not shares:
            shares = ("table",)
    except AttributeError:  # it asks more of a task than its number of agents
        distils = kind.exchange.__qualname__.startswith("Distilled")
        shares, mixing = (("networks",), "the server distils") if distils else (shares, mixing)
    if not shares:
        return "", "everything", "nothing is exchanged"
    every = set(getattr(kind, "parts", ()))
    private = PRIVATE.get(shares) or ", ".join(sorted(every - set(shares)))
    whole = {"body", "head"} <= {part.removeprefix("*_") for part in shares}
    shown = "network" if whole else ", ".join(PARTS.get(p, p.removeprefix("*_")) for p in shares)
    return shown, private, mixing


def environments(
    names: Names, figures: Path, every: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The families: what varies, their settings, controls, and the scores on them."""
    for name in components("envs"):
        kind = load("envs", name)
        path = names.project.root / "envs" / f"{name}.yaml"
        given = read_yaml(path) if path.exists() else {}
        own = [row for row in every if row["family"] == kind.label and not row["reading"]]
        picture = f"{PICTURES}/{name}.png"
        yield {
            "label": kind.label,
            "slug": slug(kind.label),
            "about": given.get("description") or " ".join((getdoc(kind) or "").split()),
            "varies": kind.varies.replace("`", ""),
            "settings": settings_in_words(
                {k: v for k, v in given.items() if k not in ("family", "description")}
            ),
            "picture": picture if (figures / picture).exists() else "",
            "controls": sorted({row["label"] for row in own if is_control(row["algorithm"])}),
            "scores": own,
        }
