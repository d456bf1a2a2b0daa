"""Control variates on problems whose solution is known: no drift, where plain averages have one."""

import numpy as np

from pfedrl.stack.corrections import ControlVariates, corrected
from pfedrl.stack.exchange import SharedParts, server_average
from pfedrl.stack.learner import Learner
from pfedrl.stack.linear_corrections import LinearCorrections
from pfedrl.stack.mixing import ServerAverage

SEEDS, AGENTS, SIZE = 2, 4, 3
RNG = np.random.default_rng(5)
CURVATURE = RNG.uniform(0.2, 3.0, (SEEDS, AGENTS, SIZE))
TARGET = RNG.normal(size=(SEEDS, AGENTS, SIZE))


class Quadratic(Learner):
    """Gradient steps on sum a_i (x - t_i)^2 / 2, which agents are differently curved in."""

    def __init__(self) -> None:
        self.weights = np.zeros((SEEDS * AGENTS, SIZE), np.float32)

    @property
    def parts(self):
        return {"model": self.weights.reshape(SEEDS, AGENTS, SIZE)}

    def advance(self, steps):
        for _ in range(steps):
            model = self.parts["model"]
            gradient = (CURVATURE * (model - TARGET)).reshape(self.weights.shape)
            everyone = slice(None)
            self.adjust(self.weights, gradient, everyone, everyone, everyone)
            self.weights -= 0.1 * gradient

    def measure(self):
        return ()

    def state(self):
        return {"weights": self.weights}

    def restore(self, state):
        self.weights = state["weights"]


def trained(learner, exchange) -> np.ndarray:
    exchange.begin(learner.parts)
    for number in range(400):
        learner.advance(exchange.steps)
        exchange(learner.parts, number)
    return learner.parts["model"]


def test_scaffold_finds_the_minimum_of_the_mean_and_averages_do_not():
    best = (CURVATURE * TARGET).sum(axis=1) / CURVATURE.sum(axis=1)
    best = np.repeat(best[:, None], AGENTS, axis=1)
    average = SharedParts(("model",), ServerAverage(), every=10)
    scaffold = trained(corrected(Quadratic()), ControlVariates(average))
    np.testing.assert_allclose(scaffold, best, atol=1e-4)
    assert np.abs(trained(Quadratic(), average) - best).max() > 0.02


def test_the_mean_gradient_is_the_papers_second_option():
    """c_i - c + (x - y_i) / (K eta), of SGD."""
    learner, steps = corrected(Quadratic()), 7
    learner.parts["correction"][:] = RNG.normal(size=(SEEDS, AGENTS, SIZE))
    start, added = learner.weights.copy(), learner.correction.copy()
    learner.advance(steps)
    option = -added + (start - learner.weights) / (steps * 0.1)
    told = learner.parts["mean_gradient"].reshape(option.shape)
    np.testing.assert_allclose(told, option, atol=1e-4)


def test_its_bytes_are_model_and_control_variate():
    learner = corrected(Quadratic())
    exchange = ControlVariates(SharedParts(("model",), ServerAverage(), every=1))
    exchange.begin(learner.parts)
    learner.advance(1)
    np.testing.assert_array_equal(exchange(learner.parts, 0), 2 * SIZE * 4)


def test_a_corrected_learner_keeps_its_correction():
    learner, other = corrected(Quadratic()), corrected(Quadratic())
    learner.parts["correction"][:] = 3.0
    other.restore(learner.state())
    assert (other.parts["correction"] == 3.0).all()


def test_scafflsa_solves_the_mean_system_and_averages_do_not():
    """theta <- theta - eta (A_i theta - b_i - xi_i), H times; then the mean of A and of b."""
    matrix = np.eye(SIZE) + 0.4 * RNG.normal(size=(SEEDS, AGENTS, SIZE, SIZE))
    right, eta, steps = RNG.normal(size=(SEEDS, AGENTS, SIZE)), 0.05, 20
    solution = np.linalg.solve(matrix.mean(axis=1), right.mean(axis=1)[..., None])[..., 0]

    def after(exchange) -> np.ndarray:
        parts = {name: np.zeros((SEEDS, AGENTS, SIZE)) for name in ("table", "correction")}
        for number in range(3000):
            for _ in range(steps):
                slope = np.einsum("xiab,xib->xia", matrix, parts["table"]) - right
                parts["table"] -= eta * (slope - parts["correction"])
            sent = exchange(parts, number)
        np.testing.assert_array_equal(sent, SIZE * 8)
        np.testing.assert_allclose(parts["correction"].sum(axis=1), 0.0, atol=1e-8)
        return parts["table"][:, 0]

    np.testing.assert_allclose(after(LinearCorrections(lambda _: eta * steps)), solution, atol=1e-6)
    assert np.abs(after(server_average(1, ("table",))) - solution).max() > 1e-3
