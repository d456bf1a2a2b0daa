"""Looks within rounds: what they find, and that nobody learns otherwise because of them."""

import numpy as np
import pytest

from pfedrl.algorithms.supervised.d_psgd import DPSGD
from pfedrl.algorithms.supervised.deprl import DePRL
from pfedrl.algorithms.supervised.dispfl import DisPFL
from pfedrl.algorithms.supervised.fed_rep import FedRep
from pfedrl.algorithms.supervised.timed_d_psgd import TimedDPSGD
from pfedrl.algorithms.supervised.timed_deprl import TimedDePRL
from pfedrl.algorithms.supervised.timed_dispfl import TimedDisPFL
from pfedrl.algorithms.supervised.timed_fed_rep import TimedFedRep
from pfedrl.algorithms.supervised.timed_measures import Look
from pfedrl.core.recorder import Recorder
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.stack.loop import Control

SETTINGS = {"model": "mlp", "communication_rounds": 3, "target_accuracy": 60.0}
FINER = {"steps_to_accuracy_before_mixing", "reached_accuracy_before_mixing",
         "steps_to_convergence"}  # fmt: skip


def task_of(seeds):
    family = LabelledData(data="clusters", agents=5, pi=0.2, train_samples=400, test_samples=200)
    return family, family.draw(seeds)


@pytest.mark.parametrize(
    ("plain", "timed", "given"),
    [(DePRL, TimedDePRL, {"graph": "ring"}), (DPSGD, TimedDPSGD, {"graph": "ring"}),
     (DisPFL, TimedDisPFL, {"graph": "ring"}), (FedRep, TimedFedRep, {})],
)  # fmt: skip
def test_nobody_learns_otherwise_and_times_are_never_later(plain, timed, given):
    found = []
    for kind in (plain, timed):
        recorder = Recorder((3, 5))
        family, draws = task_of((3, 5))
        kind(**SETTINGS, **given).run((3, 5), family, draws, recorder, Control(2))
        found.append({(row[1], row[2]): row[3] for row in recorder.state()})
    for key, values in found[0].items():
        if key[1] in FINER:
            continue
        np.testing.assert_array_equal(found[1][key], values)
    for of in ("steps_to_accuracy_before_mixing",):
        assert (found[1][3, of] <= found[0][3, of]).all()


@pytest.mark.parametrize("looks", [1, 3])
def test_a_look_finds_the_models_after_so_many_steps_of_everyone(looks):
    """A round whose second phase is cut short ends where the look within that phase is taken."""
    family, draws = task_of((3,))
    task = family.task(draws)
    learner = TimedDePRL(graph="ring", looks=looks, **SETTINGS).learner(task, (3,))
    learner.advance(1)
    slowest = int(learner.measures.batches.max())
    assert len({*learner.measures.batches.ravel()}) > 2  # workers end at different steps
    looked = {int(look.at[0]): look for look in learner.measures.found}
    assert len(looked) == 3 * looks
    for part in range(1, looks + 1):
        steps = -(-part * slowest // looks)
        cut = DePRL(graph="ring", representation_steps=steps, **SETTINGS).learner(task, (3,))
        cut.advance(1)
        look = looked[2 * slowest + steps]
        np.testing.assert_array_equal(look.loss, cut.measures.look["training_loss"])
        np.testing.assert_array_equal(look.accuracy, cut.measures.look["accuracy_before_mixing"])
    once = DePRL(graph="ring", **SETTINGS).learner(task, (3,))
    once.phases = (once.phases[0],)  # heads alone
    once.advance(1)
    np.testing.assert_array_equal(looked[2 * slowest].loss, once.measures.look["training_loss"])


def test_times_are_of_the_first_look_that_is_good_enough():
    family, draws = task_of((3, 5))
    learner = TimedDPSGD(graph="ring", **SETTINGS).learner(family.task(draws), (3, 5))
    measures = learner.measures
    moments = {f"accuracy_{m}": np.array([10.0, 10.0]) for m in
               ("before_mixing", "after_mixing", "mean_model")}  # fmt: skip
    measures.history = [{"training_loss": np.array([2.0, 2.0]), **moments}] * 2
    measures.found = [
        Look(np.array([4, 5]), np.array([20.0, 20.0]), np.array([1.0, 0.1])),
        Look(np.array([8, 10]), np.array([70.0, 30.0]), np.array([0.08, 0.5])),
        Look(np.array([12, 15]), np.array([40.0, 40.0]), np.array([0.0, 0.02])),
    ]
    found = measures.steps_to()
    np.testing.assert_array_equal(found["reached_accuracy_before_mixing"], [1, 0])
    np.testing.assert_array_equal(found["steps_to_accuracy_before_mixing"], [8, 15])
    np.testing.assert_array_equal(found["steps_to_convergence"], [8, 5])
