"""A picture of each family: what varies, at two ends of its range or in two of its members.

Pictures are drawn from the families themselves (geometry, maps, draws of seed 0) without a
renderer, so that they are the same on every machine.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import seaborn
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle

from pfedrl.core.seeds import Purpose, generator
from pfedrl.envs.classic.acrobot import Acrobot
from pfedrl.envs.classic.cartpole import CartPole
from pfedrl.envs.data import clusters
from pfedrl.envs.data.labelled_data import LabelledData
from pfedrl.envs.data.partition import dirichlet_counts
from pfedrl.envs.family import Family
from pfedrl.envs.mujoco.models import compiled
from pfedrl.envs.mujoco.reacher import CORNERS, FIELD, GRID, Reacher, cells
from pfedrl.envs.mujoco.reacher_kernels import LINK, TIP
from pfedrl.envs.mujoco.walkers import WalkerFamily
from pfedrl.envs.tabular import cliff_walking
from pfedrl.envs.tabular.cliff_walking import CliffWalking
from pfedrl.envs.tabular.random_mdp import RandomMDP
from pfedrl.envs.tabular.windy_cliff import WindyCliff
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.positions import start_positions
from pfedrl.envs.views.traffic import bare_network, draw_road

VARIES, BODY, FAINT = "#d55e00", "#8a939e", "#d9d9d9"  # what differs, the rest, the ground
PARTS = {"leg_geom": "leg", "bthigh": "back thigh", "fthigh": "front thigh"}  # that walkers vary
PATHS = ("#0072b2", "#d55e00", "#009e73")
SIZE = (6.4, 2.6)  # inches
CLIENTS = (10, 53)  # of Reacher, on opposite sides of the field
WORKERS, ENDS = 20, (0.1, 0.5)  # of a partition: workers, and the least and the most of pi

Draw = Callable[..., str]


def picture(family: Family) -> tuple[Figure, str] | None:
    """The picture of a family and what it shows, in words; None of a family without one."""
    drawing = next((draw for kind, draw in DRAWINGS.items() if isinstance(family, kind)), None)
    if drawing is None:
        return None
    figure = Figure(figsize=SIZE, layout="constrained")
    return figure, drawing(family, figure)


def _two(figure: Figure, titles: Sequence[str], shared: bool = False) -> list[Axes]:
    axes = list(figure.subplots(1, 2, sharex=shared, sharey=shared))
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title, loc="left")
    return axes


def _plain(axes: Sequence[Axes]) -> None:
    """Geometry: equal units on both axes, and no scales."""
    for axis in axes:
        axis.set_aspect("equal")
        axis.axis("off")


def cartpole(family: CartPole, figure: Figure) -> str:
    ends = (family.low, family.high)
    axes = _two(figure, [f"half-length {end:g}" for end in ends])
    tilt = 0.1
    for axis, end in zip(axes, ends, strict=True):
        axis.plot([-1.5, 1.5], [0, 0], color=FAINT, lw=2)
        axis.add_patch(Rectangle((-0.25, 0.05), 0.5, 0.22, color=BODY))
        tip = 0.27 + 2 * end * np.cos(tilt)
        axis.plot([0, 2 * end * np.sin(tilt)], [0.27, tip], color=VARIES, lw=4)
        axis.set(xlim=(-1.5, 1.5), ylim=(-0.1, 0.4 + 2 * family.high))
    _plain(axes)
    return f"The pole of a cart, of half-length {ends[0]:g} and of {ends[1]:g}"


def acrobot(family: Acrobot, figure: Figure) -> str:
    ends = (family.low, family.high)
    lengths = family.parameters(np.array(ends))[:, :2]
    axes = _two(figure, [f"delta {end:g}".replace("-", "−") for end in ends])
    first, second = np.pi / 3, -np.pi / 6  # angles from straight down, and between the links
    for axis, (length, mass) in zip(axes, lengths, strict=True):
        elbow = length * np.array([np.sin(first), -np.cos(first)])
        tip = elbow + np.array([np.sin(first + second), -np.cos(first + second)])
        axis.plot(*np.transpose([elbow, tip]), color=BODY, lw=5)
        axis.plot([0, elbow[0]], [0, elbow[1]], color=VARIES, lw=5 * mass)
        axis.add_patch(Circle((0, 0), 0.07, color="black", zorder=3))
        axis.set(xlim=(-0.4, 2.0), ylim=(-1.8, 0.3))
    _plain(axes)
    return (
        f"Arms of two links; the first has length and mass {lengths[0, 0]:g} and "
        f"{lengths[1, 0]:g} (its width shows the mass)"
    )


def walker(family: WalkerFamily, figure: Figure) -> str:
    """The capsules of MuJoCo's model at rest, from the side."""
    import mujoco

    ends = (family.low, family.high)
    edits = [[edit for edit in family.edits(end) if edit.what == "geom.size"] for end in ends]
    size = ("radius", "half-length")[edits[0][0].column]
    words = [", ".join(f"{PARTS[edit.name]} {edit.value:g} m" for edit in own) for own in edits]
    axes = _two(figure, words, shared=True)
    for axis, end in zip(axes, ends, strict=True):
        model = compiled(family.asset, family.edits(end))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        axis.axhline(0, color=FAINT, lw=2)
        for geom in np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE):
            radius, half = model.geom_size[geom, :2]
            middle, along = data.geom_xpos[geom], data.geom_xmat[geom].reshape(3, 3)[:, 2]
            varies = model.geom(geom).name in PARTS
            outline = _capsule(middle[[0, 2]], half * along[[0, 2]], radius)
            colour = VARIES if varies else BODY
            axis.add_patch(Polygon(outline, facecolor=colour, edgecolor="white", lw=0.6))
        axis.autoscale_view()
    _plain(axes)
    return f"The body at rest, from the side. The {size} of the coloured part differs"


