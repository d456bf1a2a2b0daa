"""What every model of a drawing's options is."""

from collections.abc import Iterator
from typing import NamedTuple

from pfedrl.core.settings import Settings


class Named(NamedTuple):
    """What an option names, and under which key; an experiment left out is the artifact's first."""

    key: str
    experiment: str | None = None
    cell: str | None = None
    variant: str | None = None
    metric: str | None = None  # of the cell, or, where none is named, of any of the experiment


class Options(Settings):
    """No options."""

    def named(self) -> Iterator[Named]:
        """The experiments, cells, variants and metrics that must be there."""
        yield from ()
