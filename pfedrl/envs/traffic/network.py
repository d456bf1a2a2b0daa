"""The figure-eight road network, built with netconvert and checked (Flow's FigureEightNetwork)."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.traffic import sumo

LOOP = ("bottom", "top", "upper_ring", "right", "left", "lower_ring")  # in driving order
CURVE_POINTS = 40  # Flow's resolution of a ring


@dataclass(frozen=True)
class Network:
    """A built network: its file, and what the simulation and the drawings need to know of it."""

    text: str  # the .net.xml file
    lengths: dict[str, float]  # of roads and of the internal edges inside junctions
    shapes: dict[str, np.ndarray]  # the first lane's points [point, xy]
    successor: dict[str, str]  # the edge that follows each edge, internal ones included

    def loop(self) -> list[str]:
        """All edges in driving order, from the start of 'bottom'."""
        edges = [LOOP[0]]
        while (edge := self.successor[edges[-1]]) != LOOP[0]:
            edges.append(edge)
        return edges

    def begins(self) -> np.ndarray:
        """How far along a lap each edge of the loop begins."""
        lengths = [self.lengths[edge] for edge in self.loop()]
        return np.cumsum([0.0, *lengths[:-1]])

    def places(self, edges: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Where vehicles are [..., xy], given their edges' places in the loop and positions."""
        found = np.empty((*np.shape(edges), 2))
        for index, edge in enumerate(self.loop()):
            here = edges == index
            points = self.shapes[edge]
            steps = np.hypot(*np.diff(points, axis=0).T)
            along = np.concatenate([[0.0], np.cumsum(steps)])
            # SUMO's length of an edge is what we asked for, not what its shape measures
            at = positions[here] / self.lengths[edge] * along[-1]
            for axis in (0, 1):
                found[here, axis] = np.interp(at, along, points[:, axis])
        return found

    @property
    def length(self) -> float:
        """One lap."""
        return sum(self.lengths[edge] for edge in self.loop())

    @property
    def road_length(self) -> float:
        """One lap without the junctions' insides."""
        return sum(self.lengths[edge] for edge in LOOP)


def build_network(radius: float, lanes: int, speed_limit: float) -> Network:
    """Describe the network to netconvert and read back what it made of it."""
    netconvert = sumo.program("netconvert")
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for kind, root in _descriptions(radius, lanes, speed_limit).items():
            files[kind] = Path(folder, f"figure_eight.{kind}.xml")
            ElementTree.ElementTree(root).write(files[kind])
        output = Path(folder, "figure_eight.net.xml")
        sumo.run(
            netconvert,
            "--node-files", str(files["nod"]),
            "--edge-files", str(files["edg"]),
            "--type-files", str(files["typ"]),
            "--connection-files", str(files["con"]),
            "--output-file", str(output),
            "--no-turnarounds", "true",
            "--no-internal-links", "false",
        )  # fmt: skip
        # parsing drops the comment with the time of building, so the same settings give one text
        text = ElementTree.tostring(ElementTree.parse(output).getroot(), encoding="unicode")
    network = read_network(text)
    check_network(network, radius, lanes)
    return network


def _descriptions(radius: float, lanes: int, speed_limit: float) -> dict[str, ElementTree.Element]:
    """The nodes, edges, edge type and connections, as netconvert reads them."""
    nodes = ElementTree.Element("nodes")
    places = {"center": (0, 0), "right": (1, 0), "top": (0, 1), "left": (-1, 0), "bottom": (0, -1)}
    for name, (x, y) in places.items():
        _add(nodes, "node", id=name, x=x * radius, y=y * radius, type="priority")
    nodes[0].set("radius", f"{junction_length(lanes) / 2}")

    turn = np.linspace(0, 3 * np.pi / 2, CURVE_POINTS)
    upper = radius * np.stack([1 - np.cos(turn), 1 + np.sin(turn)], axis=1)
    turn = np.linspace(np.pi / 2, 2 * np.pi, CURVE_POINTS)
    lower = radius * np.stack([np.cos(turn) - 1, np.sin(turn) - 1], axis=1)
    ring = 3 * np.pi / 2 * radius
    edges = ElementTree.Element("edges")
    straight = {"type": "road", "length": radius}
    _add(edges, "edge", id="bottom", start="bottom", to="center", priority=78, **straight)
    _add(edges, "edge", id="top", start="center", to="top", priority=78, **straight)
    _add(edges, "edge", id="right", start="right", to="center", priority=46, **straight)
    _add(edges, "edge", id="left", start="center", to="left", priority=46, **straight)
    curved = {"type": "road", "length": ring}
    _add(edges, "edge", id="upper_ring", start="top", to="right", shape=_points(upper), **curved)
    _add(edges, "edge", id="lower_ring", start="left", to="bottom", shape=_points(lower), **curved)

    types = ElementTree.Element("types")
    _add(types, "type", id="road", numLanes=lanes, speed=speed_limit)
    connections = ElementTree.Element("connections")
    for lane in range(lanes):
        _add(connections, "connection", start="bottom", to="top", fromLane=lane, toLane=lane)
        _add(connections, "connection", start="right", to="left", fromLane=lane, toLane=lane)
    return {"nod": nodes, "edg": edges, "typ": types, "con": connections}


