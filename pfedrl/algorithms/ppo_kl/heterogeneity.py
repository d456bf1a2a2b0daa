"""The level of heterogeneity (FedKL, Definition I) from experience: D, A, B and G of every agent.

States and actions are put in bins, as in the authors' code: filtered observations rounded to
integers, actions to one decimal. D_n(s) is the discounted share of time that agent n spends in s,
A_n(s, a) the mean of its advantages there. Pairs that only others saw get A_n from a regression of
agent n's own advantages. With M = mean_k D_k A_k,
    potential     ||D_n A_n||_F
    heterogeneity ||D_n B_n||_F = ||M - D_n A_n||_F
    G             their difference (Section V.B; D_n is not inverted).

A finite sample makes both norms too large: clients that are all the same, for whom Definition I
gives 0, show ||D B|| well above it. The floor is the ||D B|| of clients between whom whole episodes
have been shuffled. Independent noise adds in squares, so squares are what it is subtracted from;
||D A||^2 carries N/(N-1) times the noise of ||D B||^2, from which the mean took its part.
"""

from collections.abc import Sequence

import numpy as np

from pfedrl.envs.experience import Experience

ACTION_BINS = 10.0  # a unit of action
RIDGE = 1e-4  # relative to the number of samples


def heterogeneity(
    lived: Experience,
    advantages: np.ndarray,
    discount: float,
    horizon: int,
    shuffles: Sequence[np.random.Generator],
) -> dict[str, np.ndarray]:
    """Levels [seed, agent] from experience whose members are the agents of each seed in turn.

    `shuffles` has a generator for each seed, with which `floor` is found; `horizon` is the length
    of an episode.
    """
    states = np.rint(lived.observations).astype(np.int64)
    actions = np.rint(lived.actions * ACTION_BINS).astype(np.int64)
    weights = discount ** steps_in_episode(lived.ends)
    rows = np.split(np.arange(len(states)), len(shuffles))
    found = []
    for r, random in zip(rows, shuffles, strict=True):
        sample = states[r], actions[r], weights[r], advantages[r]
        alike = levels(*shuffled(sample, horizon, random))
        found.append(levels(*sample) | {"floor": alike["heterogeneity"]})
    return {name: np.stack([level[name] for level in found]) for name in found[0]}


