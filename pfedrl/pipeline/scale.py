"""A scale: how many seeds and how long. Captions list what it cuts: see analysis/cuts.py."""

from collections.abc import Mapping

from pydantic import Field

from pfedrl.core.settings import Settings


class Budget(Settings):
    """Seeds of an experiment, and the settings that a smaller budget shortens."""

    seeds: int = Field(gt=0, description="seeds 0 to seeds-1 run")
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
    papers: Mapping[str, Mapping[str, Budget]] = Field(
        description="paper to experiment to budget; 'default' serves experiments not named"
    )

    @property
    def figures(self) -> str:
        """The folder of its tables and figures. Only published runs write the committed one."""
        committed = "paper_figures"
        return committed if self.scale == "published" else f"results/{self.scale}/{committed}"
