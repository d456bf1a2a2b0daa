"""What a DDPG learner needs, in a few lines: the step, noise, the replay, nets by their inputs."""

from functools import lru_cache

import numpy as np
import pytest
import torch

from pfedrl.envs.environments import Continuous, episode_returns
from pfedrl.stack.episodes import Episodes
from pfedrl.stack.nets import Perceptron
from pfedrl.stack.optimisers import PYTORCH, adam
from pfedrl.stack.replay import Replay

ROWS, BATCH, GAMMA = 3, 32, 0.9
RATES = {"actor": 1e-3, "critic": 1e-2}
GOALS = np.array([-1.0, 0.5, 1.0])


class Places:
    """A fake continuous family: reward 1 - (a - goal)^2 whatever is seen; over after 4 steps."""

    observation_size, action_space, cap = 2, Continuous(1, 2.0), 4

    def __init__(self, goal, terminates):
        self.goal, self.terminates = goal, terminates
        self.observation, self.clock = np.zeros((ROWS, 2)), np.zeros(ROWS, int)
        self.reward = np.zeros(ROWS)
        self.terminated, self.truncated = np.zeros((2, ROWS), bool)

    def starts(self, generators):
        return np.stack([random.uniform(-1, 1, 2) for random in generators])

    def reset(self, rows, starts):
        self.observation[rows], self.clock[rows] = starts, 0

    def step(self, action, active):
        self.observation = self.observation.copy()
        self.reward = np.where(active, 1 - (action[:, 0] - self.goal) ** 2, 0.0)
        self.clock += active
        over = self.clock >= self.cap
        self.terminated, self.truncated = over & self.terminates, over & (not self.terminates)


class SmallDDPG:
    """Deterministic policy gradient: acts with noise, learns from a replay; targets are copies."""

    def __init__(self, environments, noise=1.0, truncation_stops=False):
        space = environments.action_space
        self.environments, self.noise, self.limit = environments, noise, space.limit
        seen = environments.observation_size
        self.actor = Perceptron(seen, 16, space.size, output="tanh")
        self.critic = Perceptron(seen + space.size, 16, 1)
        self.nets = {
            name: torch.from_numpy(
                np.concatenate([net.initial_rows(seed, 1) for seed in range(ROWS)])
            )
            for name, net in (("actor", self.actor), ("critic", self.critic))
        }
        self.moments = {n: np.zeros((2, *w.shape), np.float32) for n, w in self.nets.items()}
        self.steps = {name: np.zeros(ROWS, np.int64) for name in self.nets}
        self.generators = [np.random.default_rng(row) for row in range(ROWS)]
        self.replay = Replay(
            ROWS, 500, BATCH, seen, space.size, np.float32, truncation_stops=truncation_stops
        )
        self.episodes = Episodes(ROWS, 10)
        environments.reset(np.arange(ROWS), environments.starts(self.generators))

    def act(self, observation):
        """Without noise, within the limit."""
        seen = torch.from_numpy(observation.astype(np.float32))[:, None]
        return self.limit * self.actor.outputs(self.nets["actor"], seen)[:, 0].numpy()

    def step(self, active):
        environments, seen = self.environments, self.environments.observation
        noise = [random.normal(0, self.noise, 1) for random in self.generators]
        action = np.clip(self.act(seen) + np.stack(noise), -self.limit, self.limit)
        environments.step(action, active)
        outcome = environments.reward, environments.terminated, environments.truncated
        self.replay.add(active, seen, environments.observation, action, *outcome)
        over = self.episodes.count(active, *outcome)
        if len(over):
            environments.reset(over, environments.starts(self.generators)[over])

    def update(self, active):
        uniforms = np.stack([random.random(BATCH) for random in self.generators])
        batch = self.replay.sample(active, uniforms)
        seen, following = torch.from_numpy(batch.seen), torch.from_numpy(batch.following)
        actor, critic = (
            net.views(self.nets[name])
            for name, net in (("actor", self.actor), ("critic", self.critic))
        )
        ahead = self.limit * self.actor.forward(actor, following)[-1]
        value = self.critic.forward(critic, torch.cat([following, ahead], 2))[-1]
        goes_on = torch.from_numpy(~self.replay.stops)[..., None]
        target = torch.from_numpy(batch.reward)[..., None] + GAMMA * goes_on * value
        levels = self.critic.forward(critic, torch.cat([seen, torch.from_numpy(batch.action)], 2))
        self._descend("critic", self.critic, critic, levels, 2 * (levels[-1] - target) / BATCH)
        deeds = self.actor.forward(actor, seen)
        levels = self.critic.forward(critic, torch.cat([seen, self.limit * deeds[-1]], 2))
        slope = torch.full_like(levels[-1], -1 / BATCH)  # ascend the critic's value
        by_inputs = self.critic.backward(critic, levels, slope, None, to_inputs=True)
        self._descend("actor", self.actor, actor, deeds, self.limit * by_inputs[..., 2:])

    def _descend(self, name, net, views, levels, slope):
        gradient = torch.zeros_like(self.nets[name])
        net.backward(views, levels, slope.contiguous(), net.views(gradient))
        adam(
            self.nets[name].numpy(), gradient.numpy(), *self.moments[name], self.steps[name],
            np.full(ROWS, RATES[name]), np.ones(ROWS, bool), 0, net.columns, *PYTORCH, None,
        )  # fmt: skip


