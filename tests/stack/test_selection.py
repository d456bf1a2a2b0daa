"""K of N: seeded by seed and round, and FedKL's own draw."""

import numpy as np

from pfedrl.core.seeds import Purpose, generator
from pfedrl.stack.selection import KOfN


def test_k_different_agents_by_the_seed_and_the_round_alone():
    block, alone = KOfN(range(4), 10, 3), KOfN([2], 10, 3)
    rounds = [block(number) for number in range(20)]
    for number, chosen in enumerate(rounds):
        assert chosen.shape == (4, 3)
        assert all(len(set(row)) == 3 for row in chosen.tolist())
        np.testing.assert_array_equal(chosen, block(number))
        np.testing.assert_array_equal(chosen[2], alone(number)[0])
    assert len({chosen.tobytes() for chosen in rounds}) > 15
    assert set(np.concatenate(rounds).ravel()) == set(range(10))


def test_the_draw_is_the_servers_generator_of_that_round():
    expected = generator(5, Purpose.SERVER, 7).choice(10, 3, replace=False)
    np.testing.assert_array_equal(KOfN([5], 10, 3)(7), [expected])


def test_everyone_in_order_where_k_is_n_or_more():
    for count in (4, 9):
        np.testing.assert_array_equal(KOfN([0, 1], 4, count)(3), [[0, 1, 2, 3]] * 2)
