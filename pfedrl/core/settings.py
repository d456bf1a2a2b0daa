"""The base of every settings block, and how a bad key is explained."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, TypeAdapter, ValidationError

from pfedrl.core.errors import PfedrlError, unknown


class Settings(BaseModel):
    """A block of settings: immutable, and no key that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Settings added later. Their default reproduces older runs, so it is left out of the key.
    later: ClassVar[frozenset[str]] = frozenset()

    def said(self) -> dict[str, Any]:
        """All settings as plain values, but for later ones at their defaults."""
        fields = type(self).model_fields
        silent = {name for name in self.later if getattr(self, name) == fields[name].default}
        return self.model_dump(mode="json", exclude=silent)


NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_=.-]*")


def plain_name(name: str) -> str:
    """Names become files, shell words and rules: letters, digits and _ = . - will do."""
    if not NAME.fullmatch(name):
        raise ValueError(
            "a name has letters, digits, '_', '=', '.' and '-' only, and starts with none of the "
            "last three"
        )
    return name


Name = Annotated[str, AfterValidator(plain_name)]

# libyaml's loader is ten times faster, and every job reads the papers' pages
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MERGE = "tag:yaml.org,2002:merge"

Block = TypeVar("Block")


@cache
def adapter(model: Any) -> TypeAdapter[Any]:
    """What checks values against a model, or against a map or list of models."""
    return TypeAdapter(model)


def validate(model: type[Block], values: Any, where: str) -> Block:
    """The values as a model, or as a map or list of models; a bad one is explained by its place,
    its key and what would do."""
    kind: Any = model
    try:
        return adapter(kind).validate_python(values)
    except ValidationError as error:
        raise explain(error, model, where) from None


def explain(error: ValidationError, model: Any, where: str) -> PfedrlError:
    """The first thing wrong, as one line: file, key, reason, and the nearest valid name."""
    # a misspelt key is two errors, and the one that names the spelling helps more
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    path = [_shown(part) for part in first["loc"] if part != "[key]"]
    place = f"{where}, {'.'.join(path)}" if path else where
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, first["loc"][:-1])
        return unknown("key", path[-1], known, where=f"{where}, {'.'.join(path[:-1])}".rstrip(", "))
    said = first["msg"].removeprefix("Value error, ")
    given = "" if isinstance(first["input"], dict | list) else f" (it is {first['input']!r})"
    return PfedrlError(f"{place}: {said}{given}.")


def _shown(key: int | str) -> str:
    """A key on one line, whatever a file has for one."""
    return str(key) if str(key).isprintable() else repr(key)


def _known_keys(model: Any, location: tuple[int | str, ...]) -> set[str]:
    """The keys allowed at a location inside a model; steps into lists and maps change nothing."""
    current = _models(model)
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


def read_yaml(path: Path, kind: type = dict) -> Any:
    """A YAML file that holds keys and values, or a list; a key given twice is an error."""
    loader = None
    try:
        loader = LOADER(path.read_text(encoding="utf-8"))
        node = loader.get_single_node()
        for key in _given_twice(node, set()):
            line = key.start_mark.line + 1
            raise PfedrlError(f"{path}, line {line}: the key '{key.value}' is given twice.")
        values = None if node is None else loader.construct_document(node)
    except OSError as error:
        raise PfedrlError(f"{path}: cannot be read ({error.strerror}).") from None
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise PfedrlError(f"{path}: is not valid YAML: {reason}") from None
    finally:
        if loader is not None:
            loader.dispose()
    if not isinstance(values, kind):
        wanted = "keys and values" if kind is dict else "a list"
        raise PfedrlError(f"{path}: must hold {wanted}, not {type(values).__name__}.")
    return values


def _given_twice(node: Any, seen: set[int]) -> Iterator[Any]:
    """The keys that a mapping has twice; what a merge (<<) brings may be overwritten."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        keys = set()
        for key, value in node.value:
            if key.tag != MERGE and key.value in keys:
                yield key
            keys.add(key.value if isinstance(key, yaml.ScalarNode) else id(key))
            yield from _given_twice(value, seen)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _given_twice(item, seen)
