"""Pictures by MuJoCo's own renderer, in a process of its own: it chooses its OpenGL on import.

Where there is no screen, EGL or OSMesa draw without one. Where neither can, there is no picture,
and the reason says what each of them said; the variable MUJOCO_GL asks for one of them alone.
"""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.mujoco.models import Edit, compiled

VARIABLE = "MUJOCO_GL"
CAMERA = "track"  # of both files: from the side, it follows the body


class Shots(NamedTuple):
    """A member's model and the poses in which it is seen."""

    asset: str
    edits: list[Edit]
    positions: np.ndarray  # [picture, coordinate]


class NoRendererError(PfedrlError):
    """Nothing here draws MuJoCo's models."""


def pictures(members: Sequence[Shots], width: int, height: int) -> list[np.ndarray]:
    """Of each member, pictures [picture, height, width, RGB]; an error where nothing can draw."""
    asked = os.environ.get(VARIABLE)
    headless = sys.platform.startswith("linux") and not os.environ.get("DISPLAY")
    ways = [asked] if asked else ["egl", "osmesa"] if headless else [""]
    said = []
    for way in ways:
        try:
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                return process.submit(_draw, way, list(members), width, height).result()
        except BrokenProcessPool:
            said.append(f"{way}: the process ended")
        except Exception as error:  # whatever a missing library makes of itself
            said.append(f"{way or 'the screen'}: {type(error).__name__}, {error}".splitlines()[0])
    raise NoRendererError(
        f"no picture: MuJoCo finds no renderer on this machine ({'; '.join(said)})."
    )


def _draw(way: str, members: Sequence[Shots], width: int, height: int) -> list[np.ndarray]:
    if way:
        os.environ[VARIABLE] = way
    import mujoco

    drawn = []
    for asset, edits, positions in members:
        model = compiled(asset, edits, pictured=True)
        data = mujoco.MjData(model)
        frames = np.empty((len(positions), height, width, 3), np.uint8)
        with mujoco.Renderer(model, height, width) as renderer:
            for flag in (mujoco.mjtRndFlag.mjRND_SHADOW, mujoco.mjtRndFlag.mjRND_REFLECTION):
                renderer.scene.flags[flag] = 0  # without a graphics card they cost most of it
            for frame, position in zip(frames, positions, strict=True):
                data.qpos[:] = position
                mujoco.mj_forward(model, data)
                renderer.update_scene(data, CAMERA)
                frame[:] = renderer.render()
        drawn.append(frames)
    return drawn
