"""What an algorithm shares, and how it is mixed: read off the exchange that it makes."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from pfedrl.algorithms.exchange_only import ExchangeOnly
from pfedrl.stack.exchange import Exchange

NOTHING = "nothing is exchanged"
PARTS = {
    "body": "representation", "*_body": "representation", "*": "everything",
    "global.*": "global model", "global": "global model", "c1": "penalties", "c2": "penalties",
}  # fmt: skip
WHOLE = {"body", "head"}  # of a network
MIXINGS = {
    "ServerAverage": "the server averages",
    "NeighbourAverage": "neighbours on a graph",
    "ByMask": "neighbours on a graph, by mask",
    "ByVisits": "the server averages, by visits",
    "Distillation": "the server distils",
    "ConvergingPeers": "towards peers that do better",
    "LinearCorrections": "the server averages and corrects",
}
PRIVATE = {("body",): "head", ("*_body",): "heads", ("features",): "weights",
           ("global.*",): "personal model", ("global",): "personal model"}  # fmt: skip


class Exchanged(NamedTuple):
    """In words; `shared` is empty where nothing is exchanged."""

    shared: str
    private: str
    mixing: str


def exchanged(kind: Any, configured: Any) -> Exchanged:
    """What an algorithm exchanges as the experiments configure it, or else by its defaults."""
    if issubclass(kind, ExchangeOnly):
        return Exchanged("what the method shares", "", f"the server: {kind.label}")
    given = {"local_steps": 1} if "local_steps" in kind.model_fields else {}
    runnable = configured or kind.model_construct(**given)
    if type(runnable).exchange.__qualname__.startswith("Distilled"):
        return Exchanged("networks", "", MIXINGS["Distillation"])  # it asks for a whole task
    task = SimpleNamespace(agents=4, train=SimpleNamespace(sizes=np.ones((1, 4))))
    made = runnable.exchange(task, [0])
    if type(made) is Exchange:
        return Exchanged("", "everything", NOTHING)
    shares = tuple(getattr(made, "shares", ())) or ("table",)
    mixed = type(getattr(made, "mixing", made)).__name__
    mixing = MIXINGS.get(mixed, f"a rule of its own: {kind.label}")
    every = set(getattr(kind, "parts", ()))
    private = PRIVATE.get(shares) or ", ".join(sorted(every - set(shares)))
    if getattr(kind, "second_head", False):
        private = "second head"
    whole = {part.removeprefix("*_") for part in shares} >= WHOLE
    named = dict.fromkeys(PARTS.get(part, part.removeprefix("*_")) for part in shares)
    return Exchanged("network" if whole else ", ".join(named), private, mixing)
