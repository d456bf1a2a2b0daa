"""Clusters: labelled data that need no file. Each class is a Gaussian in a few hidden directions,
seen through a map that all classes share."""

import numpy as np

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.data.data_sets import Arrays, Facts

FACTS = Facts("clusters", (20,), 5)
HIDDEN, TRAIN, TEST = 4, 2000, 1000
SPREAD = 0.7  # of a class around its centre; centres are about 2 apart


def clusters() -> Arrays:
    """The same for all seeds, as a data set is."""
    random = generator(0, Purpose.ENVIRONMENT)
    centres = random.standard_normal((FACTS.classes, HIDDEN))
    seen_through = random.standard_normal((HIDDEN, *FACTS.shape))
    parts: list[np.ndarray] = []
    for count in (TRAIN, TEST):
        labels = random.permutation(np.arange(count) % FACTS.classes)
        hidden = centres[labels] + SPREAD * random.standard_normal((count, HIDDEN))
        noise = 0.1 * random.standard_normal((count, *FACTS.shape))
        # no matrix product, whose rounding would depend on the library that makes it
        inputs = np.abs((hidden[:, :, None] * seen_through).sum(axis=1)) + noise
        parts += [inputs.astype(np.float32), labels.astype(np.uint8)]
    return Arrays(*parts)
