"""Random numbers: each (seed, purpose, agent) has its own generator, in any block, on any core."""

from enum import IntEnum

import numpy as np


class Purpose(IntEnum):
    """What a stream of random numbers is for; streams of different purposes never meet."""

    ENVIRONMENT = 0  # draws that make a family's members
    INITIAL = 1  # starting parameters
    AGENT = 2  # an agent's own experience
    EVALUATION = 3
    INSTANCE = 4  # instances on which theory is checked
    SERVER = 5  # what the server draws: selections, states to distil on


def generator(seed: int, purpose: Purpose, *index: int) -> np.random.Generator:
    """The generator of a seed, a purpose and, say, an agent."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(purpose), *index))
    return np.random.Generator(np.random.PCG64(sequence))
