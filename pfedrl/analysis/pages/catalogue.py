"""Algorithms and environments, from the registry: what is shared, what varies, every score."""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Any

import pandas as pd

from pfedrl.analysis.labels import swept_name
from pfedrl.analysis.pages.exchanges import exchanged
from pfedrl.analysis.pages.names import Names, settings_in_words
from pfedrl.analysis.pages.plots import exchange_diagram
from pfedrl.analysis.style import METADATA, paper_style
from pfedrl.core.files import atomic_write
from pfedrl.core.metrics import words_of
from pfedrl.core.registry import components, is_control, load
from pfedrl.core.settings import read_yaml
from pfedrl.pipeline.paper import UNASKED
from pfedrl.pipeline.scale import FIGURES, RECORD

Rows = list[dict[str, Any]]
PICTURES = "environments"  # the folder of the families' pictures and pages
METHODS = {
    "controls": "controls", "ddpg": "DDPG", "dqn": "DQN", "exchanges": "every method",
    "ppo_kl": "PPO with a KL penalty", "supervised": "supervised learning",
    "tabular": "tables, exact", "td": "tables, from samples",
}  # fmt: skip


def slug(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text.lower()).strip("-")


def scores(names: Names, figures: Path) -> Rows:
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


def split(rows: Iterable[dict[str, Any]]) -> dict[str, Rows]:
    """Scores of the experiments, and those under other readings."""
    every = list(rows)
    return {
        "scores": [row for row in every if not row["reading"]],
        "readings": [row for row in every if row["reading"]],
    }


def algorithms(names: Names, figures: Path, every: Rows, claims: Rows) -> Rows:
    """Learners first, then controls, by label; an exchange that is put on every method once."""
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
    kinds = {name: load("algorithms", name) for name in components("algorithms")}
    listed: dict[tuple[str, str], list[str]] = {}
    for name in sorted(kinds, key=lambda name: (is_control(name), kinds[name].label.lower())):
        listed.setdefault((kinds[name].label, kinds[name].__module__), []).append(name)
    labels = Counter(slug(label) for label, _ in listed)
    found = []
    for (label, module), own in listed.items():
        name, kind, folder = own[0], kinds[own[0]], module.split(".")[-2]
        shares = exchanged(kind, runnable.get(name))
        given = {spoken: of for one in own for spoken, of in called.get(one, {}).items()}
        mine = split(row for row in every if row["algorithm"] in own)
        file = slug(label if labels[slug(label)] == 1 else f"{label} {folder}")
        found.append({
            "label": label,
            "path": f"algorithms/{file}.html",
            "control": is_control(name),
            "method": METHODS.get(folder, folder),
            "about": " ".join((getdoc(import_module(module)) or "").split()),
            "does": " ".join((getdoc(kind) or "").split()),
            "also": ", ".join(f"{one} in {of}" for one, of in given.items() if one != label),
            "used": sorted({row["paper"] for row in [*mine["scores"], *mine["readings"]]}),
            "exchange": shares,
            "diagram": "" if is_control(name) else exchange_diagram(*shares),
            "settings": [] if is_control(name) else list(_settings(kind)),
            "code": os.path.relpath(str(import_module(module).__file__), figures.absolute()),
            "claims": _ordered(one for one in claims if {label, *given} & {*one["algorithms"]}),
            # by family, what its first scores call the algorithm
            "families": {row["family"]: row["label"] for row in reversed(mine["scores"])},
            **mine,
        })  # fmt: skip
    return found


def _ordered(claims: Iterable[dict[str, Any]]) -> Rows:
    """Sentences by badge, as a paper's page lists them."""
    return sorted(claims, key=lambda claim: claim["order"])


def _settings(kind: Any) -> Iterator[tuple[str, str, str]]:
    """A setting with its default and what it means."""
    for name, field in kind.model_fields.items():
        if field.description:
            default = "" if field.is_required() else field.get_default(call_default_factory=True)
            yield swept_name(name), str(default), field.description


def environments(names: Names, figures: Path, every: Rows, claims: Rows) -> Rows:
    """The families: what varies, a picture, their settings, controls, and the scores on them."""
    found = []
    for name in components("envs"):
        kind = load("envs", name)
        path = names.project.root / "envs" / f"{name}.yaml"
        given = read_yaml(path) if path.exists() else {}
        settings = {k: v for k, v in given.items() if k not in ("family", "description")}
        mine = split(row for row in every if row["family"] == kind.label)
        found.append({
            "label": kind.label,
            "path": f"environments/{slug(kind.label)}.html",
            "about": given.get("description") or " ".join((getdoc(kind) or "").split()),
            "varies": kind.varies.replace("`", ""),
            "settings": settings_in_words(settings),
            **_picture(names, name, settings, figures),
            "controls": sorted(
                {row["label"] for row in mine["scores"] if is_control(row["algorithm"])}
            ),
            "pages": list(_pages(names, figures, kind.label)),
            "claims": _ordered(one for one in claims if kind.label in one["families"]),
            **mine,
        })  # fmt: skip
    return found


def draw_picture(kind: Any, settings: dict[str, Any], path: Path) -> None:
    """Draw what varies in a family, by its file in envs/; the file says what it shows."""
    from pfedrl.envs.views.pictures import picture

    with paper_style():
        drawn = picture(kind.model_construct(**settings))
        if drawn is None:
            return
        figure, shown = drawn
        with atomic_write(path) as temporary:
            metadata = METADATA["png"] | {"Description": shown}
            figure.savefig(temporary, format="png", metadata=metadata)


def _picture(names: Names, name: str, settings: dict[str, Any], figures: Path) -> dict[str, str]:
    """A family's picture and what it shows: drawn for the record, which other scales copy."""
    from PIL import Image

    path = figures / PICTURES / f"{name}.png"
    committed = names.project.root / FIGURES / PICTURES / path.name
    if names.scale == RECORD:
        draw_picture(load("envs", name), settings, path)
    elif committed.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(committed, path)
    if not path.exists():
        return {"picture": "", "shown": ""}
    with Image.open(path) as image:
        return {"picture": f"{PICTURES}/{path.name}", "shown": str(image.info["Description"])}


def _pages(names: Names, figures: Path, family: str) -> Iterator[dict[str, Any]]:
    """The tables and figures that show a family, comparisons and readings last."""
    for paper, page in names.project.papers.items():
        for artifact, spec in page.artifacts.items():
            shown = (figures / paper / f"{artifact}.json").exists()
            if shown and family in {names.family(paper, one) for one in spec.experiments}:
                yield {"page": f"{paper}/{artifact}.html", "paper": page.short,
                       "title": spec.title, "unasked": spec.draw in UNASKED}  # fmt: skip