def _capsule(middle: np.ndarray, half: np.ndarray, radius: float) -> np.ndarray:
    """The outline [point, xy] of a capsule seen from the side."""
    turn = np.arctan2(half[1], half[0]) + np.linspace(-np.pi / 2, np.pi / 2, 20)
    cap = radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.concatenate([middle + half + cap, middle - half - cap])


def reacher(family: Reacher, figure: Figure) -> str:
    titles = ("all clients alike", "each client its own cell of targets")
    axes = _two(figure, titles)
    for axis, own in zip(axes, (False, True), strict=True):
        task = family.model_copy(update={"target_cells": own}).task(family.draw([0]))
        axis.add_patch(Circle((0, 0), FIELD, facecolor="#f4f4f4", edgecolor=FAINT))
        if own:
            for cell, (low, high) in enumerate(zip(*cells(), strict=True)):
                if cell not in CORNERS:
                    axis.add_patch(Rectangle(low, *(high - low), fill=False, edgecolor=FAINT,
                                             lw=0.5))  # fmt: skip
        for client, colour in zip(CLIENTS, PATHS, strict=False):
            random = generator(0, Purpose.ENVIRONMENT, client)
            x, y = task.targets(client, 25, random).T
            axis.scatter(x, y, s=7, color=colour, lw=0)
        axis.plot([0, LINK, LINK + TIP], [0, 0, 0], color=BODY, lw=3, marker="o", ms=3)
        axis.set(xlim=(-0.23, 0.23), ylim=(-0.23, 0.23))
    _plain(axes)
    return (
        f"The arm and 25 targets of two of {GRID * GRID} clients: anywhere in the field, or each "
        "in a cell of its own"
    )


def figure_eight(family: FigureEightFamily, figure: Figure) -> str:
    network = bare_network(family.radius, family.lanes)
    place = family.placement
    starts = start_positions(network, family.radius, family.lanes, len(place), family.start)
    loop = network.loop()
    edges = np.array([loop.index(start.edge) for start in starts])
    xy = network.places(edges, np.array([start.position for start in starts]))
    agents = [row for row, who in enumerate(place) if who == "r"]
    shown = (agents[0], agents[-1])
    titles = [f"agent {agents.index(own) + 1} of {len(agents)}" for own in shown]
    for axis, own in zip(_two(figure, titles), shown, strict=True):
        draw_road(axis, family.radius)
        fills = [BODY if who == "r" else "white" for who in place]
        fills[own] = VARIES
        axis.scatter(
            xy[:, 0], xy[:, 1], c=fills, s=36, edgecolors="black", linewidths=0.7, zorder=2
        )
    return (
        f"{len(place)} vehicles where they start, {len(agents)} of them agents (filled); coloured: "
        "the vehicle of the first and of the last agent"
    )


