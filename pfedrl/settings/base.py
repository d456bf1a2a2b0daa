"""The base of every settings block, and how a bad key is explained."""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from pfedrl.errors import PfedrlError, unknown


class Settings(BaseModel):
    """A block of settings: immutable, and no key that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Block = TypeVar("Block", bound=BaseModel)


def validate(model: type[Block], values: Any, where: str) -> Block:
    """The values as a model; a bad one is explained by its place, its key and what would do."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise explain(error, model, where) from None


def explain(error: ValidationError, model: type[BaseModel], where: str) -> PfedrlError:
    """The first thing wrong, as one line: file, key, reason, and the nearest valid name."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    place = f"{where}, {'.'.join(path)}" if path else where
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, first["loc"][:-1])
        return unknown("key", path[-1], known, where=f"{where}, {'.'.join(path[:-1])}".rstrip(", "))
    return PfedrlError(f"{place}: {first['msg']} (it is {first['input']!r}).")


def _known_keys(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys allowed at a location inside a model; steps into lists and maps change nothing."""
    current = model
    for step in location:
        field = current.model_fields.get(str(step))
        if field is None:
            continue
        for candidate in (field.annotation, *getattr(field.annotation, "__args__", ())):
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                current = candidate
    return list(current.model_fields)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PfedrlError(f"{path}: cannot be read ({error.strerror}).") from None
    except yaml.YAMLError as error:
        raise PfedrlError(f"{path}: is not valid YAML: {error}") from None
    if not isinstance(values, dict):
        raise PfedrlError(f"{path}: must hold keys and values, not {type(values).__name__}.")
    return values
