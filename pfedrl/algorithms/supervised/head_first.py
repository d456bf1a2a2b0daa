"""Local training of DePRL and FedRep: heads first, then the representation."""

from typing import ClassVar

from pydantic import Field

from pfedrl.algorithms.supervised.settings import Phase
from pfedrl.algorithms.supervised.supervised import Supervised


class HeadFirst(Supervised):
    """Heads stay private; the representation alone travels."""

    shares: ClassVar[tuple[str, ...]] = ("body",)
    own_heads: ClassVar[bool] = True

    representation_steps: int = Field(
        0, ge=0, description="minibatches of the representation a round; 0: an epoch of them"
    )

    def phases(self) -> tuple[Phase, ...]:
        return (
            Phase("head", self.local_epochs, self.head_rate),
            Phase("body", 1, self.rate, steps=self.representation_steps),
        )
