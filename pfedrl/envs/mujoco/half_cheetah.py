"""HalfCheetahs: thighs of different length (QAvg, Section 13.1)."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from pfedrl.envs.mujoco.models import Edit
from pfedrl.envs.mujoco.walkers import WalkerFamily

if TYPE_CHECKING:
    from pfedrl.envs.mujoco.stepping import Walker

# half-lengths of the back and the front thigh, from theta = 0 to 1
BACK, FRONT = (0.1005, 0.1855), (0.1005, 0.1655)


class HalfCheetah(WalkerFamily):
    """Run forward on two legs; members differ in the half-lengths of both thighs."""

    label: ClassVar[str] = "Halfcheetahs"
    varies: ClassVar[str] = (
        "theta in [0, 1]: half-lengths of the thighs, 0.1005 to 0.1855 behind and 0.1005 to 0.1655 "
        "in front; the mass stays 14"
    )
    asset: ClassVar[str] = "half_cheetah.xml"

    @model_validator(mode="after")
    def theta_is_a_share(self) -> "HalfCheetah":
        numbers = [self.low, self.high, *self.members, *self.new_members]
        if min(numbers) < 0 or max(numbers) > 1:
            raise ValueError("theta lies between 0 and 1")
        return self

    def edits(self, number: float) -> list[Edit]:
        return [
            Edit("geom.size", name, 1, short + (long - short) * number)
            for name, (short, long) in (("bthigh", BACK), ("fthigh", FRONT))
        ]

    def walker(self) -> "Walker":
        from pfedrl.envs.mujoco.stepping import Walker

        return Walker(frames=5, action_cost=0.1, noise=0.1, normal_speeds=True)
