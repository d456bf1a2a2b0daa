"""Projects on disk that tests make up: papers as folders, scales as files."""

import json
from pathlib import Path
from typing import Any

import yaml

from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

COLUMNS = ("experiment", "variant", "metric", "along", "at", "value", "error")


def write_yaml(path: Path, values: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(values))


def write_paper(root: Path, name: str, page: dict[str, Any]) -> None:
    """A paper given as one mapping, in its folder; `printed` is artifact to rows."""
    folder = root / "workflow" / "papers" / name
    head = {key: page[key] for key in ("title", "reference", "theory") if key in page}
    write_yaml(folder / "paper.yaml", {"short": name, **head})
    for key in ("experiments", "artifacts", "claims", "readings", "findings", "fidelity"):
        if key in page:
            write_yaml(folder / f"{key}.yaml", page[key])
    for artifact, rows in page.get("printed", {}).items():
        lines = [",".join(COLUMNS)]
        lines += [",".join(str(row.get(column, "")) for column in COLUMNS) for row in rows]
        (folder / "printed").mkdir(exist_ok=True)
        (folder / "printed" / f"{artifact}.csv").write_text("\n".join(lines) + "\n")


def write_scale(root: Path, name: str, values: dict[str, Any]) -> None:
    write_yaml(root / "workflow" / "scales" / f"{name}.yaml", values)


AVERAGING = {"iterations": 64, "local_steps": 4, "learning_rate": 0.1, "decay": 0.9}
BUDGET = {"seeds": 4, "block": 4}
EXPERIMENT: dict[str, Any] = {
    "title": "t",
    "family": {"name": "random_mdp", "around_centre": True},
    "sweep": {"family.kappa": [0, 0.25]},
    "variants": {"qavg": AVERAGING, "random_policy": {}},
}
THEORY = {"title": "t", "variants": {"lemma1": {"algorithm": "qavg_lemma1"}}}


def project(
    root: Path, page: dict[str, Any] | None = None, edits: dict[str, Any] | None = None
) -> Project:
    """A paper `p` of two experiments, and a scale `s`; families come from the real folder.

    An edit is a path to its new value: experiments/e/sweep, claims/0/test, scale/papers/p/e/seeds.
    """
    budgets = {"default": BUDGET, "e": BUDGET}
    scale = {"scale": "s", "description": "d", "verdicts": True, "papers": {"p": budgets}}
    head = {"title": "t", "reference": "r", "experiments": {"e": EXPERIMENT, "theory": THEORY}}
    values = json.loads(json.dumps({**head, **(page or {}), "scale": scale}))  # nothing is shared
    for path, value in (edits or {}).items():
        *above, last = path.split("/")
        place: Any = values
        for key in above:
            place = place[int(key) if isinstance(place, list) else key]
        if isinstance(place, list):
            place[int(last) : int(last) + 1] = [value]
        else:
            place[last] = value
    write_scale(root, "s", values.pop("scale"))
    write_paper(root, "p", values)
    if not (root / "envs").exists():
        (root / "envs").symlink_to(ROOT / "envs")
    return Project(root)
