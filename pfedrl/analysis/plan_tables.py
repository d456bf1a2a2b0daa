"""`pfedrl plan` on the screen, as a page and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from pfedrl.analysis.evidence import FEWEST
from pfedrl.analysis.outcomes import NOT_RUN
from pfedrl.analysis.output import write_text
from pfedrl.analysis.plan import Ledger, OpenClaim, Place, Purchase
from pfedrl.pipeline.costs import disk, duration
from pfedrl.pipeline.listing import show_table

FIRST = 10  # rows that are shown where not all are asked for


class Shown(NamedTuple):
    """A table of the plan."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]


def show(ledger: Ledger, cores: int, every: bool = False) -> None:
    """The summary and the first rows of the first table, or `every` table whole."""
    console = Console(markup=False, highlight=False, soft_wrap=True)
    plan = as_json(ledger, cores)
    found = list(tables(plan))
    for title, columns, rows in found if every else found[:1]:
        show_table(console, title, columns, rows if every else rows[:FIRST])
        console.print()
    console.print(summary(plan))
    if not every:
        console.print("All claims, and the price of more seeds: pfedrl plan --all")


def write_plan(ledger: Ledger, path: Path, cores: int = 2) -> None:
    """The same as a page that a code host shows."""
    plan = as_json(ledger, cores)
    lines = [
        "# Open claims, and the cost of deciding them", "",
        "Written by `make figures`; `pfedrl plan` prints the same tables. The numbers of seeds "
        "assume that new seeds resemble the published ones. Costs are extrapolated from the core "
        "time of the published runs.", "",
        summary(plan), "",
    ]  # fmt: skip
    for title, columns, rows in tables(plan):
        lines += [f"## {title}", "", _row(columns), "|---" * len(columns) + "|"]
        lines += [*map(_row, rows), ""]
    write_text(path, "\n".join(lines))


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def tables(plan: dict[str, Any]) -> Iterator[Shown]:
    """Those that have rows."""
    not_run = Counter(row["experiments"] for row in plan["claims"] if row["verdict"] == NOT_RUN)
    on_cores = "time on " + ("1 core" if plan["cores"] == 1 else f"{plan['cores']} cores")
    found = (
        Shown(
            "Claims that more seeds should decide, cheapest first",
            ("claim", "verdict", "experiments", "seeds", "needed", "core time"),
            [
                (row["claim"], row["verdict"], row["experiments"], row["seeds"], row["needed"],
                 duration(row["core_hours"]))
                for row in plan["claims"] if row["needed"] and not row["cut"]
            ],
        ),
        Shown(
            "Experiments to extend, most claims per core-hour first",
            ("experiments", "seeds in total", "claims", "core time", "claims per core-hour",
             on_cores, "memory per job (MB)", "disk (MB)"),
            [
                (row["experiments"] + (", at the paper's budget" if row["whole"] else ""),
                 row["needed"], str(len(row["claims"])),
                 duration(row["core_hours"]), f"{row['claims_an_hour']:.3g}",
                 duration(row["hours"]), f"{row['memory_mb']:.0f}", f"{row['disk_mb']:.2g}")
                for row in plan["purchases"]
            ],
        ),
        Shown(
            "Claims run at a reduced budget, which need the paper's budget for a full verdict",
            ("experiments", "claims", "seeds", "budget so far",
             f"core time of {FEWEST} seeds at the paper's budget"),
            [
                (row["experiments"], ", ".join(row["claims"]), row["seeds"], row["cut"],
                 duration(row["core_hours"]))
                for row in plan["budgets"]
            ],
        ),
        Shown(
            "Claims that more seeds alone cannot decide",
            ("claim", "verdict", "experiments", "seeds", "reason"),
            [
                (row["claim"], row["verdict"], row["experiments"], row["seeds"], row["reason"])
                for row in plan["claims"]
                if row["reason"] and not row["cut"] and row["verdict"] != NOT_RUN
            ],
        ),
        Shown(
            "Claims that were not run, so their cost is unknown",
            ("experiments", "claims"),
            [(experiments, str(count)) for experiments, count in sorted(not_run.items())],
        ),
    )  # fmt: skip
    return (one for one in found if one.rows)


