"""Hoppers: one leg of different size (QAvg, Section 13.1; PFedRL-Rep, Appendix G)."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from pfedrl.envs.mujoco.models import Edit
from pfedrl.envs.mujoco.walkers import WalkerFamily

if TYPE_CHECKING:
    from pfedrl.envs.mujoco.stepping import Walker

THIGH, ANKLE = 0.45, 0.1  # from the hip to the knee; from the ankle to the foot's own frame
TORSO, HALF_LENGTH = 1.25, 0.25  # gymnasium's height of the torso, half-length of the leg


class Hopper(WalkerFamily):
    """Hop forward on one leg; members differ in the leg's radius, or in its length."""

    label: ClassVar[str] = "Hoppers"
    varies: ClassVar[str] = "radius of the leg (0.04 by default), or its half-length (0.25)"
    asset: ClassVar[str] = "hopper.xml"

    size: Literal["radius", "half_length"] = Field(
        "radius",
        description="what differs, in m: the radius, which the papers call leg size or length, or "
        "the half-length, with the foot and the torso moved so that the leg stays attached",
    )

    @model_validator(mode="after")
    def a_leg_has_a_size(self) -> "Hopper":
        if min([self.low, *self.members, *self.new_members]) <= 0:
            raise ValueError("a leg's size is above 0")
        return self

    def edits(self, number: float) -> list[Edit]:
        if self.size == "radius":
            return [Edit("geom.size", "leg_geom", 0, number)]
        height = TORSO + 2 * (number - HALF_LENGTH)  # the foot stays on the floor
        return [
            Edit("geom.size", "leg_geom", 1, number),
            Edit("body.pos", "leg", 2, -THIGH - number),
            Edit("joint.pos", "leg_joint", 2, number),
            Edit("body.pos", "foot", 2, -number - ANKLE),
            Edit("body.pos", "torso", 2, height),
            Edit("joint.pos", "rootx", 2, -height),
            Edit("joint.pos", "rootz", 2, -height),
            Edit("joint.ref", "rootz", 0, height),
        ]

    def walker(self) -> "Walker":
        from pfedrl.envs.mujoco.stepping import Walker

        return Walker(
            frames=4,
            action_cost=1e-3,
            noise=5e-3,
            normal_speeds=False,
            healthy_reward=1.0,
            lowest=0.7,
            steepest=0.2,
            largest=100.0,
            seen_speed=10.0,
        )
