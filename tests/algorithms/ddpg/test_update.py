"""An update of the stack is the one that PyTorch's own modules and optimisers make."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from pfedrl.algorithms.ddpg.ddpg import DDPG
from pfedrl.algorithms.ddpg.learner import DDPGLearner
from pfedrl.algorithms.ddpg.per_ddpg_avg import PerDDPGAvg
from pfedrl.algorithms.ddpg.pfed_ddpg_rep import PFedDDPGRep
from tests.plain.ddpg import PlainDDPG
from tests.plain.regulator import RegulatorTask

SETTINGS = {
    "frames": 60, "local_steps": 10, "first_width": 32, "second_width": 24,
    "batch": 16, "buffer": 40, "warm_up": 20,
    "actor_rate": 1e-3, "critic_rate": 2e-3, "gamma": 0.9, "tau": 0.1,
}  # fmt: skip
TASK = RegulatorTask(np.array([[0.8, 1.0, 1.3], [0.7, 0.9, 1.1]]), np.zeros((2, 0)), cap=7)


class Spaces:
    """A gymnasium environment that is never stepped."""

    action_space = SimpleNamespace(shape=(1,), high=np.array([2.0]))

    def reset(self, seed=None):
        return np.zeros(2), {}


def warm(algorithm, steps=25):
    learner = algorithm.learner(TASK, [3, 4])
    learner.advance(steps)
    return learner


LAYERS = ("first", "second", "last")


def layers_of(plain: PlainDDPG, late: bool):
    """A plain agent's linear layers, in the order in which a row holds them."""
    actor, critic = (plain.late_actor, plain.late_critic) if late else (plain.actor, plain.critic)
    return [getattr(module, name) for module in (actor, critic) for name in LAYERS]


def as_row(plain: PlainDDPG, late: bool) -> torch.Tensor:
    """Its weights as a row of the stack holds them."""
    pieces = [
        (layer.weight.data.T.reshape(-1), layer.bias.data) for layer in layers_of(plain, late)
    ]
    return torch.cat([piece for pair in pieces for piece in pair])


def copied(learner: DDPGLearner, row: int) -> PlainDDPG:
    """A plain agent with a replica's nets and replay, and new moments."""
    plain = PlainDDPG(learner.settings, Spaces(), seed=0)
    for rows, late in ((learner.weights, False), (learner.target, True)):
        place = 0
        for layer in layers_of(plain, late):
            outputs, inputs = layer.weight.shape
            matrix = rows[row, place : place + inputs * outputs].view(inputs, outputs)
            layer.weight.data, place = matrix.T.clone(), place + inputs * outputs
            layer.bias.data, place = rows[row, place : place + outputs].clone(), place + outputs
    plain.prepare()
    kept = learner.experience.replay.kept
    for name in ("seen", "following", "action"):
        plain.replay[name][:] = getattr(kept, name)[row]
    plain.replay["reward"][:, 0], plain.replay["stops"][:, 0] = (
        kept.reward[row],
        kept.terminated[row],
    )
    plain.stored = int(learner.experience.replay.size[row])
    return plain


@pytest.mark.parametrize("row", [0, 4])
def test_updates_are_pytorchs(row):
    learner = warm(DDPG(**SETTINGS))
    experience, everyone = learner.experience, np.ones(6, bool)
    learner.moments[:], learner.updates["all"][:] = 0, 0
    plain = copied(learner, row)
    torch.testing.assert_close(as_row(plain, late=False), learner.weights[row])
    before = learner.weights[row].clone()
    for _ in range(10):
        uniforms = experience.uniforms[row, experience.place[row] - 1]
        chosen = (uniforms * experience.replay.size[row]).astype(int)
        plain.rng = SimpleNamespace(integers=lambda *_, size, drawn=chosen: drawn[:size])
        learner._update(everyone, "all")
        plain.update()
        experience.place += 1
    assert (learner.weights[row] - before).abs().max() > 1e-3
    torch.testing.assert_close(
        learner.weights[row], as_row(plain, late=False), atol=2e-5, rtol=1e-4
    )
    torch.testing.assert_close(learner.target[row], as_row(plain, late=True), atol=2e-5, rtol=1e-4)
    np.testing.assert_array_equal(learner.updates["all"], 10)


@pytest.mark.parametrize("phase", ["head", "body", "embedding", "net", "nothing"])
def test_a_phase_trains_its_part_of_both_nets_and_nothing_else(phase):
    learner = warm(PerDDPGAvg(**SETTINGS, embedding=2))
    learner.updates[phase] = np.zeros(6, np.int64)
    before = learner.weights.clone()
    learner._update(np.ones(6, bool), phase)
    changed = (learner.weights != before).any(0)
    expected = torch.zeros_like(changed)
    for who in ("actor", "critic"):
        if phase != "nothing":
            part = learner.net.part[f"{who}_{phase}"]
            assert changed[part].any()
            expected[part] = True
    assert not changed[~expected].any()


def test_the_head_of_pfed_ddpg_rep_steps_k_times_for_one_of_its_representation():
    learner = warm(PFedDDPGRep(**SETTINGS), steps=30)  # warm from step 20 on
    np.testing.assert_array_equal(learner.updates["head"], 11)
    np.testing.assert_array_equal(learner.updates["body"], 1)


def test_a_replica_that_diverges_ends_there_and_the_others_go_on():
    learner, other = warm(DDPG(**SETTINGS)), warm(DDPG(**SETTINGS))
    learner.weights[1] = float("nan")
    learner.advance(10)
    other.advance(10)
    np.testing.assert_array_equal(learner.diverged, [False, True, False, False, False, False])
    rest = [0, 2, 3, 4, 5]
    assert torch.equal(learner.weights[rest], other.weights[rest])
    assert learner.experience.replay.size[1] < learner.experience.replay.size[0]


def test_teams_change_no_bit(monkeypatch):
    alone, everyone = (trained_in_teams(monkeypatch, columns) for columns in (1, 10**9))
    assert len(alone.teams) == 3 and len(everyone.teams) == 1
    assert torch.equal(alone.weights, everyone.weights)


def trained_in_teams(monkeypatch, columns):
    monkeypatch.setattr("pfedrl.algorithms.ddpg.learner.CACHED", columns)
    return warm(DDPG(**SETTINGS), 40)
