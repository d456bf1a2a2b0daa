"""The stack is a plain PyTorch loop over workers; algorithms agree where they should."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from pfedrl.algorithms.supervised.d_psgd import DPSGD
from pfedrl.algorithms.supervised.deprl import DePRL
from pfedrl.algorithms.supervised.ditto import Ditto
from pfedrl.algorithms.supervised.fed_avg_by_data import FedAvgByData
from pfedrl.algorithms.supervised.fed_rep import FedRep
from pfedrl.algorithms.supervised.fed_rod import FedRoD
from pfedrl.algorithms.supervised.local_only import LocalOnly
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.envs.data.task import DataTask
from tests.plain.supervised import PlainWorkers

SEEDS = (3, 5)
SETTINGS = {"model": "mlp", "communication_rounds": 2, "clip": 0.5, "batch": 8}
GRAPHS = ("ring", "random", "fully_connected")


def task_of(agents: int = 5, seeds=SEEDS, **given) -> DataTask:
    sizes = {"train_samples": 300, "test_samples": 100}
    family = LabelledData(**{"data": "clusters", "agents": agents, "pi": 0.5, **sizes, **given})
    return family.task(family.draw(seeds))


def trained(algorithm, task: DataTask, rounds: int = 2, seeds=SEEDS):
    """The learner after some rounds, each with its exchange."""
    learner, exchange = algorithm.learner(task, seeds), algorithm.exchange(task, seeds)
    for number in range(rounds):
        learner.advance(exchange.steps)
        exchange(learner.parts, number)
    return learner


def stack_of(learner) -> torch.Tensor:
    return learner.judged.view(*learner.shape, -1)


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("kind", [DPSGD, DePRL])
def test_a_stack_is_a_plain_loop_over_workers(kind, graph):
    """Workers have unequal data, gradients are clipped, and rates decay."""
    algorithm, task = kind(graph=graph, **SETTINGS), task_of()
    assert len(np.unique(task.train.sizes)) > 5
    plain = [PlainWorkers(algorithm.learner(task, SEEDS), seed) for seed in range(2)]
    for _ in range(2):
        for workers, matrix in zip(plain, algorithm.matrices(task.agents, SEEDS), strict=True):
            if kind is DPSGD:
                workers.whole_models()
                workers.mix(matrix, slice(None))
            else:
                workers.heads_first()
                workers.mix(matrix, slice(-1))
    learner = trained(algorithm, task)
    wanted = torch.stack([workers.rows() for workers in plain])
    assert (wanted - stack_of(algorithm.learner(task, SEEDS))).abs().max() > 0.01
    torch.testing.assert_close(stack_of(learner), wanted, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("graph", GRAPHS)
def test_a_mixing_step_is_the_product_with_a_doubly_stochastic_matrix(graph):
    for kind, shared in ((DPSGD, ("body", "head")), (DePRL, ("body",))):
        algorithm, task = kind(graph=graph, **SETTINGS), task_of(8)
        learner, exchange = algorithm.learner(task, SEEDS), algorithm.exchange(task, SEEDS)
        learner.advance(1)
        before = {name: part.double().numpy() for name, part in learner.parts.items()}
        exchange(learner.parts, 0)
        for seed, matrix in enumerate(algorithm.matrices(8, SEEDS)):
            np.testing.assert_allclose(matrix.sum(axis=0), 1)
            np.testing.assert_allclose(matrix.sum(axis=1), 1)
            for name, part in learner.parts.items():
                wanted = matrix @ before[name][seed] if name in shared else before[name][seed]
                np.testing.assert_allclose(part[seed].numpy(), wanted, atol=1e-6)


def test_fully_connected_d_psgd_is_the_averaged_model():
    algorithm, task = DPSGD(graph="fully_connected", **SETTINGS), task_of()
    learner, exchange = algorithm.learner(task, SEEDS), algorithm.exchange(task, SEEDS)
    learner.advance(1)
    mean = stack_of(learner).mean(1, keepdim=True)
    assert not torch.allclose(stack_of(learner), mean, atol=1e-3)
    exchange(learner.parts, 0)
    torch.testing.assert_close(stack_of(learner), mean.expand(-1, 5, -1), atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", [DPSGD, FedAvgByData, LocalOnly, Ditto])
def test_one_worker_is_plain_sgd(kind):
    graph = {"graph": "ring"} if kind is DPSGD else {}
    algorithm, task = kind(**SETTINGS, **graph), task_of(1)
    plain = PlainWorkers(algorithm.learner(task, SEEDS))
    learner = algorithm.learner(task, SEEDS)
    exchange = algorithm.exchange(task, SEEDS)
    for number in range(2):
        plain.epochs = learner.epochs  # Ditto's personal epoch has an order of its own
        plain.whole_models()
        learner.advance(1)
        exchange(learner.parts, number)
    found = next(iter(learner.models.values()))
    torch.testing.assert_close(found[:1], plain.rows(), atol=2e-5, rtol=1e-4)


def test_one_worker_of_deprl_and_fed_rep_alternates_by_plain_sgd():
    task = task_of(1)
    plain = PlainWorkers(FedRep(**SETTINGS).learner(task, SEEDS))
    for _ in range(2):
        plain.heads_first()
    for algorithm in (FedRep(**SETTINGS), DePRL(graph="ring", **SETTINGS)):
        learner = trained(algorithm, task)
        torch.testing.assert_close(learner.judged[:1], plain.rows(), atol=2e-5, rtol=1e-4)


def test_fed_rep_on_a_star_is_deprl_where_all_are_neighbours():
    """The server's plain mean is Metropolis's 1/N; on a ring they part."""
    task = task_of()
    server = trained(FedRep(**SETTINGS), task)
    graph = trained(DePRL(graph="fully_connected", **SETTINGS), task)
    torch.testing.assert_close(server.judged, graph.judged, atol=1e-6, rtol=0)
    ring = trained(DePRL(graph="ring", **SETTINGS), task)
    assert (ring.judged - graph.judged).abs().max() > 1e-3


def test_one_step_of_the_representation_where_that_is_asked_for():
    task = task_of()
    for steps, same in ((0, False), (1, True)):
        algorithm = FedRep(representation_steps=steps, momentum=0.0, **SETTINGS)
        learner = algorithm.learner(task, SEEDS)
        start = learner.parts["body"].clone()
        learner.advance(1)
        moved = (learner.parts["body"] - start).norm(dim=2)
        # one clipped step goes no further than the rate times the limit
        assert ((moved <= 0.01 * 0.5 * 1.001).all()) == same


def test_fed_avg_weighs_workers_by_their_samples():
    algorithm, task = FedAvgByData(**SETTINGS), task_of()
    learner, exchange = algorithm.learner(task, SEEDS), algorithm.exchange(task, SEEDS)
    learner.advance(1)
    before = stack_of(learner).double()
    exchange(learner.parts, 0)
    sizes = torch.from_numpy(task.train.sizes).double()
    wanted = (before * (sizes / sizes.sum(1, keepdim=True))[:, :, None]).sum(1, keepdim=True)
    torch.testing.assert_close(stack_of(learner).double(), wanted.expand(before.shape),
                               atol=1e-6, rtol=0)  # fmt: skip


def test_a_stronger_pull_keeps_dittos_personal_models_nearer_to_the_global_one():
    task, away = task_of(), []
    for pull in (0.0, 1.0, 10.0):
        learner = Ditto(pull=pull, **SETTINGS).learner(task, SEEDS)
        start = learner.models["global"].clone()
        learner.advance(1)
        away.append(float((learner.models["personal"] - start).norm()))
    assert away[0] > away[1] > away[2] > 0


def test_fed_rods_personal_head_leaves_body_and_generic_head_alone():
    """With even classes a balanced softmax is a plain one: the generic model is FedAvg's."""
    task = task_of()
    even = np.full_like(task.train.counts, 7)
    learner = FedRoD(**SETTINGS).learner(task, SEEDS)
    plain = FedAvgByData(**SETTINGS).learner(task, SEEDS)
    learner.task = replace(task, train=replace(task.train, counts=even))
    learner.advance(1)
    plain.advance(1)
    columns = plain.judged.shape[1]
    torch.testing.assert_close(learner.judged[:, :columns], plain.judged, atol=1e-6, rtol=0)
    personal = learner.judged[:, learner.part["personal"]]
    assert (personal - learner.judged[:, learner.part["head"]]).abs().max() > 1e-3


def test_newcomers_train_heads_on_the_mean_representation():
    task = task_of(newcomers=3, newcomers_pi=[0.3])
    learner = trained(DePRL(graph="ring", **SETTINGS), task)
    newcomers = learner.newcomers(task.newcomers[0])
    assert newcomers.shape == (2, 3)
    body, head = learner.part["body"], learner.part["head"]
    mean = stack_of(learner)[:, :, body].mean(1, keepdim=True).expand(-1, 3, -1)
    heads = stack_of(newcomers)[:, :, head].clone()
    torch.testing.assert_close(stack_of(newcomers)[:, :, body], mean, atol=1e-6, rtol=0)
    assert len(torch.unique(heads[0, :, 0])) == 3
    newcomers.advance(1)
    torch.testing.assert_close(stack_of(newcomers)[:, :, body], mean, atol=1e-6, rtol=0)
    assert (stack_of(newcomers)[:, :, head] - heads).abs().max() > 1e-3
