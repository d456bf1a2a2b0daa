"""The paper's models and the small ones: their sizes, their gradients, and a round of each."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from pfedrl.algorithms.supervised.classifiers import Dropout, LoopedModule, StackedPerceptron
from pfedrl.algorithms.supervised.convolutions import StackedConvolutions
from pfedrl.algorithms.supervised.deprl import DePRL
from pfedrl.algorithms.supervised.ditto import Ditto
from pfedrl.algorithms.supervised.models import classifier
from pfedrl.envs.data.task import DataTask, Split

FASHION, CIFAR, ACTIVITY = (1, 28, 28), (3, 32, 32), (900,)
# weights and biases by the paper's tables, with the data's own inputs and outputs
PRINTED = {
    "dnn": (ACTIVITY, 5, 900 * 512 + 512 * 256 + 256 * 128 + 128 * 64 + 64 * 5
            + 512 + 256 + 128 + 64 + 5),
    "alexnet": (CIFAR, 10, 9 * (3 * 64 + 64 * 192 + 192 * 384 + 384 * 256 + 256 * 256)
                + 1024 * 4096 + 4096 * 4096 + 4096 * 10
                + 64 + 192 + 384 + 256 + 256 + 4096 + 4096 + 10),
    "vgg11": (CIFAR, 10, 9 * (3 * 64 + 64 * 128 + 128 * 128 + 128 * 256 + 256 * 256 + 256 * 512
                              + 512 * 512 + 512 * 512) + 2 * 512 * 512 + 512 * 10
              + 64 + 2 * 128 + 2 * 256 + 3 * 512 + 2 * 512 + 10),
}  # fmt: skip


def images(shape, classes: int, agents: int, samples: int, seeds: int = 1) -> DataTask:
    """Noise; every worker has as many samples, half of them to be tested on."""
    random = np.random.default_rng(0)
    labels = random.permutation(np.arange(agents * samples) % classes)
    inputs = random.standard_normal((len(labels), *shape)).astype(np.float32)
    own = labels.reshape(agents, samples)
    counts = np.stack([np.bincount(row, minlength=classes) for row in own])
    split = Split(np.tile(np.arange(len(labels)), (seeds, 1)), np.stack([counts] * seeds))
    return DataTask(inputs, labels, classes, split, split)


@pytest.mark.parametrize("model", PRINTED)
def test_models_have_the_papers_sizes(model):
    shape, classes, wanted = PRINTED[model]
    net = classifier(model, shape, classes)
    assert net.columns == wanted == sum(c.stop - c.start for c in net.tensors)
    assert (
        net.part["head"].stop - net.part["head"].start
        == ({"dnn": 64, "alexnet": 4096, "vgg11": 512}[model] + 1) * classes
    )


def test_resnet18_has_its_known_size_and_statistics_beside_it():
    net = classifier("resnet18", CIFAR, 100)
    trained = sum(c.stop - c.start for c in net.tensors)
    assert trained == 11_220_132  # as in the literature, for 3x3 stems and 100 classes
    assert net.columns - trained == 2 * 4800  # means and variances of 4,800 channels


@pytest.mark.parametrize(
    ("model", "shape", "classes", "batch"),
    [("dnn", ACTIVITY, 6, 4), ("alexnet", FASHION, 10, 2), ("vgg11", CIFAR, 10, 2),
     ("resnet18", CIFAR, 100, 2), ("tiny_cnn", CIFAR, 10, 4), ("mlp", FASHION, 10, 4)],
)  # fmt: skip
def test_a_round_of_deprl_with_every_model(model, shape, classes, batch):
    """As at the paper's scale, on data as small as can be."""
    task = images(shape, classes, agents=2, samples=3)
    algorithm = DePRL(
        model=model, graph="ring", communication_rounds=1, batch=batch, local_epochs=1
    )
    learner, exchange = algorithm.learner(task, [0]), algorithm.exchange(task, [0])
    learner.measures.wanted = set()
    start = {name: part.clone() for name, part in learner.parts.items()}
    learner.advance(1)
    exchange(learner.parts, 0)
    for name, part in learner.parts.items():
        assert (part[:, 0] != start[name][:, 0]).float().mean() > 0.2, name
    apart = {name: (part[:, 0] - part[:, 1]).abs().max() for name, part in learner.parts.items()}
    assert apart["body"] <= 1e-6 < 1e-3 < apart["head"] < torch.inf


