"""The figure eight as a picture: the road with its vehicles, and an episode as an animation."""

import io
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from PIL import Image

from pfedrl.core.errors import PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.core.settings import validate
from pfedrl.envs.traffic.episodes import constant, play
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.network import LOOP, Network, junction_length
from pfedrl.envs.traffic.pool import FigureEightPool
from pfedrl.envs.traffic.simulation import STEP, Simulation

AGENT, HUMAN = "#222222", "#8a8a8a"  # rims of vehicles
FASTEST = 15.0  # m/s at the top of the colour scale
FRAMES_A_SECOND = 10
SPEED_UP = 5  # seconds of the simulation a second of the animation


def roads(radius: float, gap: float = 0.0) -> dict[str, np.ndarray]:
    """The middle of each road [point, xy], in driving order, with a gap around the crossing."""
    turn = np.linspace(0, 3 * np.pi / 2, 100)
    upper = radius * np.stack([1 - np.cos(turn), 1 + np.sin(turn)], axis=1)
    turn += np.pi / 2
    lower = radius * np.stack([np.cos(turn) - 1, np.sin(turn) - 1], axis=1)
    return {
        "bottom": np.array([(0, -radius), (0, -gap)]),
        "top": np.array([(0, gap), (0, radius)]),
        "upper_ring": upper,
        "right": np.array([(radius, 0), (gap, 0)]),
        "left": np.array([(-gap, 0), (-radius, 0)]),
        "lower_ring": lower,
    }


def outline(radius: float) -> np.ndarray:
    """The road's middle [point, xy], in driving order from the bottom."""
    return np.concatenate(list(roads(radius).values()))


def bare_network(radius: float, lanes: int) -> Network:
    """The roads without the insides of junctions, for a picture: no program of SUMO is asked."""
    shapes = roads(radius, junction_length(lanes) / 2)
    lengths = {name: 3 * np.pi / 2 * radius if "ring" in name else radius for name in LOOP}
    following = dict(zip(LOOP, (*LOOP[1:], LOOP[0]), strict=True))
    return Network("", lengths, shapes, following)


def draw_road(axis: Axes, radius: float) -> None:
    """The empty figure eight."""
    axis.plot(
        *np.concatenate(list(roads(radius).values())).T,
        color="#d9d9d9",
        lw=5,
        solid_capstyle="round",
        zorder=1,
    )
    axis.set_aspect("equal")
    axis.axis("off")


def draw_vehicles(axis: Axes, xy: np.ndarray, speeds: np.ndarray, placement: str) -> PathCollection:
    """Vehicles [vehicle, xy], coloured by speed; agents have a dark rim."""
    rims = [AGENT if who == "r" else HUMAN for who in placement]
    x, y = xy.T
    return axis.scatter(
        x, y, c=speeds, cmap="viridis", vmin=0, vmax=FASTEST, s=30, zorder=2,
        edgecolors=rims, linewidths=[1.2 if who == "r" else 0.4 for who in placement],
    )  # fmt: skip


def drivers(settings: dict[str, Any] | None, acceleration: float | None) -> FigureEightFamily:
    """The family with these settings; without an acceleration for agents everyone is human."""
    family = validate(FigureEightFamily, settings or {}, "watch")
    if acceleration is None:
        return family.model_copy(update={"placement": "h" * len(family.placement)})
    return family


def watch(
    output: Path,
    settings: dict[str, Any] | None = None,
    acceleration: float | None = None,
    seed: int = 0,
    seconds: float = 60.0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Record the first seconds of an episode as an animated GIF.

    `settings` are the family's; agents keep to one acceleration, or drive like humans (the
    default). Dark rims are agents, colours are speeds.
    """
    family = drivers(settings, acceleration)
    network = family.network(family.draw([0]))
    with FigureEightPool(family, network, 1) as pool:
        episode = play(pool, constant(acceleration or 0.0), [seed])[0]
    every = round(SPEED_UP / FRAMES_A_SECOND / STEP)
    shown = episode.vehicles[: round(seconds / STEP) : every]
    frames = []
    figure = Figure(figsize=(4, 4), dpi=90)
    canvas = FigureCanvasAgg(figure)
    axis = figure.subplots()
    draw_road(axis, family.radius)
    xy = network.places(shown[0].edges, shown[0].positions)
    dots = draw_vehicles(axis, xy, shown[0].speeds, family.placement)
    for index, vehicles in enumerate(shown):
        dots.set_offsets(network.places(vehicles.edges, vehicles.positions))
        dots.set_array(vehicles.speeds)
        axis.set_title(f"{index * every * STEP:.0f} s, mean speed {vehicles.speeds.mean():.1f}")
        buffer = io.BytesIO()
        canvas.print_png(buffer)
        progress(index + 1, len(shown))
        frames.append(Image.open(buffer).convert("P", palette=Image.Palette.ADAPTIVE))
    with atomic_write(output) as temporary:
        frames[0].save(
            temporary, save_all=True, append_images=frames[1:], loop=0,
            duration=round(1000 / FRAMES_A_SECOND),
        )  # fmt: skip


def watch_live(
    settings: dict[str, Any] | None = None, acceleration: float | None = None, seed: int = 0
) -> None:
    """The same episode in SUMO's own window, until it ends or the window is closed."""
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise PfedrlError("there is no display for sumo-gui; record an animation instead.")
    traci = import_module("traci")
    family = drivers(settings, acceleration)
    network = family.network(family.draw([0]))
    simulation = Simulation(family, network, traci, "sumo-gui")
    random = np.random.default_rng(seed)
    accelerations = np.full(family.agents, acceleration or 0.0)
    try:
        simulation.reset()
        for _ in range(family.horizon):
            noise = random.standard_normal(len(simulation.humans))
            if simulation.step(accelerations, noise).crashed:
                break
        simulation.close()
    except traci.exceptions.FatalTraCIError:
        return  # the window was closed
