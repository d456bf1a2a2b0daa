"""PFedRL-Rep's printed similarity maps: what claims say of them is computed from them."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from pfedrl.envs.classic.acrobot import Acrobot
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

FAMILIES = {"cartpole": CartPole, "acrobot": Acrobot}


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


@pytest.mark.parametrize(
    "figure, family, least, order",
    [("figure14", "cartpole", 0.95, -0.41), ("figure15", "acrobot", 0.98, 0.01)],
)
def test_the_printed_transitions_are_not_ours(figure, family, least, order):
    """Ours without centring are near 1 and ordered by the members; the printed ones are neither."""
    project = Project.here(ROOT)
    paper = project.paper("pfedrl_rep")
    above = np.triu_indices(10, 1)
    apart = above[1] - above[0]
    printed = np.array(paper.artifacts[figure].options["printed"]["transition"])[above]
    assert spearmanr(printed, apart).statistic == pytest.approx(order, abs=0.005)
    assert printed.max() < 0.82 and (printed.min() < 0) == (family == "acrobot")
    given = paper.experiments[f"control_{family}"].family
    members = FAMILIES[family](low=-1, high=1, cap=200, agents=10, members=given["members"])
    cosines = uncentred(members)[above]
    assert cosines.min() > least and spearmanr(cosines, apart).statistic < -0.98


def uncentred(family):
    """Cosines of the members' changes of state on common states and all actions."""
    physics = family.physics()
    generator = np.random.default_rng(0)
    probes = generator.uniform(-1, 1, (256, physics.STATE)) * physics.box
    state, action = np.tile(probes, (physics.actions, 1)), np.repeat(range(physics.actions), 256)
    changes = []
    for own in family.parameters(np.array(family.members)):
        after, quiet = state.copy(), (np.zeros(len(state), np.float32), np.zeros(len(state), bool))
        parameters = np.repeat(own[None], len(state), axis=0)
        physics.step(after, action, parameters, np.ones(len(state), bool), *quiet)
        change = after - state
        change[:, :2] = (change[:, :2] + np.pi) % (2 * np.pi) - np.pi
        changes.append(change.ravel() / np.linalg.norm(change))
    return np.array(changes) @ np.array(changes).T
