"""The figure eight without agents: what autonomous vehicles have to beat."""

from typing import ClassVar

from pfedrl.algorithms.controls.traffic_controls import TrafficControl
from pfedrl.envs.traffic.episodes import Policy, constant
from pfedrl.envs.traffic.figure_eight import FigureEightFamily


class HumanDrivers(TrafficControl):
    """Control: every vehicle is driven by a human (the intelligent driver model, with noise)."""

    label: ClassVar[str] = "All human"

    def drivers(self, family: FigureEightFamily) -> tuple[FigureEightFamily, Policy]:
        everyone = {"placement": "h" * len(family.placement)}
        return family.model_copy(update=everyone), constant(0)
