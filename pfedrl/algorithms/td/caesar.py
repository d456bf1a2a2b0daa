"""CAESAR: agents learn from peers that converge with them and do better (Mak et al. 2024).

arXiv 2403.20156. The steps are those of the authors' code. The values of its settings could not be
had from there: the defaults here are ours.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pfedrl.algorithms.td.independent_q import IndependentQ
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Exchange
from pfedrl.stack.peers import ConvergingPeers

if TYPE_CHECKING:
    from pfedrl.algorithms.td.telling_q import TellingQ


class Caesar(IndependentQ):
    """Q-learning from samples. In a round every agent moves towards the mean of peers: drawn by how
    often their tables came nearer to its own, and only those with higher returns."""

    label: ClassVar[str] = "CAESAR"

    first_chance: float = Field(0.5, ge=0, le=1, description="chance of a peer at the start")
    chance_step: float = Field(0.1, ge=0, le=1, description="what a round adds to it or takes")
    margin: float = Field(0.0, ge=0, description="xi, by how much tables must come nearer")
    towards: float = Field(0.5, gt=0, le=1, description="how far an agent moves to its peers' mean")

    def learner(self, task: TabularTask, seeds: Sequence[int]) -> "TellingQ":
        from pfedrl.algorithms.td.telling_q import TellingQ

        return TellingQ(task, seeds, self.local_steps, self.eta)

    def exchange(self, task: TabularTask, seeds: Sequence[int]) -> Exchange:
        return ConvergingPeers(
            seeds, self.first_chance, self.chance_step, self.margin, self.towards
        )
