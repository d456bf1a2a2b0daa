"""The exchange: selection, mixing and schedule in one object."""

from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pfedrl.core.errors import PfedrlError
from pfedrl.stack.mixing import Array, Mixing, ServerAverage

Parts = MutableMapping[str, Array]  # name of a part to its stack [seed, agent, ...]


@dataclass(frozen=True)
class Exchange:
    """After every so many local steps the shared parts are mixed; the rest stays private."""

    shares: tuple[str, ...]  # patterns of part names, as in fnmatch
    mixing: Mixing
    every: int | None  # local steps between exchanges; None: never

    @property
    def steps(self) -> int:
        """Local steps in a round; agents that never meet are looked at after each step."""
        return self.every or 1

    def selected(self, names: Iterable[str]) -> list[str]:
        chosen = [n for n in names if any(fnmatchcase(n, pattern) for pattern in self.shares)]
        if self.shares and not chosen:
            raise PfedrlError(f"nothing to share: no part matches {', '.join(self.shares)}.")
        return chosen

    def __call__(self, parts: Parts) -> None:
        """Mix the shared parts in place."""
        if self.every is None:
            return
        for name in self.selected(parts):
            parts[name][...] = self.mixing(parts[name])


def never() -> Exchange:
    """Independent agents."""
    return Exchange(shares=(), mixing=ServerAverage(), every=None)


def server_average(every: float, shares: tuple[str, ...] = ("*",)) -> Exchange:
    """The server averages every so many local steps; infinity means never."""
    if every == float("inf"):
        return never()
    return Exchange(shares=shares, mixing=ServerAverage(), every=int(every))
