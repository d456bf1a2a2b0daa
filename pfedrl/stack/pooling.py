"""Experience that is pooled: after every step each agent's transition goes to everybody."""

import numpy as np

from pfedrl.stack.exchange import Exchange, Parts, bytes_each, stack_shape

NUMBERS, CODES = "transition", "transition_codes"  # of the last step, [seed, agent, number]
POOL = "pool_"  # before these names: what arrived, [seed, agent, sender, number]


class Pooling(Exchange):
    """The last transitions of all agents are given to each of them."""

    def __call__(self, parts: Parts, round: int) -> np.ndarray:
        for name in (NUMBERS, CODES):
            parts[POOL + name][...] = parts[name][:, None]
        return np.full(stack_shape(parts), float(bytes_each(parts, (NUMBERS, CODES))))
