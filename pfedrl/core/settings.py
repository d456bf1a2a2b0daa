"""The base of every settings block, and how a bad key is explained."""

from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from pfedrl.core.errors import PfedrlError, unknown


class Settings(BaseModel):
    """A block of settings: immutable, and no key that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# libyaml's loader is ten times faster, and every job reads the papers' pages
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Block = TypeVar("Block", bound=BaseModel)


def validate(model: type[Block], values: Any, where: str) -> Block:
    """The values as a model; a bad one is explained by its place, its key and what would do."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise explain(error, model, where) from None


def explain(error: ValidationError, model: type[BaseModel], where: str) -> PfedrlError:
    """The first thing wrong, as one line: file, key, reason, and the nearest valid name."""
    # a misspelt key is two errors, and the one that names the spelling helps more
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    path = [str(part) for part in first["loc"]]
    place = f"{where}, {'.'.join(path)}" if path else where
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, first["loc"][:-1])
        return unknown("key", path[-1], known, where=f"{where}, {'.'.join(path[:-1])}".rstrip(", "))
    return PfedrlError(f"{place}: {first['msg']} (it is {first['input']!r}).")


def _known_keys(model: type[BaseModel], location: tuple[int | str, ...]) -> set[str]:
    """The keys allowed at a location inside a model; steps into lists and maps change nothing."""
    current = [model]
    for step in location:
        fields = [m.model_fields[step] for m in current if step in m.model_fields]
        tagged = [m for m in current if step in _tags(m)]
        if fields:
            current = [inner for field in fields for inner in _models(field.annotation)]
        elif tagged:
            current = tagged
    return {key for m in current for key in m.model_fields}


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models that an annotation such as dict[str, list[Model]] holds."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [inner for argument in get_args(annotation) for inner in _models(argument)]


def _tags(model: type[BaseModel]) -> tuple[Any, ...]:
    """What tells a model of a union from its siblings: the values of its key 'kind'."""
    kind = model.model_fields.get("kind")
    return get_args(kind.annotation) if kind else ()


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping."""
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    except OSError as error:
        raise PfedrlError(f"{path}: cannot be read ({error.strerror}).") from None
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise PfedrlError(f"{path}: is not valid YAML: {reason}") from None
    if not isinstance(values, dict):
        raise PfedrlError(f"{path}: must hold keys and values, not {type(values).__name__}.")
    return values