def summary(plan: dict[str, Any]) -> str:
    """The plan in a sentence or two."""
    total = plan["total"]
    said = (
        f"{total['claims']} of {total['of']} claims are open. "
        f"More seeds should decide {total['decidable']} of them"
    )
    if total["core_hours"] is not None:
        said += (
            f", for {duration(total['core_hours'])} of core time in all "
            f"({duration(total['hours'])} on {plan['cores']} cores, "
            f"{disk(total['disk_mb'])} of disk)"
        )
    said += ". An experiment that several claims share is counted once."
    if total["cut"]:
        said += f" {total['cut']} others need the paper's own budget."
    return said


def as_json(ledger: Ledger, cores: int) -> dict[str, Any]:
    """All that is shown, as plain values; claims by price, those without one last."""
    rows = [_claim(ledger, claim) for claim in ledger.open]
    rows.sort(key=lambda row: (bool(row["reason"]), row["core_hours"] is None,
                               row["core_hours"] or 0.0, row["claim"]))  # fmt: skip
    total = ledger.everything()
    decidable = sum(bool(claim.needs) and not claim.cut for claim in ledger.open)
    return {
        "cores": cores,
        "claims": rows,
        "purchases": [
            {
                "experiments": _names(purchase.upto),
                "whole": purchase.whole,
                "needed": _numbers(purchase.upto.values()),
                "claims": [name(claim) for claim in purchase.claims],
                "claims_an_hour": purchase.claims_an_hour,
                "memory_mb": purchase.memory_mb,
            }
            | _cost(purchase, cores)
            for purchase in ledger.purchases()
        ],
        "budgets": _budgets(ledger),
        "total": {
            "claims": len(rows),
            "of": len(ledger.verdicts),
            "decidable": decidable,
            "cut": sum(bool(claim.cut) for claim in ledger.open),
        }
        | _cost(total, cores),
    }


def _budgets(ledger: Ledger) -> list[dict[str, Any]]:
    """The experiments that were run at a smaller budget than the paper's, the cheapest first."""
    groups: dict[tuple[tuple[Place, ...], str], list[OpenClaim]] = {}
    for claim in ledger.open:
        if claim.cut:
            groups.setdefault((claim.places, claim.cut), []).append(claim)
    found = []
    for (places, cut), claims in groups.items():
        whole = ledger.buy(dict.fromkeys(places, FEWEST))
        found.append({
            "experiments": _names(places),
            "claims": [claim.id + (" (ours)" if claim.ours else "") for claim in claims],
            "seeds": _seeds(ledger, places),
            "cut": cut,
            "core_hours": None if whole is None else whole.core_hours,
        })  # fmt: skip
    return sorted(found, key=lambda row: (row["core_hours"] is None, row["core_hours"] or 0.0))


def _seeds(ledger: Ledger, places: Iterable[Place]) -> str:
    measured = (ledger.measured[place] for place in places if place in ledger.measured)
    return _numbers(len(found.seeds) for found in measured)


def _claim(ledger: Ledger, claim: OpenClaim) -> dict[str, Any]:
    places = claim.needs or claim.places
    purchase = ledger.buy(claim.needs) if claim.needs else None
    return {
        "claim": name(claim),
        "words": claim.words,
        "verdict": claim.verdict,
        "experiments": _names(places),
        "seeds": _seeds(ledger, places),
        "needed": _numbers(claim.needs.values()),
        "core_hours": None if purchase is None else purchase.core_hours,
        "reason": claim.reason,
        "cut": claim.cut,
    }


def _cost(purchase: Purchase | None, cores: int) -> dict[str, float | None]:
    if purchase is None:
        return {"core_hours": None, "hours": None, "disk_mb": None}
    return {
        "core_hours": purchase.core_hours,
        "hours": purchase.seconds(cores) / 3600,
        "disk_mb": purchase.disk_mb,
    }


def name(claim: OpenClaim) -> str:
    return f"{claim.paper}/{claim.id}" + (" (ours)" if claim.ours else "")


def _names(places: Iterable[Place]) -> str:
    return ", ".join(f"{paper}/{experiment}" for paper, experiment in places)


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(f"{value:,}" for value in dict.fromkeys(values))
