"""Settings that came later do not rename what was run before them."""

from typing import ClassVar

from pydantic import Field

from pfedrl.core.settings import Settings
from pfedrl.envs.classic.cartpole import CartPole


class Before(Settings):
    rate: float = 0.5


class Now(Before):
    later: ClassVar[frozenset[str]] = frozenset({"turns"})

    turns: int = Field(1, description="came later")


def test_a_later_setting_is_said_only_where_it_differs_from_its_default():
    assert Now().said() == Before().said() == {"rate": 0.5}
    assert Now(turns=2).said() == {"rate": 0.5, "turns": 2}
    assert Now(turns=1, rate=0.1).said() == {"rate": 0.1}


def test_draws_of_a_family_keep_their_settings():
    family = CartPole(agents=2, low=0.2, high=0.8, cap=30)
    assert "spread" not in family.draw_settings()
    assert family.model_copy(update={"spread": 0.1}).draw_settings()["spread"] == 0.1
