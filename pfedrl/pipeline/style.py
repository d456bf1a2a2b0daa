"""How algorithms are drawn: workflow/style.yaml, one colour, line and marker for every figure."""

from typing import Literal

from pydantic import Field

from pfedrl.core.settings import Settings

Line = Literal["-", "--", "-.", ":"]


class Style(Settings):
    """How one algorithm is drawn, in every figure."""

    colour: str = Field(pattern=r"^#[0-9A-F]{6}$", description="as in #0072B2")
    line: Line = "-"
    marker: Literal["o", "s", "^", "v", "D", "P", "X", "x", "+", "*", "_", "|", "1"] = "o"


class StyleFile(Settings):
    """workflow/style.yaml; an algorithm that is not listed gets a style by itself."""

    algorithms: dict[str, Style] = Field(
        description="by the name of the algorithm's file: fedq_k is that of tables and of nets"
    )
