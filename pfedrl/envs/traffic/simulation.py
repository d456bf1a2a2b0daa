"""The figure eight in SUMO, step by step, with Flow's vehicles, controllers and reward."""

import math
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.traffic import sumo
from pfedrl.envs.traffic.network import LOOP, Network
from pfedrl.envs.traffic.positions import (
    MINIMUM_GAP,
    VEHICLE_LENGTH,
    coordinate,
    coordinates,
    start_positions,
)

if TYPE_CHECKING:
    from pfedrl.envs.traffic.figure_eight import FigureEightFamily

STEP = 0.1  # seconds
MAXIMUM_ACCELERATION = 3.0  # of an agent, up and down
TARGET_SPEED = 20.0  # of the reward
LOOK_AHEAD = 2000.0  # metres in which a human sees a leader
SAFE_SPEED_ONLY = 1  # speed mode: keep a safe gap, but no right of way at the crossing
NO_LANE_CHANGES = 512
ONE_STEP = 1e-3  # how long a commanded speed lasts: until the next command


class Idm(NamedTuple):
    """The human driver of Flow: the intelligent driver model."""

    desired_speed: float = 30.0
    headway: float = 1.0
    acceleration: float = 1.0
    deceleration: float = 1.5
    exponent: float = 4.0
    jam_gap: float = 2.0

    def __call__(self, speed: float, leader_speed: float, gap: float) -> float:
        """The acceleration behind a leader; a gap of infinity is a free road."""
        braking = 2 * math.sqrt(self.acceleration * self.deceleration)
        wanted = self.jam_gap + max(
            0.0, speed * self.headway + speed * (speed - leader_speed) / braking
        )
        gap = gap if abs(gap) >= 1e-3 else 1e-3
        free = 1 - (speed / self.desired_speed) ** self.exponent
        return self.acceleration * (free - (wanted / gap) ** 2)


class Outcome(NamedTuple):
    """What one step led to."""

    reward: float
    crashed: bool
    lost: bool  # a vehicle left the road without a crash: the episode is worth nothing


