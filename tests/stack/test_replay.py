"""The replay gives back what was put in, of any size and type, and says where bootstraps stop."""

import copy

import numpy as np
import pytest

from pfedrl.stack.replay import Replay

ROWS, CAPACITY, BATCH = 3, 5, 40


def filled(steps, **settings):
    """Transition t of row r is all 10 t + r; t = 1, 4, ... end, t = 2, 5, ... are cut off."""
    replay = Replay(ROWS, CAPACITY, BATCH, observations=2, **settings)
    width, kind = replay.kept.action.shape[2], replay.kept.action.dtype
    for t in range(steps):
        value = 10 * t + np.arange(ROWS)
        seen = np.repeat(value[:, None], 2, axis=1).astype(np.float32)
        action = np.repeat(value[:, None], width, axis=1).astype(kind)
        flags = np.full(ROWS, t % 3 == 1), np.full(ROWS, t % 3 == 2)
        replay.add(np.ones(ROWS, bool), seen, seen + 10, action, value.astype(np.float32), *flags)
    return replay


def drawn(replay):
    uniforms = np.random.default_rng(0).random((ROWS, BATCH), dtype=np.float32)
    return replay.sample(np.ones(ROWS, bool), uniforms)


@pytest.mark.parametrize(
    "settings",
    [{}, {"actions": 6, "action_type": np.float32}, {"actions": 2, "action_type": np.float64}],
    ids=["discrete", "continuous", "double"],
)
def test_a_batch_holds_whole_transitions_of_its_own_row_the_oldest_gone(settings):
    replay = filled(8, **settings)
    batch = drawn(replay)
    value = batch.reward
    assert (value % 10 == np.arange(ROWS)[:, None]).all()
    assert set(np.unique(value // 10)) == {3, 4, 5, 6, 7}
    np.testing.assert_array_equal(batch.seen, np.repeat(value[..., None], 2, axis=2))
    np.testing.assert_array_equal(batch.following, batch.seen + 10)
    np.testing.assert_array_equal(
        batch.action, np.broadcast_to(value[..., None], batch.action.shape)
    )
    np.testing.assert_array_equal(batch.terminated, value // 10 % 3 == 1)
    np.testing.assert_array_equal(batch.truncated, value // 10 % 3 == 2)


@pytest.mark.parametrize("truncation_stops", [True, False])
def test_what_stops_the_bootstrap_is_a_setting(truncation_stops):
    replay = filled(5, truncation_stops=truncation_stops)
    batch = drawn(replay)
    assert batch.terminated.any() and batch.truncated.any()
    expected = batch.terminated | batch.truncated if truncation_stops else batch.terminated
    np.testing.assert_array_equal(replay.stops, expected)


def test_rows_that_rest_keep_what_they_have():
    replay = filled(2)
    before = copy.deepcopy(replay.state())
    some = np.array([True, False, True])
    zeros = np.zeros((ROWS, 2), np.float32)
    replay.add(some, zeros, zeros, np.zeros((ROWS, 1), np.int8), zeros[:, 0], ~some, ~some)
    np.testing.assert_array_equal(replay.size, [3, 2, 3])
    for now, then in zip(replay.kept, before["kept"], strict=True):
        np.testing.assert_array_equal(now[1], then[1])
    other = Replay(ROWS, CAPACITY, BATCH, observations=2)
    other.restore(before)
    np.testing.assert_array_equal(other.size, 2)


def test_the_last_transitions_are_newest_first_and_only_those_there_are():
    last, real = filled(7).last(3)
    np.testing.assert_array_equal(last.reward[0], [60, 50, 40])
    assert real.all()
    np.testing.assert_array_equal(filled(2).last(9)[1][0], [True, True, False, False, False])


def test_room_for_an_embedding_stays_free():
    batch = drawn(filled(5, room=3))
    assert batch.seen.shape == (ROWS, BATCH, 5) and (batch.seen[:, :, :3] == 0).all()
