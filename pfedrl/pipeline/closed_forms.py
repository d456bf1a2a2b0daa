"""Where tables end, beside closed forms: each agent's own solution, and the one they have together.

For `pfedrl check`: a remark, not a fault, as an algorithm may aim at either of them.
"""

from typing import Any

import numpy as np

from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.pipeline.cells import Cell

SEED = range(5, 6)  # one that keeps agents apart, and visits every state often
ROUNDS = 3000  # of training, the second half of which is averaged
# small constant steps, where an algorithm has such settings
SETTINGS: dict[str, Any] = {
    "training_rounds": ROUNDS, "iterations": 10 * ROUNDS, "local_steps": 10, "alpha": 0.02,
    "alpha_power": 0.0, "beta": 0.02, "beta_power": 0.0, "eta": 0.02, "step_size": "plateau",
}  # fmt: skip


def family() -> RandomMDP:
    """Three unlike environments whose states are all visited."""
    return RandomMDP(agents=3, support=0.5, states=3, actions=2, gamma=0.7)


def bias(cell: Cell) -> str:
    """How far an algorithm's tables end from the closed forms, in words."""
    runnable = cell.runnable
    known = {key: value for key, value in SETTINGS.items() if key in type(runnable).model_fields}
    algorithm = runnable.model_validate(runnable.model_dump() | known)
    task = family().task(family().draw(SEED))
    learner, exchange = algorithm.learner(task, SEED), algorithm.exchange(task, SEED)
    forms = closed_forms(learner, task)
    if forms is None:
        return "not asked: what it learns are no values"
    own, common = forms
    exchange.begin(learner.parts)
    total, count = np.zeros_like(own), 0
    for number in range(ROUNDS):
        learner.observe()
        learner.advance(int(exchange.steps))
        exchange(learner.parts, number)
        if number >= ROUNDS // 2:
            total, count = total + table_of(learner), count + 1
    mean = total / count
    off_own, off_common, apart = (distance(*pair) for pair in
                                  ((mean, own), (mean, common), (own, common)))  # fmt: skip
    return (
        f"on three unlike RandomMDPs its tables end {off_own:.3f} from each agent's own solution "
        f"and {off_common:.3f} from their common one; these are {apart:.3f} apart"
    )


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Root mean square, over agents and entries."""
    return float(np.sqrt(np.mean((first - second) ** 2)))


def table_of(learner: Any) -> np.ndarray:
    """The agents' values of the first seed: [agent, entry]."""
    values = learner.values() if hasattr(learner, "values") else learner.parts["table"]
    return np.asarray(values)[0]


def closed_forms(learner: Any, task: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Each agent's solution, and the common one, [agent or 1, entry]; None for other learners."""
    from pfedrl.algorithms.tabular.kernels import optimal_tables
    from pfedrl.algorithms.tabular.learner import QLearner
    from pfedrl.algorithms.td.learner import TDLearner
    from pfedrl.algorithms.td.q_learner import SampledQLearner

    if isinstance(learner, TDLearner):
        return learner.truth[0], common_values(learner.chain)
    if not isinstance(learner, QLearner | SampledQLearner):
        return None
    own, common = (
        optimal_tables(task.reward, moves, task.successors, task.actions, task.gamma, 1e-12)
        for moves in (task.training, task.imaginary())
    )
    return own[:, :, 0], common[:, :, 0]


def common_values(chain: Any) -> np.ndarray:
    """The table at which the agents' mean step of TD(0) is zero: FedTD's, with small steps.

    sum_i D_i (r_i + gamma P_i V - V) = 0, D_i the stationary distribution of agent i's chain.
    """
    often = chain.stationary()[0]
    ahead = chain.gamma * chain.moves()[0] * ~chain.terminal
    system = (often[:, :, None] * (np.eye(chain.states) - ahead)).sum(axis=0)
    return np.linalg.solve(system, (often * chain.rewards()[0]).sum(axis=0))[None]


# the stored counterexample to QAvg's Theorem 2, every four steps (tests/theory/counterexamples)
THEOREM = {"local_steps": 4, "iterations": 2000, "step_size": "theorem"}
WORST, SUPPORT, GAMMA = range(10, 11), 0.2, 0.9


def margin(cell: Cell) -> float | None:
    """By how much the theorem's bound holds there, at its worst: negative where it fails; None
    where no Q tables are averaged by the theorem's steps."""
    from pfedrl.algorithms.tabular.averaging import TabularAveraging
    from pfedrl.algorithms.tabular.kernels import optimal_tables
    from pfedrl.algorithms.tabular.learner import QLearner

    if not isinstance(cell.runnable, TabularAveraging):
        return None
    algorithm = cell.runnable.model_copy(update=THEOREM)
    family = RandomMDP(support=SUPPORT, gamma=GAMMA)
    task = family.task(family.draw(WORST))
    learner, exchange = algorithm.learner(task, WORST), algorithm.exchange(task, WORST)
    if not isinstance(learner, QLearner):
        return None
    shared = (task.successors, task.actions, task.gamma)
    optimum = optimal_tables(task.reward, task.imaginary(), *shared, 1e-12)[0]
    exchange.begin(learner.parts)
    every, least = int(exchange.steps), np.inf
    for iteration in range(algorithm.iterations + 1):
        error = np.abs(learner.tables.mean(axis=0) - optimum).max()
        bound = 16 * GAMMA * every / ((1 - GAMMA) ** 3 * (iteration + every))
        least = min(least, bound - error)
        learner.advance(1)
        if (iteration + 1) % every == 0:
            exchange(learner.parts, iteration // every)
    return float(least)


def counterexample(cell: Cell) -> str:
    """The same in words."""
    found = margin(cell)
    if found is None:
        return "not asked: it does not average Q tables by that theorem's steps"
    return f"the theorem's bound {'holds' if found >= 0 else 'fails'} there, by {abs(found):.1f}"
