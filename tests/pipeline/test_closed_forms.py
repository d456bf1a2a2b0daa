"""Tables beside closed forms: TD ends at each agent's own, FedTD at the common one."""

import json
import re

import numpy as np
import pytest

from pfedrl.algorithms.td.fed_td import FedTD
from pfedrl.pipeline.closed_forms import THEOREM, WORST, bias, common_values, family, margin
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.verify import in_place_of, of_experiments
from tests.tiny import ROOT

CELLS = list(of_experiments(Project.here(ROOT)))


def distances(algorithm: str) -> tuple[float, float, float]:
    own, common, apart = map(float, re.findall(r"\d\.\d+", bias(in_place_of(CELLS, algorithm))))
    return own, common, apart


@pytest.mark.parametrize("algorithm", ["td", "scafflsa", "aff_pcl", "fed_td", "qavg"])
def test_algorithms_end_where_theory_has_them(algorithm: str):
    """SCAFFLSA corrects agents' drift from the common solution; AffPCL keeps each one's own."""
    own, common, apart = distances(algorithm)
    at_own = algorithm in ("td", "aff_pcl")
    near, far = (own, common) if at_own else (common, own)
    assert near < 0.5 * far and near < 0.5 * apart


def test_the_common_values_are_where_fed_tds_expected_step_is_zero():
    task = family().task(family().draw(range(1)))
    algorithm = FedTD(training_rounds=1, local_steps=1, alpha=0.1, alpha_power=0.0)
    chain = algorithm.learner(task, range(1)).chain
    value = common_values(chain)[0]
    step = np.zeros(chain.states)
    for agent, often in enumerate(chain.stationary()[0]):
        for state in range(chain.states):
            for outcome, chance in enumerate(chain.probability[0, agent, state]):
                gained = chain.reward[0, state, outcome]
                error = gained + chain.gamma * value[chain.target[state, outcome]] - value[state]
                step[state] += often[state] * chance * error
    np.testing.assert_allclose(step, 0.0, atol=1e-12)


def test_qavg_fails_its_bound_by_the_stored_value():
    file = ROOT / "tests" / "theory" / "counterexamples" / "qavg_theorem2_every_4.json"
    stored = json.loads(file.read_text())
    assert stored["settings"].items() <= THEOREM.items() and [stored["seed"]] == [*WORST]
    found = margin(in_place_of(CELLS, "qavg"))
    assert found is not None and found == pytest.approx(stored["value"], rel=1e-6)
    assert margin(in_place_of(CELLS, "soft_pavg")) is None


def test_policies_are_no_values():
    assert bias(in_place_of(CELLS, "soft_pavg")).startswith("not asked")
