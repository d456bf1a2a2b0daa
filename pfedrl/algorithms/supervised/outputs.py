"""What classifiers make of samples, and the slope of the loss by it."""

from torch import Tensor

from pfedrl.algorithms.supervised.classifiers import Classifier
from pfedrl.algorithms.supervised.holdings import Holdings


def features(net: Classifier, own: Tensor, inputs: Tensor, held: Holdings, block: slice) -> Tensor:
    """What the heads of a block's rows [row, column] see of their samples [row, place, feature].

    Places are as many as the block's largest holding, up to a whole chunk.
    """
    size = net.chunk
    sizes = held.sizes[block]
    places = -(-int(sizes[0]) // size) * size
    samples = held.samples.new_zeros(len(own), places)
    some = held.samples[block, :places]
    samples[:, : some.shape[1]] = some
    found = own.new_zeros(len(own), places, net.head.layers[0][1])
    for first in range(0, places, size):
        chunk = slice(first, first + size)
        count = int((sizes > first).sum())
        for begin in range(0, count, net.together):
            rows = slice(begin, min(begin + net.together, count))
            found[rows, chunk] = net.features(own[rows], inputs[samples[rows, chunk]])
    return found


def head_outputs(net: Classifier, heads: Tensor, seen: Tensor) -> Tensor:
    """Of heads [row, column] on features: [row, place, class]."""
    return net.head.forward(net.head.views(heads), seen)[-1]


def slope(outputs: Tensor, labels: Tensor, share: Tensor) -> Tensor:
    """Of each row's mean cross-entropy, by its outputs [row, sample, class]."""
    found = outputs.softmax(2)
    target = labels[..., None]
    found.scatter_add_(2, target, found.new_full((1, 1, 1), -1.0).expand(target.shape))
    return found.mul_(share[..., None])


def cross_entropy(outputs: Tensor, labels: Tensor) -> Tensor:
    """Of every sample: [row, sample]."""
    return outputs.logsumexp(2) - outputs.gather(2, labels[..., None]).squeeze(2)
