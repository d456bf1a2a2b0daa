"""Newcomers start from what was learnt, each way from the same, and are recorded by its name."""

from dataclasses import dataclass

import numpy as np
import torch

from pfedrl.algorithms.adaptation import Adaptation, adapt, newcomers_weights
from pfedrl.core.measurement import Measurement
from pfedrl.core.recorder import Recorder
from pfedrl.stack.learner import Learner
from pfedrl.stack.nets import Perceptron


@dataclass
class Counting(Learner):
    """Not of DQN: it adds up steps, beginning with what it was given."""

    at: float
    trains: str = "all"
    steps: int = 0

    @property
    def parts(self):
        return {}

    def advance(self, steps):
        self.steps += steps
        self.at += steps if self.trains == "all" else 0

    def measure(self):
        yield Measurement("step", self.steps, "place", np.full((1, 2), self.at))

    def newcomers(self, settings, way):
        return Counting(0.0 if "body" in way.fresh else self.at, way.trains)

    def state(self):
        return {}

    def restore(self, state):
        """Nothing to keep."""


class Settings:
    local_steps = 3

    def rounds(self):
        return 3

    def watching(self, learner, control):
        return control


def test_each_way_starts_from_the_same_result():
    learner, recorder = Counting(10.0), Recorder([0])
    ways = {
        "adapt": Adaptation((), "all"),
        "afresh": Adaptation(("body",), "all"),
        "frozen": Adaptation((), "nothing"),
    }
    adapt(learner, Settings(), ways, 0, [0], recorder)
    found = {metric: values for _, _, metric, values, _ in recorder.state()}
    assert {name: values[0, 0] for name, values in found.items()} == {
        "adapt_place": 16, "afresh_place": 6, "frozen_place": 10
    }  # fmt: skip
    assert learner == Counting(10.0), "what was learnt stays as it was"


def test_weights_of_newcomers_are_the_average_but_for_fresh_parts():
    net, seeds = Perceptron(3, 4, 2), [5, 7]
    stack = torch.randn(2, 3, net.columns, generator=torch.Generator().manual_seed(0))
    found = newcomers_weights(net, stack, seeds, 2, ("head",))
    body, head = net.part["body"], net.part["head"]
    for newcomer in range(2):
        np.testing.assert_array_equal(found[:, newcomer, body], stack.mean(1)[:, body])
        for row, seed in enumerate(seeds):
            start = net.initial_rows(seed, 5)[3 + newcomer]
            np.testing.assert_array_equal(found[row, newcomer, head], start[head])
