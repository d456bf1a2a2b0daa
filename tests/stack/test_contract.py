"""Newcomers written against the contract: D-PSGD, Ditto, PFedDDPG-Rep's parts, server momentum."""

from typing import Any

import numpy as np
import pytest

from pfedrl.core.measurement import Measurement
from pfedrl.core.recorder import Recorder
from pfedrl.stack.checkpoint import Checkpoint
from pfedrl.stack.exchange import Exchange, SharedParts, bytes_each, server_average, stack_shape
from pfedrl.stack.graphs import fully_connected, metropolis_weights, random_connected, ring
from pfedrl.stack.learner import Learner
from pfedrl.stack.loop import Control, train
from pfedrl.stack.mixing import NeighbourAverage

SEEDS, AGENTS, SIZE = 2, 6, 3


class Descent(Learner):
    """Agents that descend (x - target_i)^2 / 2 in all their parts, so many steps a seed."""

    def __init__(self, names: tuple[str, ...] = ("model",), rate: float = 0.1):
        rng = np.random.default_rng(1)
        self.targets = rng.normal(size=(SEEDS, AGENTS, SIZE))
        self._parts = {name: rng.normal(size=(SEEDS, AGENTS, SIZE)) for name in names}
        self.rate, self.steps = rate, 0
        self.most = np.full(SEEDS, 10**6)

    @property
    def parts(self):
        return self._parts

    @property
    def finished(self):
        return self.steps >= self.most

    def advance(self, steps):
        for part in self._parts.values():
            for _ in range(steps):
                part -= self.rate * (part - self.targets)
        self.steps += steps

    def measure(self):
        first = next(iter(self._parts.values()))
        yield Measurement("step", self.steps, "value", first.mean(axis=2))

    def state(self):
        return {"parts": self._parts, "steps": self.steps}

    def restore(self, state):
        self._parts, self.steps = state["parts"], state["steps"]


def values(recorder: Recorder, metric: str) -> list[np.ndarray]:
    return [row[3] for row in recorder.state() if row[2] == metric]


@pytest.mark.parametrize("graph", [ring, fully_connected], ids=lambda graph: graph.__name__)
def test_d_psgd(graph):
    """A step of each agent's own SGD, then x <- P x on the graph; all of the model travels."""
    P = metropolis_weights(graph(AGENTS))
    exchange = SharedParts(("*",), NeighbourAverage(P), every=1)
    learner, expected = Descent(), Descent().parts["model"].copy()
    for number in range(5):
        learner.advance(exchange.steps)
        exchange(learner.parts, number)
        local = expected - 0.1 * (expected - learner.targets)
        expected = np.stack([P @ own for own in local])
        if graph is fully_connected:
            np.testing.assert_allclose(
                expected, np.broadcast_to(local.mean(axis=1, keepdims=True), local.shape)
            )
        np.testing.assert_allclose(learner.parts["model"], expected, atol=1e-6)


def test_d_psgd_on_graphs_that_change_by_round():
    """A graph a seed and round; each is used in its round, and the mean is kept."""

    def matrix(number):
        rngs = [np.random.default_rng((seed, number)) for seed in range(SEEDS)]
        graphs = [random_connected(AGENTS, 0.4, rng) for rng in rngs]
        return np.stack([metropolis_weights(graph) for graph in graphs])

    exchange, learner = SharedParts(("*",), NeighbourAverage(matrix), every=1), Descent()
    assert not np.array_equal(matrix(0), matrix(1))
    for number in range(4):
        before = learner.parts["model"].copy()
        sent = exchange(learner.parts, number)
        np.testing.assert_allclose(learner.parts["model"], matrix(number) @ before, atol=1e-12)
        np.testing.assert_allclose(learner.parts["model"].mean(1), before.mean(1), atol=1e-12)
        degree = (matrix(number) > 0).sum(axis=2) - 1
        np.testing.assert_array_equal(sent, degree * SIZE * 8)