def junction_length(lanes: int) -> float:
    """Flow's length of the crossing; it also sets the junction's radius."""
    return 2.9 + 3.3 * lanes


def _add(parent: ElementTree.Element, tag: str, **attributes: object) -> None:
    """An element; 'start' stands for SUMO's attribute 'from', a reserved word."""
    named = {"from" if key == "start" else key: str(value) for key, value in attributes.items()}
    ElementTree.SubElement(parent, tag, named)


def _points(points: np.ndarray) -> str:
    return " ".join(f"{x:.2f},{y:.2f}" for x, y in points)


def read_network(text: str) -> Network:
    """The network of a .net.xml file's text."""
    root = ElementTree.fromstring(text)
    lanes = {edge.get("id", ""): edge.find("lane") for edge in root.iter("edge")}
    first_lanes = {name: lane for name, lane in lanes.items() if lane is not None}
    lengths = {name: float(lane.get("length", "nan")) for name, lane in first_lanes.items()}
    location = root.find("location")
    shift = "0,0" if location is None else location.get("netOffset", "0,0")
    origin = np.array(shift.split(","), float)  # netconvert moves the network out of the negative
    shapes = {
        name: np.array([point.split(",")[:2] for point in lane.get("shape", "").split()], float)
        - origin
        for name, lane in first_lanes.items()
    }
    successor = {}
    for connection in root.iter("connection"):
        via = connection.get("via")  # an internal lane: the edge's name, then the lane's number
        onward = via.rsplit("_", 1)[0] if via else connection.get("to", "")
        successor[connection.get("from", "")] = onward
    return Network(text, lengths, shapes, successor)


def check_network(network: Network, radius: float, lanes: int) -> None:
    """Refuse a network that is not the figure eight that was asked for."""
    roads = {name for name in network.lengths if not name.startswith(":")}
    if roads != set(LOOP):
        raise _wrong(f"its edges are {', '.join(sorted(roads))}, not {', '.join(sorted(LOOP))}")
    crossings = [
        (connection.get("from"), connection.get("to"))
        for connection in ElementTree.fromstring(network.text).iter("connection")
        if (connection.get("via") or "").startswith(":center_")
    ]
    if sorted(crossings) != sorted([("bottom", "top"), ("right", "left")] * lanes):
        raise _wrong(f"its crossing connects {crossings}, not bottom to top and right to left")
    seen = [LOOP[0]]
    while len(seen) <= len(network.lengths) and (after := network.successor.get(seen[-1])):
        if after == LOOP[0]:
            break
        seen.append(after)
    if tuple(edge for edge in seen if edge in roads) != LOOP or after != LOOP[0]:
        raise _wrong(f"the loop does not close: {', '.join(seen)}")
    wanted = radius * (4 + 3 * np.pi)
    if abs(network.road_length - wanted) > 0.1:
        raise _wrong(f"its roads are {network.road_length:.2f} m long, not {wanted:.2f}")
    inside = network.length - network.road_length
    if not 0 < inside < 4 * junction_length(lanes):  # two crossings and four short bends
        raise _wrong(f"{inside:.2f} m of a lap are inside junctions")


def _wrong(reason: str) -> PfedrlError:
    return PfedrlError(f"netconvert built a wrong figure eight: {reason}.")
