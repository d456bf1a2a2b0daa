"""What a run measures, kept as arrays and laid out as long-form columns at the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pfedrl.core.measurement import Measurement

ALL_AGENTS = -1  # the agent column of a value that belongs to no single agent


class Recorder:
    """Measurements of one run: (axis, at, metric) to a value a seed, or a seed and agent."""

    def __init__(self, seeds: Sequence[int]):
        self.seeds = np.asarray(seeds, dtype=np.int64)
        self._rows: list[Measurement] = []

    def add(
        self,
        axis: str,
        at: int,
        metric: str,
        values: np.ndarray,
        rows: np.ndarray | None = None,
    ) -> None:
        count = len(self.seeds) if rows is None else len(rows)
        if values.shape[0] != count or values.ndim > 2:
            raise ValueError(f"{metric}: {values.shape} is not [seed] or [seed, agent]")
        self._rows.append(Measurement(axis, at, metric, np.array(values, dtype=np.float64), rows))

    def state(self) -> list[Any]:
        return [tuple(row) for row in self._rows]

    def restore(self, state: list[Any]) -> None:
        self._rows = [Measurement(*row) for row in state]

    def columns(self) -> dict[str, np.ndarray]:
        """seed, agent, axis, at, metric and value, one row a measurement."""
        parts: dict[str, list[np.ndarray]] = {
            key: [] for key in ("seed", "agent", "axis", "at", "metric", "value")
        }
        for axis, at, metric, values, rows in self._rows:
            seeds = self.seeds if rows is None else self.seeds[rows]
            agents = values.shape[1] if values.ndim == 2 else 1
            own = np.arange(agents) if values.ndim == 2 else np.array([ALL_AGENTS])
            size = values.size
            parts["seed"].append(np.repeat(seeds, agents))
            parts["agent"].append(np.tile(own, len(seeds)))
            parts["axis"].append(np.full(size, axis, dtype=object))
            parts["at"].append(np.full(size, at, dtype=np.int64))
            parts["metric"].append(np.full(size, metric, dtype=object))
            parts["value"].append(values.reshape(-1))
        return {key: np.concatenate(chunks) for key, chunks in parts.items()}
