import numpy as np

from pfedrl.algorithms.controls.traffic_controls import whole_return


def test_crashed_episodes_are_left_out_and_a_seed_of_crashes_has_no_number():
    returns = np.array([[1.0, 2.0, 30.0], [4.0, 5.0, 6.0]])
    crashes = np.array([[False, False, True], [True, True, True]])
    np.testing.assert_array_equal(whole_return(returns, crashes), [1.5, np.nan])
