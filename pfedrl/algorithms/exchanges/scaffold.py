"""SCAFFOLD: control variates correct the agents' gradients (Karimireddy et al. 2020, 1910.06378).

The paper's agents take SGD steps. Where a method has Adam, its gradients are corrected before
Adam sees them; that is our reading.
"""

from collections.abc import Sequence
from typing import ClassVar

from pfedrl.algorithms.exchange_only import GradientExchange
from pfedrl.stack.corrections import ControlVariates
from pfedrl.stack.exchange import Exchange, SharedParts


class Scaffold(GradientExchange):
    """Every agent adds c - c_i to its gradients: the agents' mean gradient in the last round, less
    its own."""

    label: ClassVar[str] = "SCAFFOLD"

    def instead(self, average: SharedParts, seeds: Sequence[int]) -> Exchange:
        return ControlVariates(average)
