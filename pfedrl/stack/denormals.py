"""Numbers too small for single precision's exponent, which processors are 100 times slower with."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """They count as zero, here and in compiled loops: moments of weights without a gradient, or
    chances of classes that are absent, become that small.

    The processor's mode is set back afterwards: others may count on numbers that small.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
