"""Servers with momentum or with rules against liars, each beside a plain loop or a closed form."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from pfedrl.algorithms.exchanges.coordinate_median import MedianServer
from pfedrl.algorithms.exchanges.fedpg_br import FilterServer
from pfedrl.algorithms.exchanges.krum import KrumServer
from pfedrl.algorithms.exchanges.trimmed_mean import TrimmedServer
from pfedrl.stack.exchange import SharedParts
from pfedrl.stack.mixing import ServerAverage
from pfedrl.stack.selection import KOfN
from pfedrl.stack.server import ServerMomentum

SEEDS, AGENTS, SIZE = 2, 7, 5


def average(**given: Any) -> SharedParts:
    return SharedParts(("body", "head"), ServerAverage(**given), every=3)


def parts() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "body": rng.normal(size=(SEEDS, AGENTS, SIZE)),
        "head": torch.from_numpy(rng.normal(size=(SEEDS, AGENTS, 2))),
        "own": rng.normal(size=(SEEDS, AGENTS, 2)),
    }


def row(found: dict[str, Any], seed: int, agent: int) -> np.ndarray:
    return np.concatenate([np.asarray(found[name])[seed, agent] for name in ("body", "head")])


def test_momentum_starts_from_the_common_start():
    """v <- beta v + (mean - x), x <- x + v, from the first round on; with beta 0 the average."""
    for beta in (0.0, 0.9):
        found, exchange = parts(), ServerMomentum(average(), beta)
        found["body"][:] = found["body"][:, :1]
        exchange.begin(found)
        model, velocity = found["body"][:, 0].copy(), 0.0
        rng = np.random.default_rng(1)
        for number in range(4):
            found["body"] += rng.normal(size=found["body"].shape)
            mean = found["body"].mean(axis=1)
            velocity = beta * velocity + mean - model
            model = model + velocity
            sent = exchange(found, number)
            np.testing.assert_allclose(found["body"], np.repeat(model[:, None], AGENTS, axis=1))
            if not beta:
                np.testing.assert_allclose(found["body"][:, 0], mean)
        np.testing.assert_array_equal(sent, (SIZE + 2) * 8)


def median(messages: np.ndarray) -> np.ndarray:
    return np.array([sorted(column)[len(column) // 2] for column in messages.T])


def trimmed(messages: np.ndarray) -> np.ndarray:
    return np.array([np.mean(sorted(column)[1:-1]) for column in messages.T])


def krum(messages: np.ndarray) -> np.ndarray:
    def score(i: int) -> float:
        away = sorted(np.sum((messages[i] - other) ** 2) for other in messages)
        return sum(away[1 : len(messages) - 1 - 2 + 1])  # n - f - 2 nearest, f = 1

    return messages[min(range(len(messages)), key=score)]


def filtered(messages: np.ndarray) -> np.ndarray:
    def apart(i: int, j: int) -> float:
        return float(np.linalg.norm(messages[i] - messages[j]))

    many = range(len(messages))
    typical = np.median([apart(i, j) for i, j in itertools.combinations(many, 2)])
    for radius in (2 * typical * 0.66, 2 * typical):
        central = [i for i in many if sum(apart(i, j) <= radius for j in many) > len(messages) / 2]
        if not central:
            continue
        mean = np.mean([messages[i] for i in central], axis=0)
        middle = min(central, key=lambda i: float(np.linalg.norm(messages[i] - mean)))
        good = [j for j in many if apart(middle, j) <= radius]
        if len(good) >= 0.7 * len(messages):
            break
    return np.mean([messages[j] for j in good], axis=0)


RULES = {
    "median": (MedianServer, (), median),
    "trimmed": (TrimmedServer, (0.2,), trimmed),
    "krum": (KrumServer, (0.2,), krum),
    "filter": (FilterServer, (1.0, 0.66, 0.3), filtered),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_its_plain_loop_and_a_liar_does_not_move_it(rule: str):
    kind, given, plain = RULES[rule]
    for lie in (0.0, 1e6):
        found = parts()
        found["body"][:, 3] += lie
        expected = [
            plain(np.stack([row(found, s, i) for i in range(AGENTS)])) for s in range(SEEDS)
        ]
        own = found["own"].copy()
        sent = kind(average(), *given)(found, 0)
        for seed, agent in np.ndindex(SEEDS, AGENTS):
            np.testing.assert_allclose(row(found, seed, agent), expected[seed])
        assert np.abs(found["body"]).max() < 10, "the liar's number is in nobody's model"
        np.testing.assert_array_equal(found["own"], own)
        np.testing.assert_array_equal(sent, (SIZE + 2) * 8)


def test_only_those_selected_are_asked():
    selection = KOfN(range(SEEDS), AGENTS, 3)
    found = parts()
    chosen = selection(4)
    expected = [median(np.stack([row(found, s, int(i)) for i in chosen[s]])) for s in range(SEEDS)]
    sent = MedianServer(average(selection=selection))(found, 4)
    for seed in range(SEEDS):
        np.testing.assert_allclose(row(found, seed, 0), expected[seed])
        assert set(np.flatnonzero(sent[seed])) == set(chosen[seed])