def shuffled(
    sample: Sequence[np.ndarray], block: int, random: np.random.Generator
) -> list[np.ndarray]:
    """Arrays [agent, T, ...] whose blocks of so many steps have been dealt anew to the agents."""
    agents, steps = sample[0].shape[:2]
    order = random.permutation(agents * (steps // block))
    dealt = []
    for values in sample:
        blocks = values.reshape(len(order), block, *values.shape[2:])
        dealt.append(blocks[order].reshape(values.shape))
    return dealt


def above_floor(levels: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Potential, heterogeneity and G without sampling noise, one a seed: roots of mean squares.

    Agents are pooled before the root is taken, for a root of noise about 0 is never 0.
    """
    potential, distance, noise = (
        (levels[name] ** 2).mean(axis=-1) for name in ("potential", "heterogeneity", "floor")
    )
    agents = levels["floor"].shape[-1]
    whole_noise = noise * agents / max(agents - 1, 1)
    potential = np.sqrt(np.maximum(potential - whole_noise, 0.0))
    distance = np.sqrt(np.maximum(distance - noise, 0.0))
    return {
        "potential_above_floor": potential,
        "heterogeneity_above_floor": distance,
        "G_above_floor": potential - distance,
    }


def steps_in_episode(ends: np.ndarray) -> np.ndarray:
    """How many steps of its episode came before each step: [A, T]."""
    time = np.arange(ends.shape[1])
    starts = np.zeros_like(ends)
    starts[:, 0], starts[:, 1:] = True, ends[:, :-1]
    return time - np.maximum.accumulate(np.where(starts, time, 0), axis=1)


def levels(
    states: np.ndarray, actions: np.ndarray, weights: np.ndarray, advantages: np.ndarray
) -> dict[str, np.ndarray]:
    """Levels [agent] of one seed, from bins [agent, T, size], weights and advantages [agent, T].

    D A is sparse: an agent has entries only for pairs whose state it visited.
    """
    agents, steps, _ = states.shape
    agent = np.repeat(np.arange(agents), steps)
    bins = np.concatenate([states, actions], axis=2).reshape(agents * steps, -1)
    state = numbered(bins[:, : states.shape[2]])
    pair, example = numbered(bins, with_example=True)
    pairs, state_of_pair = len(example), state[example]

    # D: each agent's discounted share of time in the states it visited
    visits, visit = np.unique(agent * (state.max() + 1) + state, return_inverse=True)
    share = np.bincount(visit, weights.reshape(-1)).astype(np.float64)
    visitor, visited = np.divmod(visits, state.max() + 1)
    share /= np.bincount(visitor, share)[visitor]

    # the entries: every visited state with every pair of that state that anyone saw
    by_state = np.argsort(state_of_pair, kind="stable")
    first = np.searchsorted(state_of_pair[by_state], visited)
    many = np.bincount(state_of_pair)[visited]
    within = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    entry_pair = by_state[np.repeat(first, many) + within]
    entry_agent = np.repeat(visitor, many)

    # A: the mean advantage where the agent saw the pair, its regression's where it did not
    seen, own = np.unique(agent * pairs + pair, return_inverse=True)
    observed = np.bincount(own, advantages.reshape(-1)) / np.bincount(own)
    features = quadratic(bins[example])
    coefficients = regressions(features[pair].reshape(agents, steps, -1), advantages)
    entry = entry_agent * pairs + entry_pair
    at = np.minimum(np.searchsorted(seen, entry), len(seen) - 1)
    value = observed[at]
    missing = np.flatnonzero(seen[at] != entry)
    bounds = np.searchsorted(entry_agent[missing], np.arange(agents + 1))
    for n in range(agents):
        chosen = missing[bounds[n] : bounds[n + 1]]
        value[chosen] = features[entry_pair[chosen]] @ coefficients[n]
    value *= np.repeat(share, many)

    mean = np.bincount(entry_pair, value, minlength=pairs) / agents
    potential = np.bincount(entry_agent, value**2, minlength=agents)
    shared = np.bincount(entry_agent, value * mean[entry_pair], minlength=agents)
    distance = np.maximum((mean**2).sum() - 2 * shared + potential, 0.0)
    norms = np.sqrt(potential), np.sqrt(distance)
    return {"potential": norms[0], "heterogeneity": norms[1], "G": norms[0] - norms[1]}


def numbered(rows: np.ndarray, with_example: bool = False):
    """Equal rows get equal numbers from 0 on; and, if asked, where each number first occurs."""
    multipliers = np.random.default_rng(0).integers(1, 2**62, rows.shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        hashed = rows @ multipliers  # modulo 2^64: two rows of a million collide once in 10^7
    _, example, number = np.unique(hashed, return_index=True, return_inverse=True)
    return (number, example) if with_example else number


def quadratic(bins: np.ndarray) -> np.ndarray:
    """1, the bins, and their products two by two, as regressors."""
    scaled = (bins / np.maximum(abs(bins).max(axis=0), 1)).astype(np.float32)
    blocks = [np.ones((len(bins), 1), np.float32), scaled]
    blocks += [scaled[:, i : i + 1] * scaled[:, i:] for i in range(bins.shape[1])]
    return np.concatenate(blocks, axis=1)


def regressions(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Ridge regressions of all agents at once: coefficients [agent, feature]."""
    gram = (features.swapaxes(1, 2) @ features).astype(np.float64)
    gram += RIDGE * features.shape[1] * np.eye(features.shape[2])
    return np.linalg.solve(gram, features.swapaxes(1, 2) @ targets[..., None])[..., 0]
