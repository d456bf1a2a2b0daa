"""Times to a target, some of which a run ended too early to see."""

from dataclasses import dataclass, replace

import numpy as np

from pfedrl.analysis.summaries import Summary
from pfedrl.core.recorder import ALL_AGENTS


@dataclass(frozen=True)
class Times:
    """Values by seed. Where one was not reached, it is the time at which the run ended."""

    values: np.ndarray
    reached: np.ndarray  # True everywhere for what is not a time
    ends: np.ndarray  # when runs ended; infinite where that is not known

    def restricted(self, ends: np.ndarray) -> "Times":
        """Times up to another run's end as well, so that means of both are of the same span."""
        return replace(
            self,
            values=np.minimum(self.values, ends),
            reached=self.reached & (self.values <= ends),
        )


def plain(values: np.ndarray) -> Times:
    """What is no time, or always reached."""
    return Times(values, np.ones(values.shape, bool), np.full(values.shape, np.inf))


def times(
    summary: Summary,
    cell: str,
    metric: str,
    reached: str | None,
    ends: str | None,
    agent: int | None = None,
) -> Times:
    """A metric by seed; `reached`, `ends` and `agent` as a claim gives them for times."""
    which = ALL_AGENTS if agent is None else agent - 1
    values = summary.final(cell, metric, which)
    if reached is not None:
        return replace(plain(values), reached=summary.final(cell, reached, which) != 0)
    if ends is None:
        return plain(values)
    last = summary.last(cell, metric)
    if ends == last["axis"]:
        end = np.full(values.shape, float(last["at"]))
        return Times(values, values <= end, end)
    end = summary.final(cell, ends, which)  # an agent's own time ends with its own run
    return Times(values, values < end, end)
