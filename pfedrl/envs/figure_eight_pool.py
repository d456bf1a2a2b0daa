"""Figure eights side by side, each with a SUMO in a process of its own; a dead one is replaced."""

import contextlib
import multiprocessing
import signal
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pfedrl.envs.figure_eight_env import FigureEight
from pfedrl.envs.figure_eight_network import Network
from pfedrl.errors import PfedrlError

if TYPE_CHECKING:
    from pfedrl.envs.figure_eight import FigureEightFamily

ATTEMPTS = 3  # at one episode, before giving up
LONGEST_SILENCE = 60  # seconds in one reset or step, after which a worker counts as hung


class Vehicles(NamedTuple):
    """Where all vehicles are; [vehicle] each."""

    edges: list[str]
    positions: list[float]  # on the edge
    speeds: list[float]


class Seen(NamedTuple):
    """What a simulation answers to a reset or a step."""

    observations: np.ndarray  # [agent, 6]
    vehicles: Vehicles
    reward: float = 0.0
    crashed: bool = False
    lost: bool = False
    ended: bool = False  # by a crash, a lost vehicle or the horizon


def work(connection: Connection, family: "FigureEightFamily", network: Network) -> None:
    """A worker's life: a number is a seed to reset with, an array are actions to step with.

    The kernel's alarm ends a hung worker even where SUMO never returns and even where the parent
    is gone, so that no orphan stays behind.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    env: FigureEight | None = None
    with contextlib.suppress(EOFError, OSError):  # the other end is closed: the work is done
        while True:
            order = connection.recv()
            signal.alarm(LONGEST_SILENCE)
            try:
                env = FigureEight(family, network) if env is None else env
                answer: Seen | PfedrlError = obey(env, order)
            except PfedrlError as error:
                answer = error
            signal.alarm(0)
            connection.send(answer)
    if env is not None:
        env.close()


def obey(env: FigureEight, order: int | np.ndarray) -> Seen:
    """Reset or step."""
    simulation = env.simulation
    if isinstance(order, int):
        observations, _ = env.reset(seed=order)
        return Seen(
            observations, Vehicles(simulation.edges, simulation.positions, simulation.speeds)
        )
    observations, reward, crashed, truncated, info = env.step(order)
    vehicles = Vehicles(simulation.edges, simulation.positions, simulation.speeds)
    return Seen(observations, vehicles, reward, crashed, info["lost"], crashed or truncated)


class Remote:
    """A figure eight in another process. Orders are given and answers fetched separately, so
    that several work at once.

    An episode is its seed and its actions: if the process dies, a new one plays them again and
    goes on, and the episode is the one it would have been.
    """

    def __init__(self, family: "FigureEightFamily", network: Network):
        self.family = family
        self.network = network
        self.process: BaseProcess | None = None
        self._orders: list[int | np.ndarray] = []  # since the last reset, that included
        self._deaths = 0  # in this episode

    def order(self, order: int | np.ndarray) -> None:
        """A seed to reset with, or accelerations [agent] to step with."""
        if isinstance(order, int):
            self._orders, self._deaths = [], 0
        self._orders.append(order)
        if self.process is None:
            self._start()
        with contextlib.suppress(OSError):  # where it died while idle, `answer` finds out
            self._connection.send(order)

    def answer(self) -> Seen:
        """What came of the last order."""
        try:
            return self._receive()
        except (EOFError, OSError):
            return self._again()

    def _receive(self) -> Seen:
        answer = self._connection.recv()
        if isinstance(answer, PfedrlError):
            raise answer
        return answer

    def _again(self) -> Seen:
        """Play the episode up to now in a new process."""
        while True:
            self.close()
            self._deaths += 1
            if self._deaths == ATTEMPTS:
                raise PfedrlError(
                    f"SUMO died {ATTEMPTS} times in one episode, at the latest in step "
                    f"{len(self._orders) - 1} (seed {self._orders[0]}, placement "
                    f"{self.family.placement}). What was finished before is kept."
                )
            self._start()
            try:
                for order in self._orders:
                    self._connection.send(order)
                    seen = self._receive()
                return seen
            except (EOFError, OSError):
                continue

    def _start(self) -> None:
        # spawned, not forked: a fork would keep other workers' pipes open, and would bring along
        # what this process has loaded, which libsumo must not meet
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self.process = context.Process(
            target=work, args=(theirs, self.family, self.network), daemon=True
        )
        self.process.start()
        theirs.close()

    def close(self) -> None:
        """End the process, if there is one."""
        if self.process is None:
            return
        self._connection.close()
        self.process.join(timeout=2)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()
        self.process = None


class FigureEightPool:
    """Several figure eights, reset and stepped side by side."""

    def __init__(self, family: "FigureEightFamily", network: Network, size: int):
        self.family = family
        self.remotes = [Remote(family, network) for _ in range(size)]

    def reset(self, seeds: Sequence[int], which: Iterable[int] | None = None) -> list[Seen]:
        """Reset some (all, if not said) of the simulations, each with a seed of its own."""
        chosen = list(range(len(seeds)) if which is None else which)
        return self._ask(dict(zip(chosen, map(int, seeds), strict=True)))

    def step(self, actions: np.ndarray, which: Iterable[int] | None = None) -> list[Seen]:
        """Step some (all, if not said) of the simulations with accelerations [which, agent]."""
        chosen = list(range(len(actions)) if which is None else which)
        return self._ask(dict(zip(chosen, actions, strict=True)))

    def _ask(self, orders: dict[int, int | np.ndarray] | dict[int, int]) -> list[Seen]:
        try:
            for index, order in orders.items():
                self.remotes[index].order(order)
            return [self.remotes[index].answer() for index in orders]
        except BaseException:
            self.close()  # whoever has not been heard would answer to the wrong question
            raise

    def close(self) -> None:
        for remote in self.remotes:
            remote.close()

    def __enter__(self) -> "FigureEightPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
