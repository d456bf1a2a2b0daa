"""Ledgers that tests make up."""

from pfedrl.analysis.plan import Ledger, Measured, OpenClaim, Place

PAPER = "p"


def place(experiment: str) -> Place:
    return (PAPER, experiment)


def measured(seeds: int, *rates: float, block: int = 1000) -> Measured:
    """An experiment with a cell a rate, in processor seconds a seed."""
    cells = {f"cell{number}": rate for number, rate in enumerate(rates)}
    return Measured("laptop", range(seeds), block, cells, memory_mb=100.0, disk_mb=0.5, twins={})


def claim(name: str, reason: str = "", **needs: int) -> OpenClaim:
    """An undecided claim that needs so many seeds of the experiments."""
    places = {place(experiment): seeds for experiment, seeds in needs.items()}
    return OpenClaim(PAPER, name, "words", False, "undecided", tuple(places), places, reason)


def ledger(experiments: dict[str, Measured], *claims: OpenClaim) -> Ledger:
    return Ledger(
        {(PAPER, c.id): c.verdict for c in claims},
        claims,
        {place(name): found for name, found in experiments.items()},
    )