@pytest.mark.parametrize(("model", "shape"), [("tiny_cnn", (1, 8, 8)), ("dnn", (30,))])
def test_a_seed_alone_has_the_bits_it_has_in_a_block(model, shape):
    """Of models that no short run has; dropout draws by worker."""
    algorithm = DePRL(model=model, graph="ring", communication_rounds=1, batch=4)
    rows = {}
    for seeds in ((3, 5, 8), (5,)):
        task = images(shape, 3, agents=3, samples=7, seeds=len(seeds))
        learner, exchange = algorithm.learner(task, seeds), algorithm.exchange(task, seeds)
        learner.advance(1)
        exchange(learner.parts, 0)
        rows[seeds] = learner.judged.view(len(seeds), 3, -1)[seeds.index(5)]
    assert torch.equal(*rows.values())


def test_cuda_is_taken_where_there_is_one():
    task = images((30,), 3, agents=2, samples=5)
    settings = {"model": "mlp", "graph": "ring", "communication_rounds": 1}
    learner, plain = (
        DePRL(device=device, **settings).learner(task, [0]) for device in ("cuda", "cpu")
    )
    assert plain.judged.device.type == "cpu"
    assert learner.judged.device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    for one in (learner, plain):
        one.advance(1)
    torch.testing.assert_close(learner.judged.cpu(), plain.judged, atol=1e-5, rtol=1e-4)


def plain_outputs(net, row, inputs, training: bool) -> tuple[nn.Module, torch.Tensor]:
    """By a module of its own, with the row's numbers."""
    body = copy.deepcopy(net.body)
    net.point_at(row)
    body.load_state_dict(net.body.state_dict())
    ((matrix, bias),) = net.head.views(row[None, net.part["head"]])
    return body, body.train(training)(inputs) @ matrix[0] + bias[0]


