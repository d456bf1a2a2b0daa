"""Evidence as a bet: what 1 becomes when it is staked, seed by seed, against a claim's opposite.

If the claim is false, such an e-value exceeds 100 with a probability of at most 1%, whenever one
stops, looks, or adds seeds. Two questions are asked, and neither answers the other:

- `most_seeds`: does the comparison hold on more than half of the seeds? A seed is a coin; ties are
  left out. The bet is a mixture over win rates above one half, by Jeffreys' prior.
- `on_average`: is the mean over seeds above zero? It needs differences with a known range.
"""

import math

import numpy as np

DECIDES = 100.0
POINTS = 10.0
MOST = 1e12  # e-values are not told apart beyond this
STAKES = 0.999 * 0.5 ** np.arange(12)  # shares of the range that are staked, mixed evenly


def most_seeds(won: int, lost: int) -> float:
    """The e-value that a seed wins with more than half of the probability."""
    from scipy import special  # slow to import, and a page needs no test

    tail = special.betainc(lost + 0.5, won + 0.5, 0.5)
    if tail <= 0:
        return 0.0
    log = (won + lost + 1) * math.log(2) + float(special.betaln(won + 0.5, lost + 0.5))
    return _capped(log - math.log(math.pi) + math.log(tail))


def on_average(differences: np.ndarray, reach: float) -> float:
    """The e-value that the mean is above zero; what lies beyond the reach counts as the reach."""
    shares = np.clip(differences / reach, -1.0, 1.0)
    logs = np.array([np.log1p(stake * shares).sum() for stake in STAKES])
    return _capped(float(np.logaddexp.reduce(logs) - math.log(len(STAKES))))


def _capped(log: float) -> float:
    return math.exp(min(log, math.log(MOST)))


def fewest() -> int:
    """Seeds below which no comparison of most seeds is decided, even if all agree."""
    return next(n for n in range(1, 100) if most_seeds(n, 0) >= DECIDES)


def chance(won: int, lost: int, more: int, needed: float = DECIDES) -> float:
    """The chance that the e-value for reaches a number with so many more seeds.

    The win rate of a new seed has the posterior of Jeffreys' prior, so that 4-0 is not taken for
    certain.
    """
    from scipy import stats

    wins = np.arange(more + 1)
    reached = [most_seeds(won + k, lost + more - k) >= needed for k in range(more + 1)]
    return float(stats.betabinom(more, won + 0.5, lost + 0.5).pmf(wins)[reached].sum())
