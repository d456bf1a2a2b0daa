"""Newer algorithms beside what they are derived from, or beside a plain loop."""

from dataclasses import replace

import numpy as np

from pfedrl.algorithms.td.corrected_td import CorrectedTD
from pfedrl.algorithms.td.learner import TableTD
from pfedrl.algorithms.td.sarsa import TableSarsa
from pfedrl.algorithms.td.schedules import PowerLaw
from pfedrl.core.registry import load
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.contract import learnt, longer
from pfedrl.pipeline.verify import in_place_of, measured, of_experiments
from pfedrl.stack.peers import ConvergingPeers, apart
from tests.tiny import every_short_run, tiny_project


def cell_of(name: str) -> Cell:
    return next(cell for cell in every_short_run().values() if cell.algorithm == name)


def changed(cell: Cell, **settings) -> Cell:
    return replace(cell, runnable=cell.runnable.model_copy(update=settings))


def values(cell: Cell, metric: str) -> np.ndarray:
    columns = measured(cell, range(2))
    return columns["value"][columns["metric"] == metric]


def in_place(name: str, other: Cell) -> Cell:
    return in_place_of([other], name)


def task_of(name: str, seeds: range):
    family = cell_of(name).family
    return family.task(family.draw(seeds))


def test_fed_prox_without_its_term_is_dqn_avg_and_with_much_of_it_stays_near_the_start():
    prox = longer(cell_of("dqn_prox"))
    plain = learnt(in_place("dqn_avg", prox))
    for name, part in learnt(changed(prox, mu=0.0)).items():
        np.testing.assert_array_equal(part, plain[name])
    pulled = learnt(changed(prox, mu=1e4))
    assert all(not np.array_equal(pulled[name], plain[name]) for name in plain)


def test_ditto_without_its_pull_has_the_personal_nets_of_dqn_alone():
    ditto = longer(cell_of("dqn_ditto"))
    alone = values(in_place("dqn", ditto), "greedy_return")
    np.testing.assert_array_equal(values(changed(ditto, pull=0.0), "greedy_return"), alone)
    assert not np.array_equal(values(changed(ditto, pull=10.0), "greedy_return"), alone)


def test_fed_avgm_without_momentum_learns_as_the_average_does():
    momentum = longer(cell_of("dqn/fed_avgm"))
    plain = learnt(in_place("dqn_avg", momentum))
    for name, part in learnt(changed(momentum, server_momentum=0.0)).items():
        np.testing.assert_allclose(part, plain[name], atol=1e-6)


def test_td_without_a_correction_is_td():
    seeds, alpha = range(2), PowerLaw(0.3, 0.0)
    task = task_of("scafflsa", seeds)
    ours, plain = CorrectedTD(task, seeds, 40, alpha), TableTD(task, seeds, 40, alpha)
    ours.advance(5), plain.advance(5)
    np.testing.assert_allclose(ours.table, plain.table, atol=1e-12)
    np.testing.assert_array_equal(ours.states, plain.states)
    np.testing.assert_array_equal(ours.episodes, plain.episodes)


def test_a_correction_is_added_to_every_entry_at_every_step():
    seeds = range(2)
    task = task_of("scafflsa", seeds)
    ours = CorrectedTD(task, seeds, 1, PowerLaw(0.25, 0.0))
    ours.correction[:] = np.arange(task.states)
    before = ours.states.copy()
    ours.advance(1)
    unseen = np.arange(task.states) != before[..., None]
    expected = np.broadcast_to(0.25 * np.arange(task.states), ours.table.shape)
    np.testing.assert_allclose(ours.table[unseen], expected[unseen])


