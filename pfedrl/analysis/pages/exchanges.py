"""What an algorithm shares, and how it is mixed: read off the exchange that it makes."""

from types import SimpleNamespace
from typing import Any, NamedTuple, get_args

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
    "CommonDirection": "the server averages and corrects",
}
PRIVATE = {  # what the shared parts leave
    ("body",): "head", ("*_body",): "heads", ("features",): "weights",
    ("global.*",): "personal model", ("global",): "personal model",
    ("policy", "c1", "c2"): "critic",
}  # fmt: skip


class Exchanged(NamedTuple):
    """In words; `shared` is empty where nothing is exchanged."""

    shared: str
    private: str
    mixing: str


OTHERS = {  # exchanges of something else than an agent's parameters
    "Pooling": Exchanged("transitions", "", "everybody receives all of them"),
    "VisitRatios": Exchanged("steps of a common table", "own table", "the server, by visits"),
}


def exchanged(kind: Any, configured: Any) -> Exchanged:
    """What an algorithm exchanges as the experiments configure it, or else by its defaults."""
    own = f"a rule of its own: {kind.label}"
    if issubclass(kind, ExchangeOnly):
        return Exchanged("what the method shares", "", f"the server: {kind.label}")
    task = SimpleNamespace(agents=4, train=SimpleNamespace(sizes=np.ones((1, 4))))
    try:
        made = (configured or _plainest(kind)).exchange(task, [0])
    except AttributeError:  # it asks more of a task than its number of agents
        if kind.exchange.__qualname__.startswith("Distilled"):
            return Exchanged("networks", "", MIXINGS["Distillation"])
        return Exchanged("see its code", "", own)
    if type(made) is Exchange:
        return Exchanged("", "everything", NOTHING)
    if type(made).__name__ in OTHERS:
        return OTHERS[type(made).__name__]
    given = getattr(made, "shares", None)
    shares = given if isinstance(given, tuple) else ("table",)
    mixing = MIXINGS.get(type(getattr(made, "mixing", made)).__name__, own)
    every = set(getattr(kind, "parts", ()))
    private = PRIVATE.get(shares) or ", ".join(sorted(every - set(shares)))
    if getattr(kind, "second_head", False):
        private = "second head"
    whole = {part.removeprefix("*_") for part in shares} >= WHOLE
    named = dict.fromkeys(PARTS.get(part, part.removeprefix("*_")) for part in shares)
    return Exchanged("network" if whole else ", ".join(named), private, mixing)


def _plainest(kind: Any) -> Any:
    """An algorithm with its defaults, and the first choice or 1 where a setting has none."""
    required = {name: field for name, field in kind.model_fields.items() if field.is_required()}
    given = {name: (*get_args(field.annotation), 1)[0] for name, field in required.items()}
    return kind.model_construct(**given)
