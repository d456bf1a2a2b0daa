"""Figure eights side by side, each with a SUMO in a process of its own; a dead one is replaced."""

import contextlib
import multiprocessing
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.traffic.environment import FigureEight
from pfedrl.envs.traffic.network import Network

if TYPE_CHECKING:
    from pfedrl.envs.traffic.figure_eight import FigureEightFamily

ATTEMPTS = 3  # at one episode, before giving up
LONGEST_SILENCE = 60  # seconds in one reset or step, after which a worker counts as hung


class Vehicles(NamedTuple):
    """Where all vehicles are; [vehicle] each."""

    edges: np.ndarray  # places in the network's loop
    positions: np.ndarray  # on the edge
    speeds: np.ndarray


class Seen(NamedTuple):
    """What a simulation answers to a reset or a step."""

    observations: np.ndarray  # [agent, 6]
    vehicles: Vehicles
    reward: float = 0.0
    crashed: bool = False
    lost: bool = False
    ended: bool = False  # by a crash, a lost vehicle or the horizon


# Orders and answers travel as plain numbers: pickling objects took longer than a step of SUMO.
RESET, STEP = b"r", b"s"  # first byte of an order: a seed follows, or accelerations
FAILED = b"!"  # first byte of an answer that is a message


def work(connection: Connection, family: "FigureEightFamily", network: Network) -> None:
    """A worker's life: obey orders until the other end closes.

    The kernel's alarm ends a hung worker even where SUMO never returns and even where the parent
    is gone, so that no orphan stays behind.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    env: FigureEight | None = None
    places = {edge: place for place, edge in enumerate(network.loop())}
    with contextlib.suppress(EOFError, OSError):  # the other end is closed: the work is done
        while True:
            order = connection.recv_bytes()
            signal.alarm(LONGEST_SILENCE)
            try:
                env = FigureEight(family, network) if env is None else env
                answer = b" " + obey(env, order, places).tobytes()
            except PfedrlError as error:
                answer = FAILED + str(error).encode()
            signal.alarm(0)
            connection.send_bytes(answer)
    signal.alarm(LONGEST_SILENCE)  # SUMO may hang in its farewell, too
    if env is not None:
        env.close()


@contextlib.contextmanager
def main_hidden() -> Iterator[None]:
    """A process spawned meanwhile does not run the program's main module again.

    A script without `if __name__ == "__main__"` would do all its work once more in every worker,
    before the worker comes to obey, and also where its parent is gone.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def obey(env: FigureEight, order: bytes, places: dict[str, int]) -> np.ndarray:
    """Reset or step; the answer as numbers, in the order of `read_answer`."""
    reward, crashed, lost, ended = 0.0, False, False, False
    if order[:1] == RESET:
        observations, _ = env.reset(seed=int.from_bytes(order[1:], "little"))
    else:
        actions = np.frombuffer(order, offset=1)
        observations, reward, crashed, truncated, info = env.step(actions)
        lost, ended = info["lost"], crashed or truncated
    vehicles = env.simulation
    edges = [places[edge] for edge in vehicles.edges]
    numbers = [reward, crashed, lost, ended, *edges, *vehicles.positions, *vehicles.speeds]
    return np.concatenate([numbers, observations.ravel()])


def read_answer(numbers: np.ndarray, vehicles: int) -> Seen:
    """The other end of `obey`."""
    reward, crashed, lost, ended = numbers[:4].tolist()
    edges, positions, speeds = numbers[4 : 4 + 3 * vehicles].reshape(3, vehicles)
    return Seen(
        numbers[4 + 3 * vehicles :].reshape(-1, 6),
        Vehicles(edges, positions, speeds),
        reward,
        bool(crashed),
        bool(lost),
        bool(ended),
    )


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
        self._orders: list[bytes] = []  # since the last reset, that included
        self._deaths = 0  # in this episode

    def reset(self, seed: int) -> None:
        """Order a new episode."""
        self._orders, self._deaths = [], 0
        self._order(RESET + seed.to_bytes(8, "little"))

    def step(self, accelerations: np.ndarray) -> None:
        """Order a step of the agents [agent]."""
        self._order(STEP + accelerations.astype(np.float64).tobytes())

    def _order(self, order: bytes) -> None:
        self._orders.append(order)
        if self.process is None:
            self._start()
        with contextlib.suppress(OSError):  # where it died while idle, `answer` finds out
            self._connection.send_bytes(order)

    def answer(self) -> Seen:
        """What came of the last order."""
        try:
            return self._receive()
        except (EOFError, OSError):
            return self._again()

    def _receive(self) -> Seen:
        answer = self._connection.recv_bytes()
        if answer[:1] == FAILED:
            raise PfedrlError(answer[1:].decode())
        return read_answer(np.frombuffer(answer, offset=1), len(self.family.placement))

    def _again(self) -> Seen:
        """Play the episode up to now in a new process."""
        while True:
            self.close()
            self._deaths += 1
            if self._deaths == ATTEMPTS:
                seed = int.from_bytes(self._orders[0][1:], "little")
                raise PfedrlError(
                    f"SUMO died {ATTEMPTS} times in one episode, at the latest in step "
                    f"{len(self._orders) - 1} (seed {seed}, placement {self.family.placement}). "
                    "What was finished before is kept."
                )
            self._start()
            try:
                for order in self._orders:
                    self._connection.send_bytes(order)
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
        with main_hidden():
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
        """Reset some (the first, if not said) of the simulations, each with its own seed."""
        chosen = self._chosen(len(seeds), which)
        with self._in_step():
            for remote, seed in zip(chosen, seeds, strict=True):
                remote.reset(int(seed))
            return [remote.answer() for remote in chosen]

    def step(self, actions: np.ndarray, which: Iterable[int] | None = None) -> list[Seen]:
        """Step some (the first, if not said) with accelerations [simulation, agent]."""
        chosen = self._chosen(len(actions), which)
        with self._in_step():
            for remote, accelerations in zip(chosen, actions, strict=True):
                remote.step(accelerations)
            return [remote.answer() for remote in chosen]

    def _chosen(self, count: int, which: Iterable[int] | None) -> list[Remote]:
        return [self.remotes[index] for index in (range(count) if which is None else which)]

    @contextlib.contextmanager
    def _in_step(self) -> Iterator[None]:
        """End all workers if anything goes wrong: one not heard would answer the next question."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for remote in self.remotes:
            remote.close()

    def __enter__(self) -> "FigureEightPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
