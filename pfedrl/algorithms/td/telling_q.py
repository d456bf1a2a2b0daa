"""Q-learners that tell how good their policies are."""

from typing import Any

import numpy as np

from pfedrl.algorithms.td.q_learner import TableQ
from pfedrl.stack.exchange import Parts


class TellingQ(TableQ):
    """Beside the table there is a part "returns": V(d0) of the agent's greedy policy at home."""

    def __init__(self, *given: Any):
        super().__init__(*given)
        self.returns = np.zeros(self.states.shape)

    @property
    def parts(self) -> Parts:
        return {**super().parts, "returns": self.returns}

    def advance(self, steps: int) -> None:
        super().advance(steps)
        for measured in self.measure():
            self.returns = measured.values
