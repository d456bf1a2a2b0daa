"""DisPFL's masks: as dense as they were, and what they give up and take in."""

import numpy as np
import torch

from pfedrl.algorithms.supervised.dispfl import DisPFL
from pfedrl.algorithms.supervised.sparse_learner import exchange_smallest
from pfedrl.envs.data.labelled_data import LabelledData

SEEDS = (3, 5)


def test_the_smallest_go_and_the_steepest_come():
    weights = torch.tensor([[5.0, -1, 3, 0, 0, 0]])
    masks = torch.tensor([[1.0, 1, 1, 0, 0, 0]])
    gradient = torch.tensor([[0.0, 1, 9, 2, -7, 0]])
    exchange_smallest(weights, masks, gradient, 0.3)  # one of three
    assert masks.tolist() == [[1, 0, 1, 0, 1, 0]]
    gradient[0, 1] = 8  # one that is given up may come back
    masks = torch.tensor([[1.0, 1, 1, 0, 0, 0]])
    exchange_smallest(weights, masks, gradient, 0.3)
    assert masks.tolist() == [[1, 1, 1, 0, 0, 0]]
    exchange_smallest(weights, masks, gradient, 0.0)
    assert masks.tolist() == [[1, 1, 1, 0, 0, 0]]


def test_masks_stay_as_dense_and_no_weight_lives_outside_of_them():
    family = LabelledData(data="clusters", agents=4, pi=0.5, train_samples=200, test_samples=80)
    task = family.task(family.draw(SEEDS))
    algorithm = DisPFL(model="mlp", communication_rounds=2, graph="ring")
    learner, exchange = algorithm.learner(task, SEEDS), algorithm.exchange(task, SEEDS)
    kept = [int(0.8 * (c.stop - c.start)) for c in learner.net.tensors]
    first = learner.masks.clone()
    assert (first[0] != first[1]).any(), "each worker has a mask of its own"
    for number in range(2):
        learner.advance(1)
        exchange(learner.parts, number)
        for columns, count in zip(learner.net.tensors, kept, strict=True):
            assert (learner.masks[:, columns].sum(1) == count).all()
        assert (learner.judged[learner.masks == 0] == 0).all()
    changed = (first[:, learner.net.tensors[0]] != learner.masks[:, learner.net.tensors[0]]).sum(1)
    assert ((changed > 0) & (changed <= 2 * 2 * 0.5 * kept[0] + 2)).all()


def test_what_is_exchanged_falls_as_a_cosine():
    family = LabelledData(data="clusters", agents=2, pi=0.5, train_samples=60, test_samples=40)
    task = family.task(family.draw([0]))
    algorithm = DisPFL(model="mlp", communication_rounds=2, graph="ring")
    learner = algorithm.learner(task, [0])
    columns = learner.net.tensors[0]
    moved = []
    for rounds in (0, 10, 19, 100):
        learner.rounds = rounds
        before = learner.masks[:, columns].clone()
        learner.prepare()
        moved.append(float((before > learner.masks[:, columns]).sum(1).float().mean()))
    share = [0.25 * (1 + np.cos(np.pi * min(0.95, r / 20))) for r in (0, 10, 19, 100)]
    kept = float(before.sum(1)[0])
    assert moved[0] > moved[1] > moved[2] > 0
    assert all(count <= np.ceil(part * kept) for count, part in zip(moved, share, strict=True))
