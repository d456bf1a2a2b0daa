"""JSON schemas of the YAML files, generated from the models so that the two cannot differ."""

import json
from pathlib import Path
from typing import Any

from pfedrl.analysis.pages.about import About
from pfedrl.analysis.style import StyleFile
from pfedrl.core.files import write_text
from pfedrl.core.registry import components, load
from pfedrl.core.settings import adapter
from pfedrl.envs.data.sources import DataSource
from pfedrl.pipeline.paper import Reference
from pfedrl.pipeline.project import FILES
from pfedrl.pipeline.scale import Scale


def schemas() -> dict[str, dict[str, Any]]:
    """File name to schema: a paper's files, a scale, the style, and each family's file in envs/."""
    models: dict[str, Any] = {"paper": Reference, "scale": Scale, "style": StyleFile}
    models["page"] = About
    models["data"] = dict[str, DataSource]
    models |= {key: kind for key, (kind, _) in FILES.items()}
    made = {f"{key}.schema.json": adapter(model).json_schema() for key, model in models.items()}
    for name in components("envs"):
        made[f"envs/{name}.schema.json"] = _family_file(load("envs", name).model_json_schema())
    return made


def _family_file(schema: dict[str, Any]) -> dict[str, Any]:
    """A family's file also says which family it is of, and describes it."""
    texts = {key: {"type": "string"} for key in ("family", "description")}
    # the file gives defaults; an experiment may add what is missing
    return {**schema, "properties": texts | schema.get("properties", {}), "required": []}


def write_schemas(folder: Path) -> list[Path]:
    """Write them all, and say where."""
    made = {folder / name: schema for name, schema in schemas().items()}
    for path, schema in made.items():
        write_text(path, json.dumps(schema, indent=2) + "\n")
    return list(made)
