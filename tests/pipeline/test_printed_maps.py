"""PFedRL-Rep's printed similarity maps: what claims say of them is computed from them."""

import numpy as np
import pytest

from pfedrl.pipeline.project import Project
from tests.tiny import ROOT


@pytest.mark.parametrize("figure, task", [("figure14", "cartpole"), ("figure15", "acrobot")])
def test_the_claimed_correlation_is_that_of_the_printed_maps(figure, task):
    paper = Project.here(ROOT).paper("pfedrl_rep")
    printed = paper.artifacts[figure].options["printed"]
    maps = {name: np.array(rows) for name, rows in printed.items()}
    for name, matrix in maps.items():
        assert np.array_equal(matrix, matrix.T), f"{name}: misread, for cosines are symmetric"
        assert (matrix.diagonal() == 1).all()
    above = np.triu_indices(10, 1)
    correlation = np.corrcoef(maps["transition"][above], maps["head"][above])[0, 1]
    (claim,) = (c for c in paper.claims if c.id == f"{task}_heads_follow_transitions")
    (test,) = claim.tests
    assert test.value == round(correlation, 2)
