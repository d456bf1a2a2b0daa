"""The network that netconvert builds, and where vehicles start on it."""

from pathlib import Path

import numpy as np
import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.core.settings import validate
from pfedrl.envs.traffic import sumo
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.network import LOOP, Network, build_network, check_network
from pfedrl.envs.traffic.positions import coordinate, coordinates, start_positions

# Flow's own starts of 14 vehicles, and what it meant them to be
AS_FLOW = [
    ("bottom", 0), ("top", 0), ("top", 28.767), ("upper_ring", 27.254), ("upper_ring", 56.021),
    ("upper_ring", 84.789), ("upper_ring", 113.556), ("right", 0.671), ("right", 29.438),
    ("left", 22.005), ("lower_ring", 20.493), ("lower_ring", 49.260), ("lower_ring", 78.027),
    ("lower_ring", 106.794),
]  # fmt: skip
AS_INTENDED = [
    ("bottom", 0), ("bottom", 28.767), ("top", 21.335), ("upper_ring", 19.822),
    ("upper_ring", 48.590), ("upper_ring", 77.357), ("upper_ring", 106.124),
    ("upper_ring", 134.892), ("right", 22.007), ("left", 14.575), ("lower_ring", 13.062),
    ("lower_ring", 41.830), ("lower_ring", 70.597), ("lower_ring", 99.364),
]  # fmt: skip


def test_the_network_is_flows(network: Network) -> None:
    assert network.length == pytest.approx(421.94)
    assert [edge for edge in network.loop() if not edge.startswith(":")] == list(LOOP)
    assert network.loop()[1] == ":center_1"
    assert network.lengths["upper_ring"] == pytest.approx(141.37)


def test_the_same_settings_build_the_same_text(network: Network) -> None:
    assert build_network(30, 1, 30).text == network.text


def test_places_are_on_the_road(network: Network) -> None:
    loop = network.loop()
    edges = np.array([loop.index("top"), loop.index("left"), loop.index("upper_ring")])
    found = network.places(edges, np.array([15.0, 15.0, network.lengths["upper_ring"] / 2]))
    middle = 30 * (1 + np.sqrt(0.5))
    # a lane lies beside the road's middle line
    assert found == pytest.approx(np.array([[0, 15], [-15, 0], [middle, middle]]), abs=4)
    assert network.begins()[loop.index("top")] == pytest.approx(30 + 9.4)


@pytest.mark.parametrize(("radius", "lanes"), [(10, 1), (50, 2), (100, 1)])
def test_other_networks_close_too(radius: float, lanes: int) -> None:
    assert len(build_network(radius, lanes, 30).loop()) == 12


def test_a_wrong_network_is_refused(network: Network) -> None:
    with pytest.raises(PfedrlError, match="wrong figure eight: its roads are"):
        check_network(network, radius=31, lanes=1)
    text = network.text.replace('from="right" to="left"', 'from="right" to="top"')
    broken = Network(text, network.lengths, network.shapes, network.successor)
    with pytest.raises(PfedrlError, match="crossing connects"):
        check_network(broken, radius=30, lanes=1)
    cut = dict(network.successor)
    del cut["left"]
    with pytest.raises(PfedrlError, match="does not close"):
        check_network(Network(network.text, network.lengths, network.shapes, cut), 30, 1)


@pytest.mark.parametrize(("rule", "expected"), [("as_flow", AS_FLOW), ("as_intended", AS_INTENDED)])
def test_fourteen_vehicles_start_where_flow_puts_them(network, rule, expected) -> None:
    found = start_positions(network, 30, 1, 14, rule)
    assert [start.edge for start in found] == [edge for edge, _ in expected]
    assert [start.position for start in found] == pytest.approx(
        [at for _, at in expected], abs=5e-3
    )


def test_flows_coordinate() -> None:
    table = coordinates(30, 1)
    flow = {"bottom": 0.28, ":center_1": 30.28, "top": 36.48, "upper_ring": 66.76,
            "right": 208.41, ":center_0": 238.41, "left": 244.61, "lower_ring": 274.89}  # fmt: skip
    assert {edge: table[edge] for edge in flow} == pytest.approx(flow, abs=0.01)
    assert coordinate(table, "top", 5) == pytest.approx(41.48)
    assert coordinate(table, ":center_0", 5) == pytest.approx(243.41, abs=0.01)
    assert coordinate(table, ":top_0", 0.05) == pytest.approx(66.48)


@pytest.mark.parametrize("rule", ["as_flow", "as_intended"])
@pytest.mark.parametrize("vehicles", [1, 2, 7, 22])
def test_other_counts_have_starts(network: Network, rule, vehicles: int) -> None:
    found = start_positions(network, 30, 1, vehicles, rule)
    assert len(found) == vehicles
    assert all(0 <= start.position <= network.lengths[start.edge] for start in found)


def test_too_many_vehicles_are_refused_with_the_reason(network: Network) -> None:
    with pytest.raises(PfedrlError, match=r"60 vehicles do not fit.*needs 7.5 m"):
        start_positions(network, 30, 1, 60, "as_intended")
    with pytest.raises(PfedrlError, match="or start them as_intended"):
        start_positions(network, 30, 1, 23, "as_flow")


@pytest.mark.parametrize("placement", ["", "hrx", "HR", "h r"])
def test_a_placement_has_only_h_and_r(placement: str) -> None:
    with pytest.raises(PfedrlError, match="h \\(human\\) or r \\(agent\\)"):
        validate(FigureEightFamily, {"placement": placement}, "envs/figure_eight.yaml")


def test_a_missing_or_other_sumo_is_one_message(monkeypatch, tmp_path: Path) -> None:
    sumo.program.cache_clear()
    monkeypatch.setattr(sumo, "import_module", _no_module)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PfedrlError, match="SUMO is missing: there is no program 'netconvert'"):
        sumo.program("netconvert")
    old = tmp_path / "netconvert"
    old.write_text("#!/bin/sh\necho 'Eclipse SUMO netconvert Version 1.4.0'\n")
    old.chmod(0o755)
    with pytest.raises(PfedrlError, match=r"wrong version: netconvert is 1\.4\.0"):
        sumo.program("netconvert")
    sumo.program.cache_clear()


def _no_module(name: str) -> None:
    raise ImportError(name)


def test_a_failing_netconvert_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "netconvert"
    broken.write_text("#!/bin/sh\necho 'Error: no such file' >&2\nexit 1\n")
    broken.chmod(0o755)
    with pytest.raises(PfedrlError, match="netconvert failed: Error: no such file"):
        sumo.run(broken, "--node-files", "absent")
