"""AffPCL: TD where an agent is alone, a plain loop, and everybody's own fixed point."""

import numpy as np
import pytest

from pfedrl.algorithms.td.aff_pcl import AffPCL
from pfedrl.algorithms.td.fed_td import FedTD
from pfedrl.algorithms.td.td import TD
from pfedrl.envs.tabular.random_mdp import RandomMDP
from tests.tiny import every_short_run

FAMILY = next(cell.family for cell in every_short_run().values() if cell.algorithm == "aff_pcl")


def trained(algorithm, family=FAMILY, seeds=range(2), skip=None):
    """The learner after all rounds, and the mean of its tables after the first `skip`."""
    task = family.task(family.draw(seeds))
    learner, exchange = algorithm.learner(task, seeds), algorithm.exchange(task, seeds)
    mean = np.zeros_like(learner.table)
    for number in range(algorithm.training_rounds):
        learner.advance(exchange.steps)
        exchange(learner.parts, number)
        if skip is not None and number >= skip:
            mean += learner.table / (algorithm.training_rounds - skip)
    return learner, mean


def settings(rounds, steps=1, alpha=0.1):
    return {"training_rounds": rounds, "local_steps": steps, "alpha": alpha, "alpha_power": 0.0}


def test_an_agent_alone_learns_as_td_does():
    alone = FAMILY.model_copy(update={"agents": 1})
    ours, _ = trained(AffPCL(**settings(200)), alone)
    plain, _ = trained(TD(**settings(200)), alone)
    np.testing.assert_allclose(ours.table, plain.table, atol=1e-12)
    np.testing.assert_array_equal(ours.states, plain.states)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_round_is_its_plain_loop(steps):
    """theta_i moves by the others' errors, weighted by rho_i / n, less its own."""
    algorithm = AffPCL(**settings(30, steps))
    seeds = range(2)
    task = FAMILY.task(FAMILY.draw(seeds))
    learner, exchange = algorithm.learner(task, seeds), algorithm.exchange(task, seeds)
    agents = task.agents
    counts = [[{} for _ in range(agents)] for _ in seeds]
    for number in range(30):
        learner.advance(1)
        table, common = learner.table.copy(), learner.common.copy()
        for x in range(2):
            seen = [
                [(int(learner.seen[x, j, k]), int(learner.outcome[x, j, k])) for k in range(steps)]
                for j in range(agents)
            ]
            for j in range(agents):
                for z in seen[j]:
                    counts[x][j][z] = counts[x][j].get(z, 0) + 1
            for j in range(agents):
                for k, z in enumerate(seen[j]):
                    error = learner.errors[x, j, k]
                    average = np.mean([counts[x][i].get(z, 0) for i in range(agents)])
                    for i in range(agents):
                        ratio = counts[x][i].get(z, 0) / average
                        table[x, i, z[0]] += 0.1 * ratio * error / agents
                    table[x, j, z[0]] -= 0.1 * error
                    common[x, :, z[0]] += 0.1 * error / agents
        exchange(learner.parts, number)
        np.testing.assert_allclose(learner.table, table, atol=1e-12)
        np.testing.assert_allclose(learner.common, common, atol=1e-12)


def test_unlike_agents_find_their_own_values_where_an_average_cannot():
    """Against the closed form: the mean table is near each agent's V, and FedTD's is not."""
    family = RandomMDP(agents=3, support=0.5, states=5, actions=2, gamma=0.7, held_out=0)
    rounds = 20000
    ours, mean = trained(AffPCL(**settings(rounds, alpha=0.02)), family, skip=rounds // 2)
    _, common = trained(FedTD(**settings(rounds, alpha=0.02)), family, skip=rounds // 2)
    weight = ours.visited / ours.visited.sum(axis=-1, keepdims=True)

    def error(table):
        return np.sqrt((weight * (table - ours.truth) ** 2).sum(axis=-1)).mean()

    assert error(mean) < 0.4 * error(common)