class Simulation:
    """One figure eight in this process's SUMO.

    `api` is libsumo unless said otherwise; traci runs a program, such as one with a window.
    """

    running: ClassVar[set[str]] = set()  # which APIs hold a simulation in this process

    def __init__(
        self,
        family: "FigureEightFamily",
        network: Network,
        api: ModuleType | None = None,
        program: str = "sumo",
    ):
        self.family = family
        self.network = network
        self.api: Any = sumo.libsumo() if api is None else api
        self._has_window = program == "sumo-gui"
        self._program = program if api is None else str(sumo.program(program))
        self.names = [f"vehicle_{index}" for index in range(len(family.placement))]
        self._index = {name: index for index, name in enumerate(self.names)}
        self.humans = [i for i, who in enumerate(family.placement) if who == "h"]
        self.agents = [i for i, who in enumerate(family.placement) if who == "r"]
        self.starts = start_positions(
            network, family.radius, family.lanes, len(self.names), family.start
        )
        self.table = coordinates(family.radius, family.lanes)
        self.idm = Idm()
        self.speeds = [0.0] * len(self.names)
        self.edges = [start.edge for start in self.starts]
        self.positions = [start.position for start in self.starts]
        self._folder = tempfile.TemporaryDirectory(prefix="figure_eight_")
        self._options: list[str] = []
        self._started = False

    def options(self) -> list[str]:
        """SUMO's command line, without the program's name; writes the files it names."""
        network = Path(self._folder.name, "figure_eight.net.xml")
        vehicles = Path(self._folder.name, "figure_eight.rou.xml")
        network.write_text(self.network.text, encoding="utf-8")
        vehicles.write_text(self._vehicle_types_and_routes(), encoding="utf-8")
        return [
            "--net-file", str(network),
            "--route-files", str(vehicles),
            "--step-length", str(STEP),
            "--seed", "0",  # the paper's runs share SUMO's seed; noise comes from our generators
            "--time-to-teleport", "-1",
            "--collision.check-junctions", "true",
            "--no-step-log", "true",
            "--no-warnings", "true",
            "--xml-validation", "never",
            *(["--start", "true", "--delay", "50"] if self._has_window else []),
        ]  # fmt: skip

    def _vehicle_types_and_routes(self) -> str:
        shared = (
            f'carFollowModel="IDM" accel="2.6" sigma="0.5" tau="1" minGap="{MINIMUM_GAP}" '
            f'length="{VEHICLE_LENGTH}" maxSpeed="30" speedFactor="1" '
            f'speedDev="{self.family.speed_deviation}" impatience="0.5"'
        )
        farthest = self.family.horizon * STEP * self.family.speed_limit
        laps = math.ceil(farthest / self.network.length) + 2
        routes = []
        for index, edge in enumerate(LOOP):
            lap = quoteattr(" ".join(LOOP[index:] + LOOP[:index]))
            routes.append(f'<route id="from_{edge}" edges={lap} repeat="{laps}"/>')
        return "\n".join(
            [
                "<routes>",
                f'<vType id="human" decel="1.5" {shared}/>',
                f'<vType id="agent" decel="4.5" {shared}/>',
                *routes,
                "</routes>",
            ]
        )

    def reset(self) -> None:
        """All vehicles at their starts, standing."""
        if self._started:
            self.api.load(self._options)
        else:
            if self.api.__name__ in self.running:  # SUMO would silently replace the other one
                raise PfedrlError(
                    "this process already runs a SUMO simulation; close it first, or play "
                    "episodes on an EpisodePool, which has a process for each."
                )
            self._options = self.options()
            self.api.start([self._program, *self._options])
            self.running.add(self.api.__name__)
            self._started = True
        vehicle = self.api.vehicle
        for index, (name, start) in enumerate(zip(self.names, self.starts, strict=True)):
            vehicle.add(
                name,
                f"from_{start.edge}",
                typeID="human" if self.family.placement[index] == "h" else "agent",
                departLane=str(start.lane),
                departPos=str(start.position),
                departSpeed="0",
            )
        self.api.simulationStep()
        absent = set(self.names) - set(vehicle.getIDList())
        if absent:
            raise PfedrlError(
                f"SUMO did not let {len(absent)} of {len(self.names)} vehicles onto the road; "
                "use fewer vehicles or a larger radius."
            )
        for name in self.names:
            vehicle.setSpeedMode(name, SAFE_SPEED_ONLY)
            vehicle.setLaneChangeMode(name, NO_LANE_CHANGES)
        self._read()

    def step(self, accelerations: np.ndarray, noise: np.ndarray) -> Outcome:
        """Command every vehicle and go on by a tenth of a second.

        `accelerations` are the agents', `noise` the humans' standard normal numbers.
        """
        vehicle = self.api.vehicle
        scale = math.sqrt(STEP) * self.family.human_noise
        for index, random in zip(self.humans, noise.tolist(), strict=True):
            if self.edges[index].startswith(":"):
                continue  # inside a junction SUMO drives, as in Flow
            self._command(index, self._human_acceleration(index) + scale * random)
        limit = MAXIMUM_ACCELERATION
        for index, wanted in zip(self.agents, accelerations.tolist(), strict=True):
            self._command(index, min(max(wanted, -limit), limit))
        self.api.simulationStep()
        if self.api.simulation.getCollidingVehiclesNumber() > 0:
            return Outcome(0.0, crashed=True, lost=False)
        if vehicle.getIDCount() < len(self.names):
            return Outcome(0.0, crashed=False, lost=True)
        self._read()
        return Outcome(self.reward(), crashed=False, lost=False)

    def _human_acceleration(self, index: int) -> float:
        leader = self.api.vehicle.getLeader(self.names[index], LOOK_AHEAD)
        if not leader or not leader[0]:
            return self.idm(self.speeds[index], 0.0, math.inf)
        leader_speed = self.speeds[self._index[leader[0]]]
        return self.idm(self.speeds[index], leader_speed, leader[1] + MINIMUM_GAP)

    def _command(self, index: int, acceleration: float) -> None:
        wanted = max(self.speeds[index] + STEP * acceleration, 0.0)
        self.api.vehicle.slowDown(self.names[index], wanted, ONE_STEP)

    def _read(self) -> None:
        vehicle = self.api.vehicle
        self.speeds = [vehicle.getSpeed(name) for name in self.names]
        self.edges = [vehicle.getRoadID(name) for name in self.names]
        self.positions = [vehicle.getLanePosition(name) for name in self.names]

    def reward(self) -> float:
        """How near all speeds are to the target: 1 where all are, 0 where all stand."""
        worst = TARGET_SPEED * math.sqrt(len(self.speeds))
        distance = math.sqrt(sum((speed - TARGET_SPEED) ** 2 for speed in self.speeds))
        return max(worst - distance, 0.0) / worst

    def state(self) -> np.ndarray:
        """Flow's state: all speeds by the limit, then all coordinates by the lap's length."""
        places = [
            coordinate(self.table, edge, position)
            for edge, position in zip(self.edges, self.positions, strict=True)
        ]
        return np.concatenate(
            [
                np.array(self.speeds) / self.family.speed_limit,
                np.array(places) / self.network.length,
            ]
        )

    def observations(self) -> np.ndarray:
        """What every agent sees [agent, 6]: (speed, position) behind, of itself, and ahead.

        The authors cut Flow's state, all speeds before all positions, as if it were one pair a
        vehicle; `as_authors` does the same.
        """
        state = self.state()
        if self.family.observation == "as_authors":
            pairs = state.reshape(-1, 2)
        else:
            pairs = state.reshape(2, -1).T
        count = len(pairs)
        seen = [((i - 1) % count, i, (i + 1) % count) for i in self.agents]
        return pairs[np.array(seen, dtype=int).reshape(-1, 3)].reshape(-1, 6)

    def close(self) -> None:
        if self._started:
            self.api.close()
            self.running.discard(self.api.__name__)
            self._started = False
        self._folder.cleanup()
