"""One DQN on everybody's experience: DQN where there is one agent, and a plain loop of more."""

import numpy as np
import pytest
import torch
from torch import nn

from pfedrl.algorithms.dqn.central_dqn import CentralDQN
from pfedrl.algorithms.dqn.dqn import DQN
from pfedrl.core.recorder import Recorder
from pfedrl.core.settings import validate
from pfedrl.envs.attack import attacked
from pfedrl.envs.classic.acrobot import Acrobot
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.stack.loop import Control
from tests.stack.test_nets import plain

SETTINGS = {
    "episodes": 8, "local_steps": 1, "unit": "step", "layers": 2, "width": 16, "batch": 8,
    "learning_rate": 0.002, "halve_every": 5, "gamma": 0.98, "epsilon": 0.1, "buffer": 50,
    "warm_up": 20, "target_every": 10, "adapt_episodes": 3,
}  # fmt: skip
CARTPOLES = {"agents": 3, "low": 0.2, "high": 0.8, "held_out": 2, "cap": 50}


def recorded(algorithm, family, seeds=range(2)):
    recorder = Recorder(seeds)
    algorithm.run(seeds, family, family.draw(seeds), recorder, Control(3))
    columns = recorder.columns()
    return {name: columns[name][columns["metric"] != "megabytes_sent"] for name in columns}


@pytest.mark.parametrize("family", [CartPole, Acrobot])
def test_one_agent_is_dqn_bit_for_bit(family):
    alone = family(**CARTPOLES | {"agents": 1})
    ours, theirs = (recorded(made(**SETTINGS), alone) for made in (CentralDQN, DQN))
    both = ours["metric"] == theirs["metric"]
    trained = ~np.char.startswith(theirs["metric"].astype(str), "adapt_")  # DQN starts anew there
    assert both.all() and trained.sum() > 20
    np.testing.assert_array_equal(ours["value"][trained], theirs["value"][trained])


def test_several_agents_are_a_plain_loop():
    """One net, one list of transitions, three steps of PyTorch's Adam after every joint step; each
    joint step from the server's state, as Adam blows up rounding errors of small gradients."""
    family, seeds, every = CartPole(**CARTPOLES), [4], SETTINGS["target_every"]
    algorithm = CentralDQN(**SETTINGS | {"halve_every": 0, "episodes": 50})
    task = family.task(family.draw(seeds))
    learner, exchange = algorithm.learner(task, seeds), algorithm.exchange(task, seeds)
    net, experience = learner.server.net, learner.experience
    weights = learner.server.weights.clone().requires_grad_(True)
    target, optimiser = weights.detach(), torch.optim.Adam([weights], SETTINGS["learning_rate"])
    capacity, kept, count, updates = SETTINGS["buffer"] * task.agents, [], 0, 0
    for number in range(90):
        learner.advance(1)
        last, _ = experience.replay.last(1)
        for agent in range(task.agents):
            over = last.terminated[agent, 0] or last.truncated[agent, 0]
            own = [array[agent, 0] for array in last[:4]]
            kept[count % capacity : count % capacity + 1] = [(*own, over)]
            count += 1
        if updates:
            rule = optimiser.state[weights]
            weights.data.copy_(learner.server.weights)
            for name, moment in zip(("exp_avg", "exp_avg_sq"), learner.server.moments, strict=True):
                rule[name].copy_(torch.from_numpy(moment))
        for agent in range(task.agents if len(kept) >= SETTINGS["warm_up"] else 0):
            uniforms = experience.uniforms[agent, experience.place[agent] - 1, experience.before :]
            chosen = [kept[int(float(uniform) * len(kept))] for uniform in uniforms]
            seen, following, action, reward, over = (
                torch.from_numpy(np.array(column)) for column in zip(*chosen, strict=True)
            )
            if updates and updates % every == 0:
                target = weights.detach().clone()
            ahead = plain(net, target, following[None])[0].max(1).values
            goal = reward + SETTINGS["gamma"] * ahead * ~over
            with torch.enable_grad():
                found = plain(net, weights, seen[None])[0].gather(1, action.long())[:, 0]
                optimiser.zero_grad()
                nn.functional.mse_loss(found, goal).backward()
            optimiser.step()
            updates += 1
        exchange(learner.parts, number)
        learner.observe()
        near = 1e-6 if updates > 15 else 5e-4  # the first steps divide by the smallest moments
        torch.testing.assert_close(learner.server.weights, weights.detach(), rtol=0, atol=near)
    assert updates > 200 and count > capacity
    assert learner.server.updates["all"].tolist() == [updates]


def test_of_an_agent_that_does_not_answer_nothing_is_learnt():
    """Its transitions are lost, and no old one stands in for them."""
    made = validate(attacked(CartPole), CARTPOLES | {"attack": {"absent": 0.5}}, "attack")
    seeds, algorithm = range(2), CentralDQN(**SETTINGS)
    task = made.task(made.draw(seeds))
    learner = algorithm.learner(task, seeds)
    exchange = made.attacked(algorithm.exchange(task, seeds), seeds)
    exchange.begin(learner.parts)
    rounds, sent = 12, np.zeros((2, 3))
    for number in range(rounds):
        learner.observe()
        learner.advance(1)
        sent += exchange(learner.parts, number)
    learner.observe()
    kept = learner.server.experience.replay
    answered = sent / 44  # bytes of a transition
    np.testing.assert_array_equal(kept.size, answered.sum(axis=1))
    assert 0 < answered.max() < rounds
    for seed in range(2):
        rows = kept.kept.seen[seed, : kept.size[seed]]
        assert len(np.unique(rows, axis=0)) == len(rows)


def test_it_has_no_rounds_of_episodes():
    algorithm = CentralDQN(**SETTINGS | {"unit": "episode"})
    assert "unit must be step" in algorithm.skip(CartPole(**CARTPOLES))