def test_sarsa_is_its_plain_loop():
    seeds, steps, eta, temperature = range(1), 30, 0.2, 0.5
    task = task_of("fed_sarsa", seeds)
    ours = TableSarsa(task, seeds, steps, eta, temperature)
    cumulative, successors, rewards, terminal, restart, gamma = ours.environments()
    agent, actions = 1, task.actions
    table = np.zeros(task.states * actions)
    state, action = int(ours.states[0, agent]), int(ours.actions[0, agent])
    streams = TableSarsa(task, seeds, steps, eta, temperature).uniforms
    uniforms = streams.take(3 * steps)[0, agent]

    def first(sums, uniform):
        return next(k for k in range(len(sums)) if uniform < sums[k] or k == len(sums) - 1)

    for happens, begins, acts in uniforms.reshape(steps, 3):
        row = state * actions + action
        target = int(successors[row, first(cumulative[0, agent, row], happens)])
        ended = bool(terminal[target])
        state = first(restart, begins) if ended else target
        weights = np.exp(table[state * actions : (state + 1) * actions] / temperature)
        action = first(np.cumsum(weights) / weights.sum(), acts)
        ahead = 0.0 if ended else gamma * table[state * actions + action]
        table[row] += eta * (rewards[0, row] + ahead - table[row])
    ours.advance(1)
    np.testing.assert_allclose(ours.tables[0, agent], table)
    assert (ours.states[0, agent], ours.actions[0, agent]) == (state, action)


def test_caesar_moves_to_better_peers_that_come_nearer():
    tables = np.array([[[0.0, 0.0], [1.0, 1.0], [9.0, 9.0]]])
    exchange = ConvergingPeers([0], first=0.5, step=0.5, margin=0.0, towards=0.5)
    exchange.begin({"table": tables, "returns": np.zeros((1, 3))})
    np.testing.assert_allclose(apart(tables)[0], [[0, 1, 9], [1, 0, 8], [9, 8, 0]])
    # agents 0 and 1 come nearer to each other, agent 2 goes away from both
    now = {"table": np.array([[[0.2, 0.2], [0.8, 0.8], [10.0, 10.0]]]),
           "returns": np.array([[1.0, 2.0, 3.0]])}  # fmt: skip
    sent = exchange(now, 0)
    assert exchange.chance[0, 0, 1] == exchange.chance[0, 1, 0] == 1.0
    assert exchange.chance[0, 0, 2] == exchange.chance[0, 2, 1] == 0.0
    # 0 moves half-way to 1, which does better; 1 has no better peer that comes nearer
    np.testing.assert_allclose(now["table"][0], [[0.5, 0.5], [0.8, 0.8], [10.0, 10.0]])
    np.testing.assert_array_equal(sent, 3 * 8)


def test_private_critics_differ_and_are_not_sent():
    cell = cell_of("fed_kl_private_critic")
    ours, theirs = learnt(cell), learnt(in_place("fed_kl", cell))
    assert (ours["policy"] == ours["policy"][:, :1]).all()
    assert not (ours["critic"] == ours["critic"][:, :1]).all()
    assert (theirs["critic"] == theirs["critic"][:, :1]).all()
    sent = [values(one, "megabytes_sent").max() for one in (cell, in_place("fed_kl", cell))]
    assert 0 < sent[0] < sent[1]


def test_an_attack_is_a_setting_of_every_family(tmp_path):
    """It is part of the key where it is given; without it the family is the class it always was."""
    project = tiny_project(tmp_path)
    cell = next(c for c in of_experiments(project) if c.algorithm == "qavg")
    from pfedrl.envs.attack import attacked

    made = attacked(type(cell.family))
    given = cell.family.model_dump()
    with_liars = replace(cell, family=made(**given, attack={"liars": 0.5, "strength": 10.0}))
    assert "attack" not in cell.settings()["family"]
    assert with_liars.settings()["family"]["attack"]["liars"] == 0.5
    assert with_liars.key != cell.key and with_liars.draws_name() == cell.draws_name()
    assert type(cell.family) is load("envs", cell.family_name)
    assert not np.array_equal(learnt(with_liars)["table"], learnt(cell)["table"])
