"""The test behind every verdict on seeds: valid whenever one stops, and looks, and goes on.

A verdict says that a mean over seeds lies above (or below) a number. Three things can go wrong.

- Looking often. Seeds are looked at when there are 5, 10, 20, 40, ... of them, and look k spends
  LEVEL / 2^(k+1) of the level, so that all looks together spend no more than LEVEL. A p value here
  is already multiplied by 2^(k+1): it is compared with LEVEL whatever the number of seeds. Seeds
  between two looks wait for the next one.
- Seeds unlike those seen. Where one run in four fails to learn, ten seeds miss that kind one time
  in eighteen, and then agree with one another: no test of a mean that trusts what it has seen can
  be right. So one unseen seed is added that lies UNSEEN times as far on the wrong side as the
  furthest seed lies on any. It is what makes a t test hold for skewed and two-humped differences
  (`pfedrl level` shows it), and why fewer than 20 seeds decide nothing.
- One seed that carries the verdict: whoever judges drops each seed in turn (`worst_without_one`).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

LEVEL = 0.01  # of a claim: how often its verdict may be wrong
FIRST_LOOK = 5  # seeds
UNSEEN = 2.0
FEWEST = 20  # seeds below which no difference of means is decided, however clear
MANY = 160  # seeds beyond which only the outermost are dropped in turn
LAST_LOOK = 13  # 40,960 seeds: more is no reasonable price


def look(seeds: int) -> int | None:
    """Which look so many seeds allow: 0 at 5, 1 at 10, 2 at 20; None where there is none yet."""
    return None if seeds < FIRST_LOOK else int(math.log2(seeds // FIRST_LOOK))


def seeds_at(look: int) -> int:
    return FIRST_LOOK * 2**look


def next_look(seeds: int) -> int:
    """How many seeds there are when they are looked at next."""
    last = look(seeds)
    return seeds_at(0 if last is None else last + 1)


def level_at(look: int) -> float:
    """What of the level a look spends."""
    return LEVEL / 2.0 ** (look + 1)


def spent(p_value: np.ndarray | float, look: int) -> np.ndarray:
    """A look's p value as one that holds for all looks."""
    return np.minimum(p_value * (LEVEL / level_at(look)), 1.0)


def p_above(
    values: np.ndarray, bound: float = 0.0, error: float = 0.0, at: int | None = None
) -> np.ndarray:
    """P value that the mean over seeds (the last axis) exceeds a bound.

    `error` is the standard error of the bound, where it was measured too. `at` is the look, where
    seeds have been taken out since.
    """
    from scipy import stats

    at = look(values.shape[-1]) if at is None else at
    if at is None:
        return np.ones(values.shape[:-1])
    excess = values[..., : seeds_at(at)] - bound
    furthest = np.abs(excess).max(axis=-1, keepdims=True)
    excess = np.concatenate([excess, -UNSEEN * furthest], axis=-1)
    count = excess.shape[-1]
    spread = np.hypot(excess.std(axis=-1, ddof=1) / np.sqrt(count), error)
    with np.errstate(invalid="ignore"):  # all zero: nothing exceeds anything
        p_value = stats.t.sf(excess.mean(axis=-1) / spread, count - 1)
    return spent(np.where(spread > 0, p_value, 1.0), at)


def p_within(values: np.ndarray, margin: float, error: float = 0.0, at: int | None = None):
    """P value of two one-sided tests that the mean lies between minus and plus the margin."""
    return np.maximum(
        p_above(values, -margin, error, at=at), p_above(-values, -margin, error, at=at)
    )


def p_share(successes: np.ndarray, share: float, at: int | None = None) -> tuple[float, float]:
    """Exact binomial p values that the share of ones exceeds a number, and that it falls short."""
    from scipy import stats

    at = look(len(successes)) if at is None else at
    if at is None:
        return 1.0, 1.0
    seen = successes[: seeds_at(at)]
    count, ones = len(seen), int(seen.sum())
    above, below = stats.binom.sf(ones - 1, count, share), stats.binom.cdf(ones, count, share)
    return float(spent(above, at)), float(spent(below, at))


def worst_without_one(
    samples: Sequence[np.ndarray], p_value: Callable[[list[np.ndarray], int], float]
) -> float:
    """The largest p value when any one seed is left out of all samples; 1 before the first look."""
    at = look(len(samples[0]))
    if at is None:
        return 1.0
    seen = [sample[: seeds_at(at)] for sample in samples]
    chosen: set[int] = set(range(len(seen[0])))
    if len(chosen) > MANY:
        orders = [np.argsort(sample, kind="stable") for sample in seen]
        chosen = {int(i) for order in orders for i in (*order[:5], *order[-5:])}
    return max(p_value([np.delete(s, i) for s in seen], at) for i in sorted(chosen))


def seeds_needed(
    mean: float,
    spread: float,
    have: int = 0,
    times: int = 1,
    bound_error: float = 0.0,
    furthest: float = 0.0,
) -> int | None:
    """Seeds at which a mean so far from its bound, with that spread, would be decided.

    More than those at which it was looked at last; None where it would take more than 40,960. The
    furthest seed is taken to be as far off as the furthest of so many normal ones, or, where one
    seen lies `furthest` from the mean, as that grows in an exponential tail: by the logarithm of
    the seeds. `times` is how often the p value counts, where it is one of several; `bound_error`
    the bound's standard error, which no seeds of ours make smaller.
    """
    from scipy import stats

    distance = abs(mean)
    if not distance > 0:
        return None
    last = look(have)
    for at in range(0 if last is None else last + 1, LAST_LOOK + 1):
        seeds = seeds_at(at)
        tail = furthest * math.log(2 * seeds) / math.log(2 * max(have, 1))
        reach = UNSEEN * (distance + max(spread * stats.norm.isf(0.5 / seeds), tail))
        centre = (seeds * distance - reach) / (seeds + 1)
        squares = (seeds - 1) * spread**2 + seeds / (seeds + 1) * (distance + reach) ** 2
        error = math.hypot(math.sqrt(squares / seeds / (seeds + 1)), bound_error)
        if centre > 0 and times * spent(stats.t.sf(centre / error, seeds), at) < LEVEL:
            return seeds
    return None
