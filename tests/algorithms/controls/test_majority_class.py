"""The floor of labelled data, counted by hand."""

import numpy as np
import pytest

from pfedrl.algorithms.controls.majority_class import MajorityClass, accuracy
from pfedrl.core.recorder import Recorder
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.envs.data.task import DataTask, Split
from pfedrl.stack.loop import Control


def task(train: list[list[int]], test: list[list[int]]) -> DataTask:
    """One seed, by counts [worker][class]."""
    splits = [Split(np.zeros((1, 0), int), np.array([counts])) for counts in (train, test)]
    return DataTask(np.zeros((0, 1)), np.zeros(0, int), len(train[0]), *splits)


def test_the_accuracy_is_the_share_of_the_largest_training_class_among_the_tested():
    """Workers 1 and 2 get 15 of 20 and 5 of 20 right; worker 3 has too few samples to count."""
    made = task([[5, 1], [1, 5], [9, 0]], [[15, 5], [15, 5], [10, 0]])
    assert accuracy(made).tolist() == [50.0]


def test_where_nobody_can_be_tested_there_is_no_accuracy():
    assert np.isnan(accuracy(task([[5, 1]], [[2, 1]]))).all()


def test_it_records_what_it_says_and_the_counts_of_every_worker():
    family = LabelledData(data="clusters", agents=4, pi=0.3, newcomers=2, newcomers_pi=[0.5])
    draws, recorder = family.draw(range(2)), Recorder(range(2))
    MajorityClass().run(range(2), family, draws, recorder, Control())
    columns = recorder.columns()
    assert set(columns["metric"]) == MajorityClass().metrics(family)
    counted = columns["value"][columns["metric"] == "samples_of_class_1"]
    assert counted.tolist() == draws["train_counts_0"][:, :, 1].ravel().tolist()
    told = columns["value"][columns["metric"] == "accuracy_after_mixing"]
    assert told == pytest.approx(accuracy(family.task(draws)))
