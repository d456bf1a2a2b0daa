"""What the benchmark compares is the same work: a plain loop's updates are the stack's."""

from types import SimpleNamespace

import numpy as np
import torch

from pfedrl.algorithms.dqn.dqn import DQN
from pfedrl.benchmarks.deep import SHARED, SIZES, products, stacked
from tests.plain.dqn import PlainDQN

SMALL = {"layers": 2, "width": 16, "batch": 8, "buffer": 100, "warm_up": 30, "target_every": 7}


def linear(net):
    return [module for module in net if isinstance(module, torch.nn.Linear)]


def test_the_plain_loop_updates_its_net_as_the_stack_does():
    settings = DQN.model_validate(SHARED | SMALL)
    learner = stacked(settings)
    experience = learner.experience
    plain = PlainDQN(settings, seed=0)
    row = 13
    for (column, inputs, outputs), ours, late in zip(
        learner.net.layers, linear(plain.net), linear(plain.target), strict=True
    ):
        bias = column + inputs * outputs
        for weights, module in ((learner.weights, ours), (learner.target, late)):
            module.weight.data = weights[row, column:bias].view(inputs, outputs).T.clone()
            module.bias.data = weights[row, bias : bias + outputs].clone()
    seen, following, action, reward, terminated, truncated = experience.replay.kept
    kept = (seen, following, action, reward, terminated | truncated)
    names = ("seen", "following", "action", "reward", "over")
    for name, rows in zip(names, kept, strict=True):
        plain.replay[name][:] = rows[row].reshape(plain.replay[name].shape)
    plain.stored, plain.updates = int(experience.replay.size[row]), 0
    plain.optimiser = torch.optim.Adam(plain.net.parameters(), lr=settings.learning_rate)
    learner.moments[:], learner.updates["all"][:], learner.copied[:] = 0, 0, 0
    everyone = np.ones(len(experience.replay.size), np.bool_)
    for _ in range(20):
        uniforms = experience.uniforms[row, experience.place[row] - 1, experience.before :]
        chosen = (uniforms * experience.replay.size[row]).astype(int)
        plain.rng = SimpleNamespace(integers=lambda *_, size, drawn=chosen: drawn[:size])
        learner._copy_targets(everyone)  # as at the start of a round, here of one step
        learner._update(everyone, "all")
        plain.update()
        experience.place += 1
    for (column, inputs, outputs), module in zip(
        learner.net.layers, linear(plain.net), strict=True
    ):
        found = learner.weights[row, column : column + inputs * outputs].view(inputs, outputs)
        torch.testing.assert_close(found.T, module.weight.data, atol=1e-5, rtol=1e-4)


def test_the_limit_counts_every_product_of_an_update():
    settings = DQN.model_validate(SHARED | SMALL)
    learner = stacked(settings)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as alone:
        products(learner)()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as update:
        learner._update(np.ones(len(learner.experience.replay.size), np.bool_), "all")

    def count(profile):
        names = ("aten::bmm", "aten::baddbmm")
        return sum(event.count for event in profile.key_averages() if event.key in names)

    layers = len(learner.net.layers)
    assert count(alone) == 4 * layers - 1  # two forward, the weights' and the inputs' gradients
    assert count(update) == count(alone)


def test_both_papers_nets_are_measured():
    assert [(size["layers"], size["batch"]) for size in SIZES.values()] == [(3, 64), (1, 16)]
