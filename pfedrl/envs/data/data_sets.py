"""Data sets as plain arrays: what is known of each, and the files they are kept in.

A file holds the arrays of `Arrays`, without pickles; `pfedrl data fetch` writes it. No code that
fetches or converts is reached from here: a run depends on the arrays, not on how they came.
"""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError
from pfedrl.core.files import atomic_write

FOLDER = "PFEDRL_DATA"  # names the folder of the files


class Facts(NamedTuple):
    """What is known of a data set beforehand."""

    title: str
    shape: tuple[int, ...]  # of an input
    classes: int
    mean: tuple[float, ...] = ()  # of each channel; pixels are between 0 and 1
    deviation: tuple[float, ...] = ()


FACTS = {
    "fashion_mnist": Facts("Fashion-MNIST", (1, 28, 28), 10, (0.2860,), (0.3530,)),
    "cifar10": Facts(
        "CIFAR-10", (3, 32, 32), 10, (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)
    ),
    "cifar100": Facts(
        "CIFAR-100", (3, 32, 32), 100, (0.5071, 0.4867, 0.4408), (0.2675, 0.2565, 0.2761)
    ),
    "hapt": Facts(
        "HAPT", (6, 150), 6,
        (0.8050, 0.0292, 0.0866, 0.0048, -0.0024, -0.0081),
        (0.4162, 0.3931, 0.3593, 0.4130, 0.4031, 0.2586),
    ),
    "harbox": Facts("HARBox", (900,), 5),
}  # fmt: skip


class Arrays(NamedTuple):
    """A data set in its own two parts: pixels are bytes, anything else single precision."""

    train_inputs: np.ndarray  # [sample, ...]
    train_labels: np.ndarray  # [sample], from 0
    test_inputs: np.ndarray
    test_labels: np.ndarray


def path_of(name: str) -> Path:
    """The file of a data set, whether or not it is there."""
    return Path(os.environ.get(FOLDER) or Path("results", "data"), f"{name}.npz")


def missing(name: str) -> str | None:
    """Why a data set cannot be used, or None."""
    if path_of(name).exists():
        return None
    return f"{FACTS[name].title} is not here (bring it: pfedrl data fetch {name})"


def checked(name: str, arrays: Arrays) -> Arrays:
    """The arrays, if they can be those of the data set."""
    facts = FACTS[name]
    kind = np.uint8 if len(facts.shape) == 3 else np.float32
    for part in ("train", "test"):
        inputs = getattr(arrays, f"{part}_inputs")
        labels = getattr(arrays, f"{part}_labels")
        if inputs.dtype != kind or inputs.shape[1:] != facts.shape:
            raise ValueError(f"{part} inputs are {inputs.dtype}{list(inputs.shape)}")
        if labels.dtype != np.uint8 or labels.shape != inputs.shape[:1]:
            raise ValueError(f"{part} labels are {labels.dtype}{list(labels.shape)}")
        if not set(np.unique(labels)) <= set(range(facts.classes)):
            raise ValueError(f"{part} labels are not all below {facts.classes}")
    return arrays


def digest(arrays: Arrays) -> str:
    """The SHA-256 of the arrays, whichever files they came from."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def write(name: str, arrays: Arrays) -> Path:
    with atomic_write(path_of(name)) as temporary:
        np.savez(temporary, allow_pickle=False, **checked(name, arrays)._asdict())
    return path_of(name)


def read(name: str, *keys: str) -> list[np.ndarray]:
    """Some of a data set's arrays."""
    if (reason := missing(name)) is not None:
        raise PfedrlError(f"{reason}.")
    path = path_of(name)
    try:
        with np.load(path, allow_pickle=False) as stored:
            return [stored[key] for key in keys]
    except (OSError, BadZipFile, KeyError, ValueError, EOFError) as error:
        raise PfedrlError(
            f"{path}: the data cannot be read ({error}). "
            f"Bring them again: rm {path} && pfedrl data fetch {name}",
            exit_code=BROKEN_ARTIFACT,
        ) from None


def normalised(facts: Facts, inputs: np.ndarray) -> np.ndarray:
    """Inputs in single precision, each channel with about mean 0 and deviation 1."""
    if not facts.mean:  # made so
        return inputs
    scaled = inputs / np.float32(255 if inputs.dtype == np.uint8 else 1)
    channel = (-1, *[1] * (len(facts.shape) - 1))
    mean, deviation = (
        np.array(of, np.float32).reshape(channel) for of in (facts.mean, facts.deviation)
    )
    scaled -= mean  # in place: it may be most of the memory
    scaled /= deviation
    return scaled
