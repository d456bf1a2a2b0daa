"""Random numbers belong to a seed, a purpose and an agent, and to nothing else."""

import itertools

import numpy as np

from pfedrl.core.seeds import Purpose, generator


def test_same_address_same_numbers():
    first, second = (generator(7, Purpose.AGENT, 2).random(5) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_different_addresses_never_meet():
    addresses = itertools.product([0, 1, 7], Purpose, [(), (0,), (1,), (0, 1)])
    starts = {generator(seed, purpose, *index).random() for seed, purpose, index in addresses}
    assert len(starts) == 3 * len(Purpose) * 4
