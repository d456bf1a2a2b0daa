"""Options of drawings: a module in figures/ with `class Options` beside its `draw` accepts some.

These modules import matplotlib and pandas inside functions, because every start of the pipeline
imports all of them to check options.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pfedrl.core.errors import unknown
from pfedrl.core.settings import Settings, validate
from pfedrl.pipeline.paper import Artifact

FOLDER = Path(__file__).parent / "figures"


class Named(NamedTuple):
    """What an option names. Without an experiment it is the artifact's first."""

    key: str  # of the option
    experiment: str | None = None
    cell: str | None = None
    variant: str | None = None
    metric: str | None = None  # of the cell, or without one of any cell of the experiment


class BaseOptions(Settings):
    """No options."""

    def named(self) -> Iterator[Named]:
        """The experiments, cells, variants and metrics that must exist."""
        yield from ()


def module_of(artifact: Artifact, where: str = "") -> Any:
    """The module in figures/ that draws an artifact."""
    known = [path.stem for path in FOLDER.glob("[!_]*.py")]
    if artifact.draw not in known:
        raise unknown("drawing", artifact.draw, known, where)
    return import_module(f"pfedrl.analysis.figures.{artifact.draw}")


def options_of(artifact: Artifact, where: str = "") -> BaseOptions:
    """An artifact's options, validated by its drawing's model."""
    model = getattr(module_of(artifact, where), "Options", BaseOptions)
    return validate(model, artifact.options, where)
