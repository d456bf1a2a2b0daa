"""FigureEight: the traffic simulation as an environment, for gymnasium and for PettingZoo."""

from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from pfedrl.envs.traffic.network import Network, build_network
from pfedrl.envs.traffic.simulation import MAXIMUM_ACCELERATION, Simulation

if TYPE_CHECKING:
    from pfedrl.envs.traffic.figure_eight import FigureEightFamily

Info = dict[str, Any]


class FigureEight(gymnasium.Env[np.ndarray, np.ndarray]):
    """All agents as one: observations [agent, 6], accelerations [agent, 1], one shared reward.

    A crash terminates the episode with reward 0; the horizon truncates it, and so does a vehicle
    that SUMO loses (`info["lost"]`), after which the episode should be discarded. The same seed
    and actions give the same episode.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, family: "FigureEightFamily", network: Network | None = None):
        if network is None:
            network = build_network(family.radius, family.lanes, family.speed_limit)
        self.family = family
        self.simulation = Simulation(family, network)
        agents, limit = family.agents, MAXIMUM_ACCELERATION
        self.observation_space = Box(0.0, np.inf, (agents, 6), np.float64)
        self.action_space = Box(-limit, limit, (agents, 1), np.float32)
        self._noise = np.zeros((0, 0))
        self._time = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, Info]:
        super().reset(seed=seed)
        humans = len(self.simulation.humans)
        self._noise = self.np_random.standard_normal((self.family.horizon, humans))
        self._time = 0
        self.simulation.reset()
        return self.simulation.observations(), {"lost": False}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, Info]:
        outcome = self.simulation.step(np.ravel(action), self._noise[self._time])
        self._time += 1
        truncated = outcome.lost or (not outcome.crashed and self._time == self.family.horizon)
        seen = self.simulation.observations()
        return seen, outcome.reward, outcome.crashed, truncated, {"lost": outcome.lost}

    def close(self) -> None:
        self.simulation.close()


class FigureEightParallel:
    """The same with PettingZoo's parallel conventions: everything by the agent's name."""

    metadata: ClassVar[dict[str, Any]] = {"name": "figure_eight", "render_modes": []}
    render_mode = None

    def __init__(self, family: "FigureEightFamily", network: Network | None = None):
        self.joint = FigureEight(family, network)
        self.possible_agents = [f"vehicle_{index}" for index in self.joint.simulation.agents]
        self.agents: list[str] = []
        limit = MAXIMUM_ACCELERATION
        self._observation = {name: Box(0.0, np.inf, (6,)) for name in self.possible_agents}
        self._action = {name: Box(-limit, limit, (1,)) for name in self.possible_agents}

    @property
    def unwrapped(self) -> "FigureEightParallel":
        return self

    @property
    def num_agents(self) -> int:
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        return len(self.possible_agents)

    def observation_space(self, agent: str) -> Box:
        return self._observation[agent]

    def action_space(self, agent: str) -> Box:
        return self._action[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Info]]:
        seen, info = self.joint.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._by_name(seen), {name: dict(info) for name in self.agents}

    def step(
        self, actions: dict[str, np.ndarray]
    ) -> tuple[
        dict[str, np.ndarray], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]
    ]:
        if not self.agents:
            return {}, {}, {}, {}, {}
        ordered = np.array([actions[name] for name in self.possible_agents])
        seen, reward, terminated, truncated, info = self.joint.step(ordered)
        names = self.agents
        if terminated or truncated:
            self.agents = []
        return (
            self._by_name(seen),
            dict.fromkeys(names, reward),
            dict.fromkeys(names, terminated),
            dict.fromkeys(names, truncated),
            {name: dict(info) for name in names},
        )

    def _by_name(self, seen: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(self.possible_agents, seen.astype(np.float32), strict=True))

    def render(self) -> None:
        """Nothing to show step by step: `pfedrl watch figure_eight` records an episode."""

    def close(self) -> None:
        self.joint.close()
