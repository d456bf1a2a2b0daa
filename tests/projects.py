"""Projects on disk that tests make up: papers as folders, scales as files."""

from pathlib import Path
from typing import Any

import yaml

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
