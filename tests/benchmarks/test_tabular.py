"""The batched algorithms give what the plain loop gives, on the paper's own settings."""

import numpy as np
import pytest

from pfedrl.algorithms.tabular.averaging import TabularAveraging
from pfedrl.benchmarks.tabular import batched, fresh, plain
from pfedrl.pipeline.cells import cells


@pytest.mark.parametrize("experiment", ["table1_random_mdps", "table1_windy_cliffs"])
@pytest.mark.parametrize("kappa", [0.0, 0.8])
def test_batched_tables_equal_the_plain_loops(project, experiment, kappa):
    compared = 0
    for cell in cells(project, "qavg", experiment, "paper"):
        if cell.sweep.get("kappa") == kappa and isinstance(cell.runnable, TabularAveraging):
            settings = cell.runnable
            expected = plain(cell.algorithm, settings, fresh(cell, 3))
            found = batched(fresh(cell, 3), settings)
            np.testing.assert_allclose(found, expected, atol=1e-9)
            compared += 1
    assert compared == 3
