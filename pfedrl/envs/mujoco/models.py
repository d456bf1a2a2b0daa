"""MuJoCo models: gymnasium's own files, edited by `MjSpec`, compiled, checked, kept as bytes.

A member is the original model with a few numbers changed. A built model is held against that: the
edited entries are what was asked for, whatever else the file says is unchanged, and every body's
mass is that of its capsules.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pfedrl.core.errors import PfedrlError

DENSITY = 1000.0  # MuJoCo's default, which both files keep

# what MuJoCo computes from shapes and places; all else of a model is as the file says
COMPUTED = frozenset(
    {"actuator_acc0", "body_inertia", "body_invweight0", "body_mass", "body_subtreemass",
     "bvh_aabb", "cam_poscom0", "dof_M0", "dof_invweight0", "dof_length", "geom_aabb",
     "geom_rbound", "light_poscom0"}
)  # fmt: skip

FIELDS = {"geom.size": "geom_size", "body.pos": "body_pos", "joint.pos": "jnt_pos",
          "joint.ref": "qpos0"}  # fmt: skip


class Edit(NamedTuple):
    """One number of a model's file that a member changes."""

    what: str  # a key of FIELDS
    name: str
    column: int  # of the vector; 0 for a number
    value: float


def specification(asset: str, edits: Sequence[Edit] = (), pictured: bool = False) -> Any:
    """gymnasium's model with these edits; textures only where it is to be looked at."""
    import gymnasium
    import mujoco

    folder = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
    spec = mujoco.MjSpec.from_file(str(folder / asset))
    if not pictured:  # they are 98% of a model
        for unseen in (*spec.textures, *spec.materials):
            spec.delete(unseen)
        for geom in spec.geoms:
            geom.material = ""
    for what, name, column, value in edits:
        kind, attribute = what.split(".")
        element = getattr(spec, kind)(name)
        if attribute == "ref":
            element.ref = value
        else:
            getattr(element, attribute)[column] = value
    return spec


def compiled(asset: str, edits: Sequence[Edit] = (), pictured: bool = False) -> Any:
    """The model itself; where the file fixes the total mass, bodies are scaled to it."""
    import mujoco

    spec = specification(asset, edits, pictured)
    total = spec.compiler.settotalmass
    spec.compiler.settotalmass = -1  # as a compiler's attribute it is deprecated, and warned of
    model = spec.compile()
    if total > 0:
        mujoco.mj_setTotalmass(model, total)
        mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


@cache
def _original(asset: str) -> Any:
    return compiled(asset)


def built(asset: str, edits: Sequence[Edit]) -> Any:
    """A member's model, checked."""
    model = compiled(asset, edits)
    check(model, asset, edits)
    return model


def check(model: Any, asset: str, edits: Sequence[Edit]) -> None:
    """The model is the original but for the edits, and weighs what its capsules weigh."""
    original = _original(asset)
    for field, expected in _arrays(original).items():
        if field in COMPUTED:
            continue
        expected = expected.copy()
        for edit in edits:
            if FIELDS[edit.what] == field:
                expected[_place(original, edit)] = edit.value
        if not np.array_equal(getattr(model, field), expected):
            asked = ", ".join(f"{e.name} {e.what} [{e.column}] = {e.value:g}" for e in edits)
            raise PfedrlError(f"{asset} edited by {asked or 'nothing'}: {field} is not as asked.")
    if not np.allclose(model.body_mass, capsule_masses(model, fixed_total(asset)), rtol=1e-12):
        raise PfedrlError(f"{asset}: the bodies do not weigh what their capsules weigh.")


def _arrays(model: Any) -> dict[str, np.ndarray]:
    fields = ((name, getattr(model, name)) for name in dir(model) if not name.startswith("_"))
    return {name: value for name, value in fields if isinstance(value, np.ndarray)}


def _place(model: Any, edit: Edit) -> int | tuple[int, int]:
    """Where an edited number stands in the model's array."""
    element = getattr(model, edit.what.split(".")[0])(edit.name)
    if edit.what == "joint.ref":
        return int(model.jnt_qposadr[element.id])
    return element.id, edit.column


@cache
def fixed_total(asset: str) -> float | None:
    """The total mass that the file fixes, or None."""
    total = specification(asset).compiler.settotalmass
    return total if total > 0 else None


def capsule_masses(model: Any, total: float | None) -> np.ndarray:
    """Mass of every body by its capsules' volumes; in their proportion where the total is fixed."""
    import mujoco

    masses = np.zeros(model.nbody)
    capsules = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE)
    radius, half = model.geom_size[capsules, :2].T
    volume = np.pi * radius**2 * (2 * half + 4 / 3 * radius)
    np.add.at(masses, model.geom_bodyid[capsules], DENSITY * volume)
    return masses if total is None else masses * (total / masses.sum())


def gap(model: Any) -> float:
    """How far a joint lies outside a capsule of either body that it joins, at most; in metres."""
    import mujoco

    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    largest = 0.0
    for joint in range(model.njnt):
        body = model.jnt_bodyid[joint]
        if model.body_parentid[body] == 0:  # the torso hangs on nothing
            continue
        for of in (body, model.body_parentid[body]):
            geoms = np.flatnonzero(model.geom_bodyid == of).tolist()
            away = [_outside(model, data, geom, data.xanchor[joint]) for geom in geoms]
            largest = max(largest, min(away))
    return largest


def _outside(model: Any, data: Any, geom: int, point: np.ndarray) -> float:
    """Distance of a point from a capsule, 0 within."""
    radius, half = model.geom_size[geom, :2]
    axis = data.geom_xmat[geom].reshape(3, 3)[:, 2]
    away = point - data.geom_xpos[geom]
    nearest = np.clip(away @ axis, -half, half) * axis
    distance = float(np.linalg.norm(away - nearest)) - radius
    return distance if distance > 1e-9 else 0.0


def to_bytes(model: Any) -> np.ndarray:
    """The compiled model, exactly; only MuJoCo of the same version reads it."""
    import mujoco

    kept = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, kept)
    return kept


def from_bytes(kept: np.ndarray) -> Any:
    import mujoco

    name = "member.mjb"
    try:
        return mujoco.MjModel.from_binary_path(name, {name: kept.tobytes()})
    except (ValueError, mujoco.FatalError) as error:
        raise PfedrlError(
            f"the built models cannot be read ({error}): they are of another version of MuJoCo. "
            "Remove the folder envs of these results and run again."
        ) from None
