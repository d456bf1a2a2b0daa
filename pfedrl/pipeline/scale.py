"""A scale: how many seeds and how long. Captions list what it cuts: see analysis/cuts.py."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from pfedrl.core.settings import Settings

RECORD = "record"  # the scale of the committed runs, tables and figures
FIGURES = "paper_figures"


class Budget(Settings):
    """Seeds of an experiment, and the settings that a smaller budget shortens."""

    seeds: int = Field(gt=0, description="seeds 0 to seeds-1 run")
    called: str = Field("", description="what the budget is called, if not as its scale")
    block: int = Field(gt=0, description="seeds a job; raising the seed count keeps full blocks")
    algorithm: dict[str, float | int | str] = Field(
        default_factory=dict,
        description="budgets such as iterations, for every variant; a smaller model, by its name",
    )
    variants: dict[str, dict[str, float | int]] = Field(
        default_factory=dict,
        description="and of single variants, as local steps that shrink with the whole",
    )
    family: dict[str, float | int] = Field(
        default_factory=dict, description="budgets such as held-out members"
    )


class Scale(Settings):
    """One file in workflow/scales."""

    scale: str
    description: str
    verdicts: bool = Field(description="whether claims get a verdict; smoke only proves the wiring")
    reads: list[Literal["local", "committed"]] = Field(
        default=["local"], description="the layers of the store that it reads, the first first"
    )
    makes: bool = Field(True, description="whether runs that are missing are made")
    papers: dict[str, dict[str, Budget]] = Field(
        description="paper to experiment to budget; 'default' serves experiments not named"
    )

    @property
    def figures(self) -> str:
        """The folder of its tables and figures. Only the record writes the committed one."""
        return FIGURES if self.scale == RECORD else f"results/{self.scale}/{FIGURES}"

    def verdicts_of(self, paper: str) -> Path:
        """The file of a paper's verdicts."""
        return Path(self.figures, paper, "claims.json")
