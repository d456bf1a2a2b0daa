"""Figure eight: autonomous and human-driven vehicles on a loop that crosses itself (FedKL)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from pfedrl.envs.family import Draws, Family
from pfedrl.envs.traffic.network import Network, build_network, read_network
from pfedrl.envs.traffic.positions import StartRule, start_positions
from pfedrl.envs.traffic.task import TrafficTask


class FigureEightFamily(Family):
    """Agents drive vehicles of one simulation, among human drivers, for one shared reward."""

    label: ClassVar[str] = "Figure eight"
    kind: ClassVar[str] = "continuous"
    varies: ClassVar[str] = "where an agent's vehicle starts, and who drives around it"
    after_draw: ClassVar[frozenset[str]] = frozenset(
        {"placement", "start", "observation", "human_noise", "horizon", "speed_deviation", "trace"}
    )

    radius: float = Field(30.0, ge=10, le=1000, description="of the rings; half a straight, in m")
    lanes: int = Field(1, ge=1, le=4)
    speed_limit: float = Field(30.0, gt=0, description="in m/s")
    placement: str = Field(
        "hrhrhrhrhrhrhr", description="vehicles in driving order: h a human, r an agent"
    )
    start: StartRule = Field(
        "as_flow", description="where vehicles start: as Flow places them, or as it meant to"
    )
    observation: Literal["neighbours", "as_authors"] = Field(
        "neighbours",
        description="speed and position of the vehicle behind, itself and the one ahead, or the "
        "numbers that the authors' code takes for them",
    )
    human_noise: float = Field(0.2, ge=0, description="of a human's acceleration, as Flow's")
    speed_deviation: float = Field(
        0.1, ge=0, description="SUMO's speedDev: how far drivers differ in the limit they keep"
    )
    horizon: int = Field(1500, gt=0, description="steps of 0.1 s an episode")

    trace: bool = Field(
        False, description="record where every vehicle is, each second of an evaluation's episode"
    )

    @field_validator("placement")
    @classmethod
    def only_humans_and_agents(cls, placement: str) -> str:
        if not placement or set(placement) - {"h", "r"}:
            raise ValueError("a placement is one letter a vehicle, h (human) or r (agent)")
        return placement

    @property
    def agents(self) -> int:
        return self.placement.count("r")

    def records(self) -> set[str]:
        return {"crashes"} | ({"lap_position", "speed", "x", "y"} if self.trace else set())

    def draw(self, seeds: Sequence[int]) -> Draws:
        """The network's file; seeds differ in nothing else before an episode starts."""
        text = build_network(self.radius, self.lanes, self.speed_limit).text.encode()
        return {"network": np.tile(np.frombuffer(text, np.uint8), (len(seeds), 1))}

    def network(self, draws: Draws) -> Network:
        return read_network(draws["network"][0].tobytes().decode())

    def task(self, draws: Draws) -> TrafficTask:
        network = self.network(draws)
        # refused here, before any simulation starts, where the vehicles do not fit
        start_positions(network, self.radius, self.lanes, len(self.placement), self.start)
        return TrafficTask(self, network, len(draws["network"]))
