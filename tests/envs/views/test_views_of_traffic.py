"""Pictures of the figure eight."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.views.traffic import outline, watch, watch_live


def test_the_outline_is_a_closed_eight() -> None:
    road = outline(30)
    assert np.allclose(road[0], road[-1])
    steps = np.hypot(*np.diff(road, axis=0).T)
    assert np.isclose(steps.sum(), 30 * (4 + 3 * np.pi), rtol=1e-3)


def test_an_episode_is_recorded(tmp_path: Path) -> None:
    output = tmp_path / "figure_eight.gif"
    watch(output, {"horizon": 60}, acceleration=2.0, seconds=5)
    with Image.open(output) as picture:
        assert picture.n_frames == 10
    assert [path.name for path in tmp_path.iterdir()] == ["figure_eight.gif"]


def test_without_a_display_there_is_one_message(monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(PfedrlError, match="no display for sumo-gui"):
        watch_live()
