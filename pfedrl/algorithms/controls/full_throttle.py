"""The figure eight with agents that only ever accelerate."""

from typing import ClassVar

from pfedrl.algorithms.controls.traffic_controls import TrafficControl
from pfedrl.envs.traffic.episodes import Policy, constant
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.simulation import MAXIMUM_ACCELERATION


class FullThrottle(TrafficControl):
    """Control: agents ask for the largest acceleration always; SUMO keeps them from crashing."""

    label: ClassVar[str] = "Full throttle"

    def drivers(self, family: FigureEightFamily) -> tuple[FigureEightFamily, Policy]:
        return family, constant(MAXIMUM_ACCELERATION)
