"""What the benchmark compares is the same work: heads by full passes are those on features."""

import torch

from pfedrl.algorithms.supervised.deprl import DePRL
from pfedrl.benchmarks.supervised import heads_by_full_forward, learner_of, noise


def test_heads_on_features_at_hand_are_heads_by_full_forward_passes():
    task = noise(workers=3, samples=150, pi=0.5)
    algorithm = DePRL(model="mlp", graph="ring", communication_rounds=1)
    ours, other = learner_of(algorithm, task), learner_of(algorithm, task)
    start = ours.judged.clone()
    phase = ours.phases[0]
    ours._train_heads(phase, phase.rate)
    heads_by_full_forward(other, phase)
    assert (ours.judged - start).abs().max() > 1e-3
    torch.testing.assert_close(ours.judged, other.judged, atol=1e-5, rtol=1e-4)
