"""Agents that lie or do not answer, in the place of the exchange they take part in."""

import numpy as np
import torch

from pfedrl.stack.exchange import SharedParts
from pfedrl.stack.messages import Unreliable
from pfedrl.stack.mixing import ServerAverage

SEEDS, AGENTS, SIZE = 2, 10, 4


def parts(seed: int = 0):
    rng = np.random.default_rng(seed)
    return {
        "model": torch.from_numpy(rng.normal(size=(SEEDS, AGENTS, SIZE))),
        "head": rng.normal(size=(SEEDS, AGENTS, SIZE)),
    }


def unreliable(seeds=range(SEEDS), liars=0.0, lie="reversed", strength=1.0, absent=0.0):
    average = SharedParts(("model",), ServerAverage(), every=2)
    return Unreliable(average, seeds, liars, lie, strength, absent)


def after(exchange, round=1):
    start, now = parts(), parts(1)
    exchange.begin(start)
    own = {name: np.asarray(part).copy() for name, part in now.items()}
    sent = exchange(now, round)
    return np.asarray(start["model"]), own, now, sent


def test_honest_agents_that_all_answer_are_the_exchange_itself():
    _, own, now, sent = after(unreliable())
    mean = own["model"].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(now["model"], mean + 0 * own["model"])
    np.testing.assert_array_equal(sent, SIZE * 8)


def test_liars_reverse_their_updates_and_nothing_private_changes():
    exchange = unreliable(liars=0.2, strength=3.0)
    start, own, now, _ = after(exchange)
    lying = exchange.lying(AGENTS)
    assert (lying.sum(axis=1) == 2).all() and not np.array_equal(lying[0], lying[1])
    told = np.where(lying[..., None], start - 3.0 * (own["model"] - start), own["model"])
    np.testing.assert_allclose(now["model"], told.mean(axis=1, keepdims=True) + 0 * told)
    np.testing.assert_array_equal(now["head"], own["head"])


def test_who_misses_a_round_sends_and_receives_nothing():
    exchange = unreliable(absent=0.4)
    start, own, now, sent = after(exchange)
    missing = exchange.missing(AGENTS, 1)
    assert missing.any() and not missing.all()
    known = np.where(missing[..., None], start, own["model"])
    mean = np.broadcast_to(known.mean(axis=1, keepdims=True), known.shape)
    np.testing.assert_allclose(now["model"], np.where(missing[..., None], own["model"], mean))
    np.testing.assert_array_equal(sent, np.where(missing, 0, SIZE * 8))


def test_a_seed_alone_is_the_seed_in_a_block_and_a_resumed_run_goes_on():
    for lie in ("reversed", "noise"):
        given = {"liars": 0.3, "lie": lie, "absent": 0.3}
        _, _, together, _ = after(unreliable(**given))
        alone = unreliable(seeds=[1], **given)
        alone.begin({name: part[1:] for name, part in parts().items()})
        kept, mine = alone.state(), {name: part[1:] for name, part in parts(1).items()}
        again = unreliable(seeds=[1], **given)
        again.restore(kept)
        again(mine, 1)
        np.testing.assert_array_equal(mine["model"], together["model"][1:])
