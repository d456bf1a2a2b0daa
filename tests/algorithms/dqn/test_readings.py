"""Other readings of PFedDQN-Rep: each setting does what it says, and nothing else."""

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from pfedrl.algorithms.dqn.dqn_avg import DQNAvg
from pfedrl.algorithms.dqn.net import HeadOfLayers
from pfedrl.algorithms.dqn.pfed_dqn_rep import PFedDQNRep
from pfedrl.pipeline.cells import cells, find_cell
from tests.algorithms.dqn.test_deep import measured
from tests.algorithms.dqn.test_dqn import STEPS, learner_of
from tests.stack.test_nets import plain

ONCE_WARM = STEPS | {"warm_up": 1, "episodes": 100}
READINGS = {
    "k_representation_steps": {"representation_steps": 5},
    "same_step": {"representation_steps": "with_head"},
    "two_layer_head": {"head_layers": 2},
    "target_order": {"targets_before_exchange": True},
}


def changes(learner, steps):
    """How often each part of the first agent's net changes in a round."""
    found = dict.fromkeys(learner.parts, 0)
    update = learner._update

    def watched(*args, **options):
        before = {name: part[0, 0].clone() for name, part in learner.parts.items()}
        update(*args, **options)
        for name, part in learner.parts.items():
            found[name] += not torch.equal(part[0, 0], before[name])

    learner._update = watched
    learner.advance(steps)
    return found


@pytest.mark.parametrize(
    ("setting", "body"), [({}, 1), ({"representation_steps": 3}, 3),
                          ({"representation_steps": "with_head"}, 5)],
)  # fmt: skip
def test_how_often_a_round_of_5_steps_trains_the_representation(setting, body):
    learner = learner_of(PFedDQNRep(**ONCE_WARM, **setting), [0])
    assert changes(learner, 5) == {"body": body, "head": 5}


def test_each_representation_step_has_a_batch_of_its_own():
    learner = learner_of(PFedDQNRep(**ONCE_WARM, representation_steps=2), [0])
    learner.advance(5)
    np.testing.assert_array_equal(learner.experience.place, 1 + 5 + 2)  # a start, steps, batches


@pytest.mark.parametrize("algorithm", [DQNAvg, PFedDQNRep])
def test_targets_before_the_exchange_are_the_nets_that_the_average_replaces(algorithm):
    settings = algorithm(**ONCE_WARM, targets_before_exchange=True)
    learner = learner_of(settings, [0])
    exchange, start = settings.exchange(learner.task, [0]), learner.target.clone()
    for number in range(2):  # ten updates in all
        assert torch.equal(learner.target, start)
        learner.advance(5)
        own = learner.weights.clone()
        exchange(learner.parts, number)
    assert torch.equal(learner.target, own)
    assert not torch.equal(learner.target, learner.weights)
    learner.advance(5)
    assert torch.equal(learner.target, own), "no second copy after the exchange"


def test_a_head_of_two_layers_holds_their_columns_and_the_rest_is_the_body():
    net = HeadOfLayers(4, 16, 8, 2, head_layers=2)
    first = (4 + 1) * 16
    assert net.part["body"] == slice(0, first)
    assert net.part["head"] == slice(first, first + (16 + 1) * 8 + (8 + 1) * 2)


def test_a_head_of_two_layers_is_trained_in_both_and_only_the_first_layer_travels():
    settings = PFedDQNRep(**ONCE_WARM, head_layers=2)
    learner = learner_of(settings, [0])
    before = learner.weights.clone()
    for _ in range(3):
        learner._step(np.ones(3, bool))
    changed = (learner.weights != before).any(0).numpy()
    (_, second, last), body = learner.net.layers, learner.net.part["body"]
    assert not changed[body].any()
    assert changed[second[0] : last[0]].any() and changed[last[0] :].any()
    learner.advance(5)
    exchange = settings.exchange(learner.task, [0])
    assert (exchange(learner.parts, 0) == 4 * body.stop).all()  # bytes
    parts = learner.parts
    assert (parts["body"] == parts["body"][:, :1]).all()
    assert not torch.equal(parts["head"][0, 0], parts["head"][0, 1])


def test_the_gradient_of_a_head_of_two_layers_is_autograds():
    """What the learner writes into the head's columns, on its own batch."""
    learner = learner_of(PFedDQNRep(**ONCE_WARM, head_layers=2), [0])
    learner.advance(5)
    before = learner.weights.clone()
    learner._update(np.ones(3, bool), "head", again=True)
    rows = before.clone().requires_grad_()
    with torch.enable_grad():
        plain(learner.net, rows, learner.seen).backward(learner.loss_slope)
    head = learner.net.part["head"]
    torch.testing.assert_close(learner.gradient[:, head], rows.grad[:, head])


def test_newcomers_keep_a_representation_of_fewer_layers_and_train_both_of_the_head():
    settings = PFedDQNRep(**STEPS, head_layers=2, adapt_episodes=3)
    learner = learner_of(settings, [0])
    newcomers = learner.newcomers(settings.adapting(), settings.adaptations()["adapt"])
    before = newcomers.weights.clone()
    while not newcomers.finished.all():
        newcomers.advance(5)
    changed = (newcomers.weights != before).any(0).numpy()
    second = newcomers.net.layers[1][0]
    assert not changed[:second].any() and changed[second:].any()


def test_a_head_of_all_layers_is_refused():
    PFedDQNRep(**STEPS, head_layers=2)
    with pytest.raises(ValidationError, match="head_layers must be 2 or less"):
        PFedDQNRep(**STEPS, head_layers=3)


def test_defaults_are_not_said_and_other_readings_are():
    assert not {key for said in READINGS.values() for key in said} & set(PFedDQNRep(**STEPS).said())
    for setting in READINGS.values():
        assert setting.items() <= PFedDQNRep(**STEPS, **setting).said().items()


@pytest.mark.parametrize("reading", READINGS)
def test_a_reading_runs_a_seed_alone_as_in_a_block_and_measures_what_it_says(project, reading):
    experiment = f"control_cartpole_{reading}"
    found = cells(project, "pfedrl_rep", experiment, "tiny")
    cell = next(cell for cell in found if cell.name == "pfed_dqn_rep")
    assert READINGS[reading].items() <= cell.runnable.said().items()
    both, alone = measured(cell, [0, 1]), measured(cell, [1])
    assert set(both["metric"]) == cell.runnable.metrics(cell.family)
    mine = both["seed"] == 1
    for column in ("agent", "at", "metric", "value"):
        np.testing.assert_array_equal(both[column][mine], alone[column])


def test_the_declared_readings_are_run_with_what_they_say(project):
    """Those that are run are experiments with a budget at the record scale, on both tasks."""
    page = project.paper("pfedrl_rep")
    looks = [reading for reading in page.readings if reading.metrics or reading.cells]
    run = [reading for reading in page.readings if reading not in looks]
    assert set(READINGS) <= {reading.id for reading in run}
    for reading in run:
        for experiment in map(reading.runs, reading.experiments):
            assert project.budget(project.scale("record"), "pfedrl_rep", experiment) is not None
            cell = find_cell(project, "pfedrl_rep", experiment, "pfed_dqn_rep", "record")
            assert READINGS.get(reading.id, {}).items() <= cell.runnable.said().items()
        decays = reading.id == "constant_rate"  # not in Acrobot's 100 episodes
        tasks = {"control_cartpole"} if decays else {"control_cartpole", "control_acrobot"}
        assert set(reading.experiments) == tasks