def test_ditto():
    """The global copy is averaged; the personal model is pulled to what came, and stays."""

    class Ditto(Descent):
        def advance(self, steps):
            received = self.parts["global"].copy()  # the server's model, at the round's start
            for _ in range(steps):
                self.parts["global"] -= self.rate * (self.parts["global"] - self.targets)
                personal = self.parts["personal"]
                gradient = personal - self.targets + 1.0 * (personal - received)
                personal -= self.rate * gradient

    learner, exchange = Ditto(("global", "personal")), server_average(1, shares=("global",))
    for number in range(200):
        learner.advance(exchange.steps)
        sent = exchange(learner.parts, number)
    common = learner.targets.mean(axis=1, keepdims=True)  # the minimum of the mean loss
    np.testing.assert_allclose(learner.parts["global"], common + 0 * learner.targets, atol=1e-6)
    # of (x - target)^2 + (x - global)^2 the minimum is half-way
    np.testing.assert_allclose(learner.parts["personal"], (learner.targets + common) / 2, atol=1e-6)
    np.testing.assert_array_equal(sent, SIZE * 8)  # the personal model never travels


def test_pfed_ddpg_rep():
    """Bodies of actor and critic are shared, their heads are private."""
    names = ("actor.body", "actor.head", "critic.body", "critic.head")
    learner, exchange = Descent(names), server_average(5, shares=("*.body",))
    learner.advance(exchange.steps)
    before = {name: part.copy() for name, part in learner.parts.items()}
    sent = exchange(learner.parts, 0)
    for name in ("actor.body", "critic.body"):
        mean = before[name].mean(axis=1, keepdims=True)
        np.testing.assert_allclose(learner.parts[name], mean + np.zeros((SEEDS, AGENTS, SIZE)))
    for name in ("actor.head", "critic.head"):
        np.testing.assert_array_equal(learner.parts[name], before[name])
    np.testing.assert_array_equal(sent, 2 * SIZE * 8)


class ServerMomentum(Exchange):
    """The server moves by its velocity, towards the agents' average: what it keeps is a state."""

    def __init__(self, seeds: int, momentum: float):
        super().__init__(steps=2)
        self.momentum = momentum
        self.model: np.ndarray | None = None
        self.velocity = np.zeros((seeds, 1, SIZE))

    def __call__(self, parts, round):
        average = parts["model"].mean(axis=1, keepdims=True)
        start = average if self.model is None else self.model
        self.velocity = self.momentum * self.velocity + average - start
        self.model = start + self.velocity
        parts["model"][...] = self.model
        return np.full(stack_shape(parts), bytes_each(parts, ["model"]))

    def state(self) -> dict[str, Any]:
        return {"model": self.model, "velocity": self.velocity}

    def restore(self, state: dict[str, Any]) -> None:
        self.model, self.velocity = state["model"], state["velocity"]


class Killed(BaseException):
    """As sudden as a signal."""


def test_an_exchange_with_a_state_goes_on_from_a_checkpoint(tmp_path):
    class Forgetful(ServerMomentum):
        def restore(self, state):
            """Start anew."""

    def run(kind=ServerMomentum, **control):
        recorder = Recorder(range(SEEDS))
        train(Descent(), kind(SEEDS, 0.9), 9, recorder, Control(9, **control))
        return recorder

    def kill(done, total):
        if done == 5:
            raise Killed

    def killed_and_resumed(kind):
        checkpoint = Checkpoint(tmp_path / f"{kind.__name__}.checkpoint", "key", seconds=0)
        with pytest.raises(Killed):
            run(kind, checkpoint=checkpoint, progress=kill)
        return run(kind, checkpoint=checkpoint)

    whole, resumed = run(), killed_and_resumed(ServerMomentum)
    for metric in ("value", "megabytes_sent"):
        assert len(values(whole, metric)) == 9
        np.testing.assert_array_equal(values(whole, metric), values(resumed, metric))
    without = values(killed_and_resumed(Forgetful), "value")
    assert not np.array_equal(values(whole, "value"), without), "the state is what made it equal"
    np.testing.assert_allclose(values(whole, "megabytes_sent")[-1], 8 * SIZE * 8 / 1e6)


def test_the_loop_ends_when_all_have_finished_and_a_finished_seed_sends_no_more():
    learner, recorder = Descent(), Recorder(range(SEEDS))
    learner.most = np.array([3, 5])
    train(learner, server_average(1), None, recorder, Control())
    assert learner.steps == 5
    sent = values(recorder, "megabytes_sent")
    assert len(sent) == 6, "asked after every round, as there is no number of them"
    rounds = np.repeat([[3.0], [5.0]], AGENTS, axis=1)
    np.testing.assert_allclose(sent[-1], rounds * SIZE * 8 / 1e6)
