"""What is recorded of workers: whose samples count, at which moment, and how long it took."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pfedrl.algorithms.supervised.d_psgd import DPSGD
from pfedrl.algorithms.supervised.deprl import DePRL
from pfedrl.algorithms.supervised.ditto import Ditto
from pfedrl.algorithms.supervised.fed_rod import FedRoD
from pfedrl.core.recorder import Recorder
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.stack.loop import Control
from tests.plain.supervised import module_of

SEEDS = (3, 5)
SETTINGS = {"model": "mlp", "communication_rounds": 3}


def family_of(**given) -> LabelledData:
    sizes = {"train_samples": 400, "test_samples": 200}
    return LabelledData(**{"data": "clusters", "agents": 5, "pi": 0.2, **sizes, **given})


def task_of(**given):
    family = family_of(**given)
    return family.task(family.draw(SEEDS))


def by_hand(learner, model, split, what):
    """Of every worker, one after the other: [seed, worker]."""
    task, found = learner.task, np.full(learner.shape, np.nan)
    for row, (seed, worker) in enumerate(np.ndindex(learner.shape)):
        own = split.of(seed, worker)
        if len(own):
            labels = torch.from_numpy(task.labels[own])
            with torch.no_grad():
                outputs = module_of(learner.net, model[row])(torch.from_numpy(task.inputs[own]))
            found[seed, worker] = what(outputs, labels)
    return found


def right(outputs, labels):
    return 100 * (outputs.argmax(1) == labels).double().mean()


def test_accuracies_and_losses_are_the_workers_own_and_few_samples_do_not_count():
    task = task_of()
    counted = task.test.sizes > 10
    assert not counted.all() and counted.any(axis=1).all()
    learner = DPSGD(graph="ring", **SETTINGS).learner(task, SEEDS)
    learner.advance(1)
    each = by_hand(learner, learner.judged, task.test, right)
    wanted = [row[which].mean() for row, which in zip(each, counted, strict=True)]
    np.testing.assert_allclose(learner.measures.accuracy(learner.judged), wanted)
    losses = by_hand(learner, learner.judged, task.train, torch.nn.functional.cross_entropy)
    found = learner.measures.training_loss(learner.judged)
    np.testing.assert_allclose(found, losses.mean(axis=1), rtol=1e-5)


def test_nobody_with_enough_samples_is_no_number():
    learner = DPSGD(graph="ring", **SETTINGS).learner(task_of(test_samples=20), SEEDS)
    assert np.isnan(learner.measures.accuracy(learner.judged)).all()


def test_the_three_moments_of_a_round():
    task = task_of()
    for kind in (DPSGD, DePRL):
        algorithm = kind(graph="ring", **SETTINGS)
        learner, exchange = algorithm.learner(task, SEEDS), algorithm.exchange(task, SEEDS)
        learner.advance(1)
        before = learner.judged.clone()
        exchange(learner.parts, 0)
        learner.observe()
        mean = learner.judged.view(2, 5, -1).clone()
        shared = learner.part["all" if kind is DPSGD else "body"]
        mean[:, :, shared] = mean[:, :, shared].mean(1, keepdim=True)
        looked = {m.metric: m.values for m in learner.measure()}
        models = {"before_mixing": before, "after_mixing": learner.judged,
                  "mean_model": mean.view(10, -1)}  # fmt: skip
        for moment, model in models.items():
            wanted = learner.measures.accuracy(model)
            np.testing.assert_array_equal(looked[f"accuracy_{moment}"], wanted)
        away = (learner.judged.view(2, 5, -1) - mean).square().sum(2).mean(1)
        np.testing.assert_allclose(looked["consensus_error"], away, rtol=1e-4)
        assert (looked["consensus_error"] < looked["consensus_error_before_mixing"]).all()


def test_dittos_personal_model_is_judged_and_does_not_mix():
    algorithm, task = Ditto(**SETTINGS), task_of()
    learner, exchange = algorithm.learner(task, SEEDS), algorithm.exchange(task, SEEDS)
    learner.advance(1)
    exchange(learner.parts, 0)
    learner.observe()
    looked = {m.metric: m.values for m in learner.measure()}
    personal = learner.measures.accuracy(learner.models["personal"])
    for moment in ("before_mixing", "after_mixing", "mean_model"):
        np.testing.assert_array_equal(looked[f"accuracy_{moment}"], personal)
    assert (looked["consensus_error_before_mixing"] > 0).all()


def test_fed_rod_judges_by_the_sum_of_both_heads():
    task = task_of()
    learner = FedRoD(**SETTINGS).learner(task, SEEDS)
    learner.advance(1)
    both = learner.judged.clone()
    body, head, personal = (learner.part[name] for name in ("body", "head", "personal"))
    alone = both.clone()
    alone[:, head] += alone[:, personal]
    wanted = by_hand(learner, alone[:, : body.stop + (head.stop - head.start)], task.test, right)
    counted = task.test.sizes > 10
    wanted = [row[which].mean() for row, which in zip(wanted, counted, strict=True)]
    np.testing.assert_allclose(learner.measures.accuracy(both), wanted)


def test_steps_to_a_target_count_the_slowest_workers_minibatches():
    algorithm = DePRL(graph="ring", target_accuracy=50.0, **SETTINGS)
    task = task_of()
    learner = algorithm.learner(task, SEEDS)
    a_round = (algorithm.local_epochs + 1) * -(-task.train.sizes.max(axis=1) // 16)
    learner.rounds = 3
    accuracies = np.array([[10, 20, 60, 40], [10, 20, 30, 40]]).T
    losses = np.array([[2.0, 1.0, 0.04, 0.0], [2.0, 0.1, 0.5, 0.01]]).T
    learner.measures.history = [
        {"training_loss": loss} | {f"accuracy_{m}": accuracy for m in
                                   ("before_mixing", "after_mixing", "mean_model")}
        for accuracy, loss in zip(accuracies, losses, strict=True)
    ]  # fmt: skip
    found = learner.measures.steps_to()
    for moment in ("before_mixing", "after_mixing", "mean_model"):
        np.testing.assert_array_equal(found[f"reached_accuracy_{moment}"], [1, 0])
        np.testing.assert_array_equal(found[f"steps_to_accuracy_{moment}"], [2, 3] * a_round)
    np.testing.assert_array_equal(found["steps_to_convergence"], [2, 1] * a_round)
    one_step = replace(learner.phases[1], steps=1)
    learner.phases = (learner.phases[0], one_step)
    batches = -(-task.train.sizes.max(axis=1) // 16)
    np.testing.assert_array_equal(
        learner.measures.steps_to()["steps_to_convergence"],
        [2, 1] * (algorithm.local_epochs * batches + 1),
    )


def test_similarities_are_cosines_and_heads_follow_labels():
    algorithm = DePRL(graph="ring", measure_similarities=True, **SETTINGS)
    family, recorder = family_of(), Recorder(SEEDS)
    draws = family.draw(SEEDS)
    algorithm.run(SEEDS, family, draws, recorder, Control(2))
    found = {row[2]: row[3] for row in recorder.state() if row[1] == 3}
    counts = family.task(draws).train.counts.astype(float)
    unit = counts / np.linalg.norm(counts, axis=2, keepdims=True)
    for other in range(5):
        wanted = (unit * unit[:, other : other + 1]).sum(axis=2)
        np.testing.assert_allclose(found[f"label_similarity_{other}"], wanted)
        assert (found[f"body_similarity_{other}"] > 0.9).all()
    assert found["similarity_correlation"] == pytest.approx([0.7, 0.7], abs=0.4)


def test_rounds_that_nobody_asked_for_are_not_looked_at():
    algorithm = DPSGD(graph="ring", **SETTINGS)
    learner = algorithm.learner(task_of(), SEEDS)
    learner.measures.wanted = {3}
    learner.advance(1)
    learner.observe()
    assert not list(learner.measure())
    learner.advance(2)
    learner.observe()
    assert "accuracy_mean_model" in {m.metric for m in learner.measure()}
