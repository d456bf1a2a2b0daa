"""Sums in one order, whatever else is in the array."""

import numpy as np

from pfedrl.core.sums import mean_in_order, slope, sum_in_order


def test_a_column_alone_is_summed_as_among_others():
    values = np.random.default_rng(0).standard_normal((1000, 5))
    for column in range(5):
        alone = values[:, column : column + 1]
        assert sum_in_order(alone)[0] == sum_in_order(values)[column]
        assert mean_in_order(alone)[0] == mean_in_order(values)[column]
    np.testing.assert_array_equal(sum_in_order(values), values.sum(axis=0))
    # the reason for it all: NumPy's own order is another for one column
    assert any(values[:, [c]].sum(axis=0)[0] != values.sum(axis=0)[c] for c in range(5))


def test_slope_of_a_power_law_is_its_power():
    x = np.log([2.0, 4.0, 8.0])
    np.testing.assert_allclose(slope(x, np.stack([-2 / 3 * x + 1, 2 * x]).T), [-2 / 3, 2])
