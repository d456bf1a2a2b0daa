"""Softmax policies on tables, climbing by trajectories: SVRPG's steps with momentum."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pfedrl.algorithms.td.q_learner import SampledQLearner
from pfedrl.envs.tabular.task import TabularTask
from pfedrl.stack.exchange import Parts


class Climb(NamedTuple):
    """What a trajectory says: gradients [seed, agent, row] at two policies, and the weight."""

    own: np.ndarray
    anchor: np.ndarray
    weight: np.ndarray  # p(anchor) / p(own), [seed, agent, 1]


class TablePolicies(SampledQLearner):
    """Logits for every agent, from zero, and the direction that the server tells; judged are the
    most likely actions."""

    def __init__(
        self, task: TabularTask, seeds: Sequence[int], steps: int, horizon: int, eta: float,
        beta: float,
    ):  # fmt: skip
        super().__init__(task, seeds, steps * horizon)
        self.horizon, self.eta, self.beta = horizon, eta, beta
        self.tables = np.zeros((len(seeds), task.agents, task.states * task.actions))
        self.direction = np.zeros_like(self.tables)

    @property
    def parts(self) -> Parts:
        return {"table": self.tables, "direction": self.direction}

    def values(self) -> np.ndarray:
        return self.tables

    def update(self, uniforms: np.ndarray) -> None:
        received = self.tables.copy()
        for numbers in np.split(uniforms, self.transitions // self.horizon, axis=2):
            climb = self.trajectory(received, numbers)
            known = self.direction - climb.weight * climb.anchor
            self.tables += self.eta * (climb.own + (1 - self.beta) * known)

    def trajectory(self, anchor: np.ndarray, uniforms: np.ndarray) -> Climb:
        """One of every agent, by its own policy, of at most `horizon` transitions."""
        cumulative, successors, rewards, terminal, restart, gamma = self.environments()
        count, shape = self.task.actions, self.states.shape
        x, i = np.indices(shape)
        chances = [softmax(table, count) for table in (self.tables, anchor)]
        acts, happens, begins = np.moveaxis(uniforms.reshape(*shape, -1, 3), 3, 0)
        self.states = (begins[..., :1] >= restart[:-1]).sum(axis=-1)
        going = np.ones(shape, np.bool_)
        log_weight = np.zeros(shape)
        taken, gains = np.zeros((self.horizon, *shape), np.int64), np.zeros((self.horizon, *shape))
        for step in range(self.horizon):
            own, other = (policy[x, i, self.states] for policy in chances)
            sums = np.cumsum(own, axis=-1)
            action = (acts[..., step, None] * sums[..., -1:] >= sums[..., :-1]).sum(axis=-1)
            row = self.states * count + action
            ratio = np.log(other[x, i, action]) - np.log(own[x, i, action])
            log_weight += np.where(going, ratio, 0.0)
            taken[step] = np.where(going, row, -1)
            gains[step] = np.where(going, gamma**step * rewards[x, row], 0.0)
            move = (happens[..., step, None] >= cumulative[x, i, row][..., :-1]).sum(axis=-1)
            self.states = np.where(going, successors[row, move], self.states)
            going = going & ~terminal[self.states]
        ahead = np.cumsum(gains[::-1], axis=0)[::-1]  # what followed each action
        at_own, at_anchor = (self._gradient(policy, taken, ahead) for policy in chances)
        return Climb(at_own, at_anchor, np.exp(log_weight)[..., None])

    def _gradient(self, policy: np.ndarray, taken: np.ndarray, ahead: np.ndarray) -> np.ndarray:
        """sum_t grad log pi(a_t | s_t) times what followed: [seed, agent, row]."""
        count = self.task.actions
        found = np.zeros((*self.states.shape, self.task.states, count))
        x, i = np.indices(self.states.shape)
        for row, gain in zip(taken, ahead, strict=True):
            state, action = row // count, row % count
            gain = np.where(row >= 0, gain, 0.0)
            found[x, i, state] -= gain[..., None] * policy[x, i, state]
            found[x, i, state, action] += gain
        return found.reshape(self.tables.shape)


def softmax(table: np.ndarray, actions: int) -> np.ndarray:
    """Chances [seed, agent, state, action] of logits [seed, agent, row]."""
    logits = table.reshape(*table.shape[:2], -1, actions)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)
