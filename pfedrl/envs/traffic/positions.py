"""Flow's coordinate along the figure eight, and where vehicles start on it."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.traffic.network import LOOP, Network, junction_length

StartRule = Literal["as_flow", "as_intended"]

BEND = 0.28  # Flow's guess of the inside of the four other junctions
VEHICLE_LENGTH = 5.0
MINIMUM_GAP = 2.5


class Start(NamedTuple):
    """Where a vehicle stands before the first step."""

    edge: str
    position: float
    lane: int


def coordinates(radius: float, lanes: int) -> dict[str, float]:
    """Flow's own table: each edge to the coordinate at which it begins.

    It assumes shorter junctions than SUMO builds, so a lap ends before the network's length.
    """
    ring, cross = 3 * np.pi / 2 * radius, junction_length(lanes)
    table, at = {":bottom_0": 0.0}, BEND
    for edge, length, junction, inside in (
        ("bottom", radius, f":center_{lanes}", cross),
        ("top", radius, ":top_0", BEND),
        ("upper_ring", ring, ":right_0", BEND),
        ("right", radius, ":center_0", cross),
        ("left", radius, ":left_0", BEND),
        ("lower_ring", ring, "", 0.0),
    ):
        table[edge] = at
        if junction:
            table[junction] = at + length
        at += length + inside
    return table


def coordinate(table: Mapping[str, float], edge: str, position: float) -> float:
    """Flow's coordinate of a vehicle; in the four short bends it stands still, as in Flow."""
    if edge.startswith(":") and not edge.startswith(":center_"):
        return table[edge]
    return table[edge] + position


def start_positions(
    network: Network, radius: float, lanes: int, vehicles: int, rule: StartRule
) -> list[Start]:
    """Evenly spaced starts, as Flow computes them or as it meant to; refused where they overlap.

    Whoever falls into a junction starts at the beginning of the next road instead, and the rest
    shift with it. Flow's table has one stray entry (the crossing 'right to left' without the
    roads before it), which makes most of 'bottom' a junction: with `as_flow` a vehicle there
    starts beyond the crossing. Flow also wraps at the roads' length, not at its own table's.
    """
    starts = dict(coordinates(radius, lanes))
    wrap = starts["lower_ring"] + network.lengths["lower_ring"]
    if rule == "as_flow":
        starts["stray"] = junction_length(lanes) + 3 * BEND
        wrap = network.road_length
    table = sorted(starts.items(), key=lambda entry: entry[1])
    spacing = lanes * network.road_length / vehicles
    found: list[Start] = []
    at = 0.0
    while len(found) < vehicles:
        index = max(i for i, (_, begin) in enumerate(table) if begin <= at)
        while table[index][0] not in LOOP:
            index += 1
            at = table[index][1]
        edge, begin = table[index]
        side_by_side = min(lanes, vehicles - len(found))
        found += [Start(edge, at - begin, lane) for lane in range(side_by_side)]
        at = (at + spacing) % wrap
    _check_gaps(network, found, rule)
    return found


def _check_gaps(network: Network, starts: list[Start], rule: StartRule) -> None:
    """Refuse starts that leave a vehicle no room behind the next one."""
    begins, at = {}, 0.0
    for edge in network.loop():
        begins[edge] = at
        at += network.lengths[edge]
    for lane in sorted({start.lane for start in starts}):
        own = sorted(begins[s.edge] + s.position for s in starts if s.lane == lane)
        gaps = np.diff([*own, own[0] + network.length])
        if gaps.min() < VEHICLE_LENGTH + MINIMUM_GAP:
            evenly = ", or start them as_intended" if rule == "as_flow" else ""
            raise PfedrlError(
                f"{len(starts)} vehicles do not fit: started {rule}, two of them are "
                f"{max(gaps.min(), 0):.1f} m apart on a lap of {network.length:.1f} m, and a "
                f"vehicle with its gap needs {VEHICLE_LENGTH + MINIMUM_GAP:g} m. "
                f"Use fewer vehicles, a larger radius or more lanes{evenly}."
            )
