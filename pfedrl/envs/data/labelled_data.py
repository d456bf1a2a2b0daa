"""Labelled data divided among workers who see different classes (DePRL, Experiments)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from pfedrl.core.errors import PfedrlError
from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.data import clusters, data_sets
from pfedrl.envs.data.data_sets import Facts
from pfedrl.envs.data.partition import dirichlet_counts, divided, following_counts
from pfedrl.envs.data.task import DataTask, Split
from pfedrl.envs.family import Draws, Family

Samples = Annotated[int, Field(gt=0)] | Literal["all"]
SUBSETS, WORKERS = 0, 1  # what is drawn; groups of new workers follow


class LabelledData(Family):
    """Images or activities to classify; each worker has its own mix of classes."""

    label: ClassVar[str] = "Labelled data"
    kind: ClassVar[str] = "labelled"
    varies: ClassVar[str] = "which samples a worker has: the shares of each class are Dir(pi)"

    data: Literal["clusters", "fashion_mnist", "cifar10", "cifar100", "hapt", "harbox"] = Field(
        description="the data set; clusters are drawn and need no file"
    )
    agents: int = Field(gt=0, description="N, workers")
    pi: float = Field(gt=0, description="of the Dirichlet distribution: small is heterogeneous")
    newcomers: int = Field(0, ge=0, description="workers of a group that comes after training")
    newcomers_pi: list[float] = Field(
        default_factory=list, description="a group of newcomers for each: their own pi"
    )
    train_samples: Samples = Field("all", description="drawn from the training data")
    test_samples: Samples = Field("all", description="drawn from the test data")

    @property
    def facts(self) -> Facts:
        return clusters.FACTS if self.data == "clusters" else data_sets.FACTS[self.data]

    def skip(self) -> str | None:
        return None if self.data == "clusters" else data_sets.missing(self.data)

    def _read(self, *keys: str) -> list[np.ndarray]:
        if self.data == "clusters":
            return [getattr(clusters.clusters(), key) for key in keys]
        return data_sets.read(self.data, *keys)

    def draw(self, seeds: Sequence[int]) -> Draws:
        """For the workers, and for each group of newcomers: counts by worker and class, and the
        samples in their order. Test samples are counted on from the training data's last."""
        train_labels, test_labels = self._read("train_labels", "test_labels")
        labels = np.concatenate([train_labels, test_labels])
        groups = [(self.agents, self.pi), *((self.newcomers, pi) for pi in self.newcomers_pi)]
        drawn: dict[str, list[np.ndarray]] = {}
        for seed in seeds:
            random = generator(seed, Purpose.ENVIRONMENT, SUBSETS)
            train = _some(random, train_labels, self.train_samples)
            test = len(train_labels) + _some(random, test_labels, self.test_samples)
            sizes = [np.bincount(labels[rows], minlength=self.facts.classes)
                     for rows in (train, test)]  # fmt: skip
            for group, (workers, pi) in enumerate(groups):
                random = generator(seed, Purpose.ENVIRONMENT, WORKERS + group)
                counts = dirichlet_counts(sizes[0], workers, pi, random)
                made = {
                    "train_counts": counts,
                    "train": divided(train, labels[train], counts, random),
                    "test_counts": (tested := following_counts(counts, sizes[1])),
                    "test": divided(test, labels[test], tested, random),
                }
                for key, rows in made.items():
                    drawn.setdefault(f"{key}_{group}", []).append(rows)
        return {key: np.stack(rows) for key, rows in drawn.items()}

    def task(self, draws: Draws) -> DataTask:
        inputs = np.concatenate(self._read("train_inputs", "test_inputs"))
        labels = np.concatenate(self._read("train_labels", "test_labels"))
        used = np.unique(np.concatenate([draws["train_0"].ravel(), draws["test_0"].ravel()]))
        kept = data_sets.normalised(self.facts, inputs[used])

        def split(part: str, group: int) -> Split:
            samples = np.searchsorted(used, draws[f"{part}_{group}"])
            return Split(samples, draws[f"{part}_counts_{group}"])

        workers, *newcomers = (
            DataTask(
                kept, labels[used].astype(np.int64), self.facts.classes,
                split("train", group), split("test", group),
            )
            for group in range(1 + len(self.newcomers_pi))
        )  # fmt: skip
        return replace(workers, newcomers=tuple(newcomers))


def _some(random: np.random.Generator, labels: np.ndarray, wanted: Samples) -> np.ndarray:
    """The places of so many labels, in their order."""
    if wanted == "all":
        return np.arange(len(labels))
    if wanted > len(labels):
        raise PfedrlError(f"{wanted:,} samples are asked for, and the data have {len(labels):,}.")
    return np.sort(random.permutation(len(labels))[:wanted])