def windy_cliff(family: WindyCliff, figure: Figure) -> str:
    winds = (0.0, 1.0)
    chances = [float(family.moves(np.full((1, 1), wind))[0, 1, 0]) for wind in winds]
    titles = [
        f"theta {wind:g}: blown down with chance {chance:.2g}"
        for wind, chance in zip(winds, chances, strict=True)
    ]
    axes = _two(figure, titles)
    for axis, chance in zip(axes, chances, strict=True):
        kinds = {0: "start", family.width - 1: "goal"}
        kinds |= dict.fromkeys(range(1, family.width - 1), "cliff")
        _grid(axis, family.height, family.width, kinds, upwards=True)
        if chance:
            x, y = np.meshgrid(np.arange(family.width), np.arange(1, family.height))
            axis.quiver(x, y + 0.3, 0 * x, 0 * x - 0.6, color=VARIES, angles="xy",
                        scale_units="xy", scale=1, width=0.012)  # fmt: skip
    _plain(axes)
    return "The grid with start, cliff and goal, without wind and with the strongest wind"


def walking(family: CliffWalking, figure: Figure) -> str:
    rows, columns, actions = cliff_walking.HEIGHT, cliff_walking.WIDTH, len(cliff_walking.MOVES)
    axis = figure.subplots()
    kinds = {cliff_walking.START: "start", cliff_walking.GOAL: "goal"}
    kinds |= dict.fromkeys(range(cliff_walking.START + 1, cliff_walking.GOAL), "cliff")
    _grid(axis, rows, columns, kinds, upwards=False)
    chosen = family.policies().reshape(family.agents, rows * columns, actions).argmax(axis=2)
    for agent, (policy, colour) in enumerate(zip(chosen, PATHS, strict=False)):
        path = [cliff_walking.START]
        while path[-1] != cliff_walking.GOAL:
            path.append(family.target(path[-1], policy[path[-1]])[0])
        y, x = np.divmod(np.array(path), columns)
        apart = 0.09 * (agent - 1)
        axis.plot(x + apart, y + apart, color=colour, lw=2, label=f"agent {agent + 1}")
    figure.legend(loc="outside lower center", ncols=len(PATHS))
    _plain([axis])
    return "The grid and the path that each of three agents evaluates"


def _grid(axis: Axes, rows: int, columns: int, kinds: dict[int, str], upwards: bool) -> None:
    """Cells with their names; states are counted by row, from the bottom or from the top."""
    fills = {"cliff": "#444444", "start": "#dceaf6", "goal": "#dcefe3"}
    for state in range(rows * columns):
        y, x = divmod(state, columns)
        kind = kinds.get(state, "")
        axis.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=fills.get(kind, "white"),
                                 edgecolor=FAINT))  # fmt: skip
        if kind in ("start", "goal"):
            axis.text(x, y + (0.32 if not upwards else -0.05), kind, ha="center", va="center",
                      fontsize=6.5)  # fmt: skip
    axis.set(xlim=(-0.55, columns - 0.45), ylim=(-0.55, rows - 0.45))
    if not upwards:
        axis.invert_yaxis()


def random_mdp(family: RandomMDP, figure: Figure) -> str:
    moves = family.task(family.draw([0])).training[:2, :, 0]
    axes = _two(figure, ["agent 1", "agent 2"])
    for axis, own in zip(axes, moves, strict=True):
        seaborn.heatmap(
            own.reshape(-1, family.states).T, cmap="mako_r", vmin=0, vmax=1, ax=axis,
            cbar=axis is axes[-1], cbar_kws={"label": "probability"},
            xticklabels=family.actions, yticklabels=True,
        )  # fmt: skip
        axis.set(xlabel="state and action", ylabel="next state")
        axis.grid(visible=False)
    return "Transition probabilities of two agents of one seed: supports and weights differ"


def partition(family: LabelledData, figure: Figure) -> str:
    sizes = np.bincount(clusters.clusters().train_labels)
    axes = _two(figure, [f"π = {pi:g}" for pi in ENDS])
    for axis, pi in zip(axes, ENDS, strict=True):
        counts = dirichlet_counts(sizes, WORKERS, pi, generator(0, Purpose.ENVIRONMENT))
        seaborn.heatmap(
            counts.T, cmap="mako_r", vmin=0, vmax=sizes.max(), ax=axis, cbar=axis is axes[-1],
            cbar_kws={"label": "samples"}, xticklabels=5, yticklabels=True,
        )  # fmt: skip
        axis.set(xlabel="worker", ylabel="class")
        axis.grid(visible=False)
    return (
        f"{sizes.sum():,} samples of {len(sizes)} classes among {WORKERS} workers: heterogeneous "
        "(left) and less so (right)"
    )


DRAWINGS: dict[Any, Draw] = {
    CartPole: cartpole, Acrobot: acrobot, WalkerFamily: walker, Reacher: reacher,
    FigureEightFamily: figure_eight, WindyCliff: windy_cliff, CliffWalking: walking,
    RandomMDP: random_mdp, LabelledData: partition,
}  # fmt: skip
