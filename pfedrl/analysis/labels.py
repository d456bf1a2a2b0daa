"""What algorithms and cells are called where people read: labels, with settings in words."""

import math
import string
from collections.abc import Mapping
from typing import Any

from pfedrl.analysis.summaries import Summary
from pfedrl.analysis.tables import sweep_text
from pfedrl.core.errors import unknown
from pfedrl.core.registry import load_runnable
from pfedrl.pipeline.paper import Experiment

LETTERS = {"pi": "π", "kappa": "κ"}  # swept keys that papers write so


def filled(label: str, settings: Mapping[str, Any]) -> str:
    """A label with the settings that it names in braces: 'E = {local_steps}'."""
    for _, name, _, _ in string.Formatter().parse(label):
        if name is not None and name not in settings:
            raise unknown("setting", name, settings, f"label '{label}'")
    return label.format_map(settings)


def variant_label(spec: Experiment, variant: str, ran: Mapping[str, Any]) -> str:
    """A variant by its experiment's labels, or as its algorithm; `ran` are the settings it had."""
    own = spec.labels.get(variant)
    return filled(own, ran) if own else str(load_runnable(ran["name"]).label)


def cell_label(
    spec: Experiment, variant: str, ran: Mapping[str, Any], swept: Mapping[str, float]
) -> str:
    """A cell by its variant's label and what is swept of its algorithm; where several variants have
    one algorithm and no label of their own, also by what tells them apart."""
    label = variant_label(spec, variant, ran)
    given = {name: spec.settings | own for name, own in spec.variants.items()}
    alike = [own for name, own in given.items() if own.get("algorithm", name) == ran["name"]]
    if len(alike) > 1 and variant not in spec.labels:
        name = variant.removeprefix(ran["name"].rpartition("/")[2]).strip("_")
        others = [own for own in alike if own is not given[variant]]
        told_apart = own_name(name, given[variant], others, ran)
        label += f", {told_apart}" if told_apart else ""
    for key, value in swept.items():
        if not math.isnan(value):
            label += f", {swept_name(key)} {sweep_text(value)}"
    return label


def cell_name(spec: Experiment, summary: Summary, cell: str) -> str:
    """A cell of a summary with everything that is swept: 'QAvg, κ 0.2'."""
    facts = summary.facts["cells"][cell]
    row = summary.statistics[summary.statistics["cell"] == cell].iloc[0]
    swept = {key: float(row[key]) for key in summary.facts["sweeps"]}
    return cell_label(spec, facts["variant"], facts["settings"]["algorithm"], swept)


def swept_name(key: str) -> str:
    return LETTERS.get(key, key.replace("_", " "))


def own_name(
    name: str, given: Mapping[str, Any], others: list[dict[str, Any]], ran: Mapping[str, Any]
) -> str:
    """What tells a variant from others of its algorithm: its name, or, where that is a number of
    its settings that they have not, the one that was run; a scale may have cut it."""
    keys = [
        key
        for key, value in given.items()
        if str(value) == name and any(other.get(key) != value for other in others)
    ]
    if not name.isdigit() or len(keys) != 1 or keys[0] not in ran:
        return name.replace("_", " ")
    return f"{keys[0].replace('_', ' ')} {ran[keys[0]]}"
