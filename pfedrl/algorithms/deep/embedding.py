"""QAvg's personalisation: a private embedding tells the shared net where it is (Section 6)."""

from typing import Literal

from pydantic import Field

from pfedrl.algorithms.adaptation import Adaptation
from pfedrl.core.settings import Settings


class PrivateEmbedding(Settings):
    """Settings of the embedding, and how those that have one meet a new environment."""

    embedding: int = Field(4, gt=0, description="numbers in the embedding: ceil(log2 N) of N = 10")
    new_embedding: Literal["average", "random"] = Field(
        "average", description="where a new embedding starts: the paper's average, or as the code"
    )
    every_way: bool = Field(
        False, description="meet new environments in all ways of QAvg's Figure 6, not one"
    )

    def adaptations(self) -> dict[str, Adaptation]:
        fresh = ("embedding",) if self.new_embedding == "random" else ()
        ways = {"adapt": Adaptation(fresh, "embedding")}  # E-Update
        if self.every_way:
            ways["adapt_all"] = Adaptation(fresh, "all")  # E&N-Update
            ways["adapt_net"] = Adaptation(fresh, "net")
            ways["adapt_nothing"] = Adaptation(fresh, "nothing")  # Phi-Update
        return ways