@lru_cache
def trained(steps, **settings):
    environments = Places(GOALS, settings.pop("terminates", False))
    learner, everyone = SmallDDPG(environments, **settings), np.ones(ROWS, bool)
    for t in range(steps):
        learner.step(everyone)
        if t > BATCH:
            learner.update(everyone)
    return learner


def test_its_return_without_noise_comes_near_the_best_of_each_row():
    """4 is the best; of no action at all it is 0, 3 and 0."""
    learner = trained(2000, terminates=False)
    starts = learner.environments.starts([np.random.default_rng(9)] * ROWS)
    assert (episode_returns(learner.environments, starts, learner.act) > 3.4).all()
    still = episode_returns(learner.environments, starts, lambda seen: np.zeros((ROWS, 1)))
    np.testing.assert_allclose(still, [0, 3, 0])


@pytest.mark.parametrize(
    ("settings", "going_on"),
    [
        ({"terminates": False}, 1.0),
        ({"terminates": False, "truncation_stops": True}, 0.75),
        ({"terminates": True}, 0.75),
    ],
    ids=["a cut goes on", "a cut stops", "an end stops"],
)
def test_a_value_goes_on_beyond_a_cut_and_not_beyond_an_end(settings, going_on):
    """Of reward 1 a step where three of four transitions go on: 1 / (1 - 3/4 gamma)."""
    learner = trained(2000, **settings)
    seen = np.zeros((ROWS, 2))
    inputs = torch.from_numpy(np.concatenate([seen, learner.act(seen)], 1).astype(np.float32))
    value = learner.critic.outputs(learner.nets["critic"], inputs[:, None])[:, 0, 0].numpy()
    np.testing.assert_allclose(value, 1 / (1 - going_on * GAMMA), rtol=0.15)


def test_noise_stays_within_the_limit_and_rows_that_rest_store_nothing():
    learner = trained(0, noise=5.0)
    some = np.array([True, False, True])
    for _ in range(9):
        learner.step(some)
    np.testing.assert_array_equal(learner.replay.size, [9, 0, 9])
    np.testing.assert_array_equal(learner.episodes.done, [2, 0, 2])
    stored = learner.replay.kept.action[some, :9]
    assert (abs(stored) <= 2).all() and (abs(stored) == 2).any()
    assert learner.replay.kept.truncated[0, :9].sum() == 2
    assert np.isfinite(learner.episodes.returns[some, :2]).all()