def test_a_modules_gradient_and_statistics_are_autograds():
    torch.manual_seed(0)
    classes = 3
    net = classifier("resnet18", CIFAR, classes)
    row = torch.from_numpy(net.start(np.random.default_rng(0)))
    inputs, slope = torch.randn(2, *CIFAR), torch.randn(1, 2, classes)
    with torch.enable_grad():
        body, wanted = plain_outputs(net, row.clone(), inputs, training=True)
        found = torch.autograd.grad(wanted, list(body.parameters()), slope[0])
    rows, gradient = row[None].clone(), torch.zeros(1, net.columns)
    training = net.training(rows, gradient)
    torch.testing.assert_close(training.outputs(inputs[None], [])[0], wanted)
    training.backward(slope)
    for columns, of_plain in zip(net.places, found, strict=False):
        torch.testing.assert_close(gradient[0, columns], of_plain.view(-1), atol=1e-5, rtol=1e-4)
    trained = sum(tensor.numel() for tensor in net.parameters)
    end = net.part["head"].start
    assert (gradient[0, trained:end] == 0).all()
    statistics = torch.cat([numbers.view(-1) for numbers in body.buffers()])
    torch.testing.assert_close(rows[0, trained:end], statistics)
    assert (rows[0, trained:end] != row[trained:end]).all()
    seen = net.features(rows, inputs[None])
    body.eval()
    with torch.no_grad():
        torch.testing.assert_close(seen[0], body(inputs), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("shape", [FASHION, CIFAR, (2, 7, 7)], ids=str)
def test_stacked_convolutions_are_pytorchs(shape):
    torch.manual_seed(0)
    net = StackedConvolutions(shape, 5, (8, 16), 64)
    rows = torch.from_numpy(np.stack([net.start(np.random.default_rng(r)) for r in range(3)]))
    images, slope = torch.randn(3, 4, *shape), torch.randn(3, 4, 5)
    prepared = torch.stack([net.prepared(own) for own in images])
    gradient = torch.zeros_like(rows)
    training = net.training(rows, gradient)
    outputs = training.outputs(prepared, [])
    training.backward(slope)
    side = net.sides[-1]
    for row in range(3):
        own = rows[row].clone().requires_grad_(True)
        with torch.enable_grad():
            first, second, hidden, head = ((m[0], b[0, 0]) for m, b in net.views(own[None]))
            out = images[row]
            for matrix, bias in (first, second):
                kernel = matrix.view(3, 3, -1, matrix.shape[1]).permute(3, 2, 0, 1)
                out = nn.functional.conv2d(out, kernel, bias, stride=2, padding=1).relu()
            seen = out.permute(0, 2, 3, 1).reshape(4, 16 * side * side) @ hidden[0] + hidden[1]
            wanted = seen.relu() @ head[0] + head[1]
            (by_row,) = torch.autograd.grad(wanted, own, slope[row])
        torch.testing.assert_close(outputs[row], wanted, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(gradient[row], by_row, atol=1e-4, rtol=1e-4)
        found = net.features(rows[row : row + 1], prepared[row : row + 1])
        torch.testing.assert_close(found[0], seen.relu(), atol=1e-5, rtol=1e-4)


def test_dropout_draws_from_its_own_generator_and_rests_outside_of_training():
    layer = Dropout(0.25)
    layer.random = torch.Generator().manual_seed(1)
    first = layer(torch.ones(4000))
    again = Dropout(0.25)
    again.random = torch.Generator().manual_seed(1)
    torch.manual_seed(5)
    assert torch.equal(again(torch.ones(4000)), first)
    assert sorted(first.unique().tolist()) == pytest.approx([0, 4 / 3])
    assert first.mean() == pytest.approx(1, abs=0.05)
    assert torch.equal(layer.eval()(torch.ones(5)), torch.ones(5))


def test_starts_are_pytorchs_and_normalisations_begin_as_they_are_made():
    net = LoopedModule(
        nn.Sequential(nn.Conv2d(3, 5, 3), nn.BatchNorm2d(5), nn.Flatten(), nn.Linear(20, 7)),
        (3, 4, 4), 2, torch.device("cpu"),
    )  # fmt: skip
    row = torch.from_numpy(net.start(np.random.default_rng(0)))
    net.point_at(row)
    convolution, normalisation, _, linear = net.body
    for layer, inputs in ((convolution, 27), (linear, 20)):
        assert layer.weight.abs().max() <= inputs**-0.5
        assert layer.weight.abs().max() > 0.8 * inputs**-0.5
        assert layer.bias.abs().max() <= inputs**-0.5
    assert (normalisation.weight == 1).all() and (normalisation.bias == 0).all()
    assert (normalisation.running_mean == 0).all() and (normalisation.running_var == 1).all()


def test_tensors_of_a_perceptron_are_its_matrices_and_biases():
    net = StackedPerceptron(4, 3, 2)
    assert [c.stop - c.start for c in net.tensors] == [12, 3, 6, 2]
    assert net.tensors[-1].stop == net.columns


def test_convolutions_need_images():
    with pytest.raises(ValueError, match=r"need images \[channel, side, side\], not \[900\]"):
        classifier("vgg11", ACTIVITY, 5)


def test_a_pull_leaves_the_statistics_of_batches_alone():
    """Ditto's personal models with normalisations: these follow the batches, not the server."""
    task = images((1, 8, 8), 2, agents=1, samples=4)
    found = []
    for pull in (0.0, 50.0):
        learner = Ditto(
            model="resnet18", communication_rounds=1, batch=4, local_epochs=1, pull=pull
        ).learner(task, [0])
        for model in learner.models.values():
            model[:, learner.trained == 0] += 1  # apart from what is received ...
        learner.models["global"][:, learner.trained == 0] += 5
        learner.advance(1)
        found.append(learner.models["personal"][:, learner.trained == 0])
    torch.testing.assert_close(*found)  # ... and as far, however strong the pull
