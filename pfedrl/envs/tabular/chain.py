"""Markov chains: what agents see once each of them follows a fixed policy.

Arrays here are seed first. An outcome of a state is a pair of an action and a move.
"""

from dataclasses import dataclass

import numpy as np

from pfedrl.envs.tabular.task import TabularTask


@dataclass(frozen=True)
class Chain:
    """The chains of all seeds and agents; after a terminal state a new start is drawn."""

    probability: np.ndarray  # [seed, agent, s, outcome]
    target: np.ndarray  # the state that an outcome leads to, [s, outcome]
    reward: np.ndarray  # [seed, s, outcome]
    terminal: np.ndarray  # whether a state ends the episode, [s]
    restart: np.ndarray  # the distribution of new starts, [s]
    gamma: float

    @property
    def states(self) -> int:
        return len(self.terminal)

    def moves(self) -> np.ndarray:
        """P(s'|s) within an episode, [seed, agent, s, s']."""
        out = np.zeros((*self.probability.shape[:3], self.states))
        for state, targets in enumerate(self.target):
            for outcome, target in enumerate(targets):
                out[:, :, state, target] += self.probability[:, :, state, outcome]
        return out

    def transitions(self) -> np.ndarray:
        """The chain that is observed: a step into a terminal state continues at a new start."""
        moves = self.moves()
        ended = moves[..., self.terminal].sum(axis=-1, keepdims=True)
        moves[..., self.terminal] = 0.0
        return moves + ended * self.restart

    def rewards(self) -> np.ndarray:
        """The expected reward of a step, [seed, agent, s]."""
        return np.einsum("xiso,xso->xis", self.probability, self.reward)

    def values(self) -> np.ndarray:
        """V^pi of each agent's policy in its environment, [seed, agent, s]; 0 where terminal."""
        bootstrapped = self.gamma * self.moves()
        bootstrapped[..., self.terminal] = 0.0
        system = np.eye(self.states) - bootstrapped
        value = np.linalg.solve(system, self.rewards()[..., None])[..., 0]
        value[..., self.terminal] = 0.0
        return value

    def stationary(self) -> np.ndarray:
        """The stationary distribution of the observed chain, [seed, agent, s]."""
        transitions = self.transitions()
        system = np.eye(self.states) - np.swapaxes(transitions, -1, -2)
        system[..., -1, :] = 1.0  # one equation is redundant; the numbers sum to 1 instead
        right = np.zeros((*system.shape[:-1], 1))
        right[..., -1, 0] = 1.0
        return np.linalg.solve(system, right)[..., 0]

    def mixing_times(self, distance: float = 0.25, most: int = 10_000) -> np.ndarray:
        """Steps until the chain is within a total variation distance of stationarity.

        From the worst of the states that the chain ever visits, [seed, agent]; `most` where it
        takes longer.
        """
        transitions, stationary = self.transitions(), self.stationary()
        visited = stationary > 1e-12
        power = np.broadcast_to(np.eye(self.states), transitions.shape)
        times = np.full(transitions.shape[:2], most)
        for step in range(1, most):
            power = power @ transitions
            apart = 0.5 * np.abs(power - stationary[..., None, :]).sum(axis=-1)
            worst = np.where(visited, apart, 0.0).max(axis=-1)
            times[(worst <= distance) & (times == most)] = step
            if (times < most).all():
                break
        return times


def chain(task: TabularTask) -> Chain:
    """The chain of each agent under its evaluation policy in its own environment."""
    agents, states, actions, seeds = task.agents, task.states, task.actions, task.seeds
    moves = task.training.reshape(agents, states, actions, -1, seeds)
    policies = task.evaluation_policies().reshape(agents, states, actions, 1, 1)
    count = moves.shape[3]
    joint = (policies * moves).reshape(agents, states, actions * count, seeds)
    reward = np.repeat(task.reward.reshape(states, actions, seeds), count, axis=1)
    return Chain(
        probability=np.ascontiguousarray(np.moveaxis(joint, -1, 0)),
        target=task.successors.reshape(states, actions * count),
        reward=np.ascontiguousarray(np.moveaxis(reward, -1, 0)),
        terminal=task.terminal_states(),
        restart=task.restarts(),
        gamma=task.gamma,
    )
