"""From the files in which data sets are given away to plain arrays.

A converter is told a folder that holds the files it needs, unpacked, by the names they have at
their source. What it cannot make sense of is a ValueError or a missing file.
"""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pfedrl.envs.data.data_sets import Arrays
from pfedrl.envs.data.plain_pickle import columns, plain_pickle

PIXELS = 3 * 32 * 32  # of a CIFAR image

WINDOW, STRIDE = 150, 75  # samples of a HAPT window, which overlaps the next by half
AXES = ("acc-x", "acc-y", "acc-z", "gyro-x", "gyro-y", "gyro-z")
ACTIVITIES = range(1, 7)  # the rest are transitions between postures
TEST_USERS = (2, 4, 9, 10, 12, 13, 18, 20, 24)  # those of the data's own test part

HARBOX = ("Call", "Hop", "typing", "Walk", "Wave")  # the classes, by the files' names
HARBOX_ROWS, HARBOX_COLUMNS = 100, 10  # of a window; the first column is no axis
HARBOX_TEST = 5  # one in five windows of a file, the last ones


def content(folder: Path, name: str) -> bytes:
    """A file's content; it may be compressed."""
    if (path := folder / name).exists():
        return path.read_bytes()
    if (path := folder / f"{name}.gz").exists():
        return gzip.decompress(path.read_bytes())
    raise FileNotFoundError(f"there is no {name} nor {name}.gz")


def idx(data: bytes) -> np.ndarray:
    """The format of MNIST: two zeros, the type (8: bytes), the axes' count, their lengths."""
    if data[:3] != b"\0\0\x08":
        raise ValueError("it does not start as an idx file of bytes does")
    axes = data[3]
    shape = np.frombuffer(data, ">u4", axes, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * axes).reshape(shape)


def fashion_mnist(folder: Path) -> Arrays:
    parts = []
    for part in ("train", "t10k"):
        parts += [
            idx(content(folder, f"{part}-images-idx3-ubyte"))[:, None],
            idx(content(folder, f"{part}-labels-idx1-ubyte")),
        ]
    return Arrays(*parts)


def cifar_records(data: bytes, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of the binary version: `labels` bytes, the last of which counts, then
    pixels."""
    records = np.frombuffer(data, np.uint8).reshape(-1, labels + PIXELS)
    return records[:, labels:].reshape(-1, 3, 32, 32), records[:, labels - 1].copy()


def cifar10(folder: Path) -> Arrays:
    batches = [
        cifar_records(content(folder, f"data_batch_{number}.bin"), 1) for number in range(1, 6)
    ]
    images, labels = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
    return Arrays(images, labels, *cifar_records(content(folder, "test_batch.bin"), 1))


def cifar100(folder: Path) -> Arrays:
    """The binary or the python version, by the fine labels."""
    parts: list[np.ndarray] = []
    for part in ("train", "test"):
        if (folder / part).exists():
            held = plain_pickle((folder / part).read_bytes())
            images = held[b"data"].array().reshape(-1, 3, 32, 32)
            parts += [images, np.array(held[b"fine_labels"], np.uint8)]
        else:
            parts += cifar_records(content(folder, f"{part}.bin"), 2)
    return Arrays(*parts)


def hapt(folder: Path) -> Arrays:
    """Windows of the raw signals within one activity; the test part is that of the data's own
    test users."""
    recordings = _hapt_texts(folder) if (folder / "labels.txt").exists() else _hapt_pickle(folder)
    found: dict[bool, list[tuple[np.ndarray, int]]] = {False: [], True: []}
    for user, signals, activity in recordings:
        changes = np.flatnonzero(np.diff(activity)) + 1
        for start, end in zip([0, *changes], [*changes, len(activity)], strict=True):
            if activity[start] in ACTIVITIES:
                found[user in TEST_USERS] += [
                    (signals[:, first : first + WINDOW], activity[start] - ACTIVITIES.start)
                    for first in range(start, end - WINDOW + 1, STRIDE)
                ]
    parts: list[np.ndarray] = []
    for windows in found.values():
        parts += [
            np.array([window for window, _ in windows], np.float32).reshape(-1, len(AXES), WINDOW),
            np.array([label for _, label in windows], np.uint8),
        ]
    return Arrays(*parts)


Recording = tuple[int, np.ndarray, np.ndarray]  # user, signals [axis, time], activities [time]


def _hapt_pickle(folder: Path) -> Iterator[Recording]:
    for user, tables in plain_pickle(content(folder, "HAPT.pkl")).items():
        for table in map(columns, tables):
            yield user, np.stack([table[axis] for axis in AXES]), table["label"]


def _hapt_texts(folder: Path) -> Iterator[Recording]:
    """As the data's own site has them: lines of experiment, user, activity, first and last."""
    lines = np.loadtxt(folder / "labels.txt", dtype=int, ndmin=2)
    for user, experiment in sorted({(user, experiment) for experiment, user, *_ in lines}):
        name = f"exp{experiment:02d}_user{user:02d}.txt"
        signals = [np.loadtxt(folder / f"{kind}_{name}", ndmin=2).T for kind in ("acc", "gyro")]
        activity = np.full(signals[0].shape[1], -1)
        for of, _, label, first, last in lines:
            if of == experiment:
                activity[first - 1 : last] = label
        yield user, np.concatenate(signals), activity


def harbox(folder: Path) -> Arrays:
    """Windows of nine axes, as <user>_<class>_train.txt has them; each feature standardised."""
    found: dict[bool, list[np.ndarray]] = {False: [], True: []}
    labels: dict[bool, list[np.ndarray]] = {False: [], True: []}
    for label, activity in enumerate(HARBOX):
        for path in sorted(folder.glob(f"*_{activity}_train.txt")):
            rows = np.loadtxt(path, ndmin=2).reshape(-1, HARBOX_ROWS, HARBOX_COLUMNS)
            windows = rows[:, :, 1:].reshape(len(rows), -1)
            last = len(windows) - len(windows) // HARBOX_TEST
            for tested, some in ((False, windows[:last]), (True, windows[last:])):
                found[tested].append(some)
                labels[tested].append(np.full(len(some), label, np.uint8))
    if not found[False]:
        raise FileNotFoundError(f"there is no <user>_{HARBOX[0]}_train.txt")
    train, test = (np.concatenate(windows) for windows in found.values())
    mean, deviation = train.mean(axis=0), train.std(axis=0) + 1e-8
    return Arrays(
        ((train - mean) / deviation).astype(np.float32), np.concatenate(labels[False]),
        ((test - mean) / deviation).astype(np.float32), np.concatenate(labels[True]),
    )  # fmt: skip


CONVERTERS: dict[str, Callable[[Path], Arrays]] = {
    "fashion_mnist": fashion_mnist,
    "cifar10": cifar10,
    "cifar100": cifar100,
    "hapt": hapt,
    "harbox": harbox,
}
