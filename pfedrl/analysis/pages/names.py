"""What cells are called on a page, and what they ran with."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pfedrl.analysis.labels import cell_label, swept_name, variant_label
from pfedrl.analysis.style import Styles, every_style, listed_styles
from pfedrl.core.registry import load
from pfedrl.pipeline.cells import Cell, cells
from pfedrl.pipeline.costs import Known
from pfedrl.pipeline.project import Project

Cells = dict[str, Cell]


@dataclass(frozen=True)
class Names:
    """The cells of a scale; of an experiment that it leaves out, those of the paper's settings."""

    project: Project
    scale: str

    @cached_property
    def _cells(self) -> dict[tuple[str, str], Cells]:
        return {}

    def cells(self, paper: str, experiment: str) -> Cells:
        key = paper, experiment
        if key not in self._cells:
            budget = self.project.budget(self.project.scale(self.scale), paper, experiment)
            found = cells(self.project, paper, experiment, self.scale if budget else None)
            self._cells[key] = {cell.name: cell for cell in found}
        return self._cells[key]

    def label(self, cell: Cell) -> str:
        """A cell with everything that is swept: 'QAvg, κ 0.2'."""
        spec = self.project.experiment(cell.paper, cell.experiment)
        return cell_label(spec, cell.variant, cell.settings()["algorithm"], cell.sweep)

    def algorithm(self, cell: Cell) -> str:
        """What the paper calls a cell's algorithm."""
        spec = self.project.experiment(cell.paper, cell.experiment)
        return variant_label(spec, cell.variant, cell.settings()["algorithm"])

    def variants(self, paper: str, experiments: list[str]) -> dict[str, str]:
        """Names of cells and variants in these experiments, as readers know them."""
        found: dict[str, str] = {}
        for experiment in experiments:
            for name, cell in self.cells(paper, experiment).items():
                found.setdefault(name, self.label(cell))
                found.setdefault(cell.variant, self.algorithm(cell))
        return found

    def family(self, paper: str, experiment: str) -> str:
        """The label of an experiment's family; theory has none."""
        given = self.project.experiment(paper, experiment).family
        return load("envs", given["name"]).label if given else ""

    @cached_property
    def known(self) -> Known:
        """What committed runs cost."""
        return Known(self.project.root)

    @cached_property
    def styles(self) -> Styles:
        return every_style(listed_styles(self.project))


def settings_in_words(given: Mapping[str, Any]) -> str:
    """Settings as a list: 'agents 5, cap 200, mass follows: no'."""
    return ", ".join(
        _setting(swept_name(key), value)
        for key, value in given.items()
        if key != "name" and not isinstance(value, dict | list)
    )


def _setting(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{name}: {'yes' if value else 'no'}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
