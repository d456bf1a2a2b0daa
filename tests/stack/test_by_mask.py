"""DisPFL's average: each weight over the neighbours who have it."""

import numpy as np
import torch

from pfedrl.stack.by_mask import ByMask
from pfedrl.stack.graphs import fully_connected, ring


def parts_of(graph_size: int):
    rng = np.random.default_rng(0)
    masks = (rng.random((2, graph_size, 40)) < 0.5).astype(np.float32)
    weights = (rng.normal(size=masks.shape) * masks).astype(np.float32)
    return weights, masks


def test_a_weight_is_averaged_over_those_neighbours_who_have_it():
    weights, masks = parts_of(5)
    for as_array in (np.array, torch.tensor):
        parts = {"body": as_array(weights), "mask.body": as_array(masks)}
        graph = ring(5)
        sent = ByMask(np.stack([graph, graph]), ("body",))(parts, 0)
        for seed, worker, column in np.ndindex(weights.shape):
            near = graph[worker] | (np.arange(5) == worker)
            have = masks[seed, near, column] > 0
            own = weights[seed, near, column][have]
            wanted = own.mean() if masks[seed, worker, column] else 0.0
            np.testing.assert_allclose(parts["body"][seed, worker, column], wanted, atol=1e-6)
        np.testing.assert_array_equal(parts["mask.body"], masks)
        # two neighbours each: four bytes a weight that is kept, and a bit a place
        np.testing.assert_allclose(sent, 2 * (4 * masks.sum(axis=2) + 40 / 8))


def test_with_everything_kept_it_is_the_mean():
    weights, _ = parts_of(4)
    parts = {"body": weights.copy(), "mask.body": np.ones_like(weights)}
    ByMask(fully_connected(4)[None], ("body",))(parts, 0)
    mean = np.broadcast_to(weights.mean(axis=1, keepdims=True), weights.shape)
    np.testing.assert_allclose(parts["body"], mean, atol=1e-6)
