"""Hoppers and HalfCheetahs to look at: the table, the pictures, and what is said without them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from pfedrl.analysis.watching import trained, watch_walkers
from pfedrl.core.errors import PfedrlError
from pfedrl.envs.mujoco.half_cheetah import HalfCheetah
from pfedrl.envs.mujoco.hopper import Hopper
from pfedrl.envs.views import walkers
from pfedrl.envs.views.rendering import VARIABLE, NoRendererError, Shots, pictures

HOPPERS = Hopper(agents=1, low=0.03, high=0.05, new_members=[0.03, 0.05], evaluation_cap=8)
CHEETAHS = HalfCheetah(agents=1, low=0.0, high=1.0, new_members=[0.0])


@pytest.fixture
def without_renderer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "none of them")


@pytest.fixture(scope="module")
def renderer() -> None:
    """Pictures can be drawn here, or the test says why not."""
    try:
        pictures([Shots(HOPPERS.asset, [], np.zeros((1, 6)))], 8, 8)
    except NoRendererError as error:
        pytest.skip(str(error))


def still(seen: np.ndarray) -> np.ndarray:
    return np.zeros((len(seen), 3))


def test_the_table_says_what_was_built():
    header, _, *lines = walkers.members_table(HOPPERS, HOPPERS.draw([7]), range(7, 8)).splitlines()
    assert header.startswith("| member | leg: radius (m) | mass of these (kg) |")
    thin, thick = (line.strip("| ").split(" | ") for line in lines[1:])
    leg = 1000 * np.pi * 0.05**2 * (0.5 + 4 / 3 * 0.05)
    assert thick == ["seed 7, new environment 1", "0.05", f"{leg:.4f}", "17.4892", "0.0"]
    assert float(thin[3]) < float(thick[3])
    assert lines[0].startswith("| seed 7, agent 0 |")


def test_the_papers_shortest_thighs_leave_a_gap_and_it_is_said():
    *_, last = walkers.members_table(CHEETAHS, CHEETAHS.draw([0]), range(1)).splitlines()
    assert last == "| seed 0, new environment 0 | 0.1005 | 0.1005 | 2.4221 | 14.0000 | 17.5 |"


def test_without_a_renderer_the_page_says_why(without_renderer: None, tmp_path: Path):
    walkers.describe(HOPPERS, HOPPERS.draw([0]), range(1), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["members.md"]
    page = (tmp_path / "members.md").read_text()
    assert "| seed 0, agent 0 |" in page
    assert (
        "No picture: MuJoCo finds no renderer on this machine (none of them: RuntimeError" in page
    )


def test_without_a_renderer_a_film_is_one_message(without_renderer: None, tmp_path: Path):
    with pytest.raises(PfedrlError, match="no renderer on this machine"):
        walkers.film(HOPPERS, [0.03, 0.05], still, tmp_path / "film.gif", 0)
    assert not list(tmp_path.iterdir())


def test_the_smallest_and_the_largest_are_pictured(renderer: None, tmp_path: Path):
    walkers.describe(HOPPERS, HOPPERS.draw([0]), range(1), tmp_path)
    assert "(members.png)" in (tmp_path / "members.md").read_text()
    with Image.open(tmp_path / "members.png") as picture:
        sheet = np.asarray(picture.convert("L")).astype(int)
    left, right = sheet[:, : walkers.WIDTH], sheet[:, -walkers.WIDTH :]
    differ = (abs(left - right)[walkers.LINE :] > 20).sum()
    assert 0 < differ < 0.05 * left.size, "the legs differ, and little else"


@pytest.mark.parametrize(("name", "frames"), [("film.gif", 9), ("film.png", 1)])
def test_episodes_are_filmed(renderer: None, tmp_path: Path, name: str, frames: int):
    walkers.film(HOPPERS, [0.03, 0.05], still, tmp_path / name, 0)
    with Image.open(tmp_path / name) as film:
        assert getattr(film, "n_frames", 1) == frames
        rows = film.height // walkers.HEIGHT
    assert rows == (2 if name == "film.png" else 1)


def test_an_episode_is_that_of_the_environments():
    episodes = walkers.play(HOPPERS, [0.03, 0.05], still, seed=1)
    assert [len(episode.positions) for episode in episodes] == [9, 9]
    for episode in episodes:
        forward = episode.positions[-1, 0] - episode.positions[0, 0]
        assert episode.returns[-1] == pytest.approx(8 + forward / 0.008)
        assert not episode.fell


@pytest.mark.parametrize(
    ("output", "acting", "message"),
    [("film.mov", "zero_action", "kind of film"), ("film.gif", "zero_acton", "zero_action")],
)
def test_a_wrong_word_is_explained(tmp_path: Path, output: str, acting: str, message: str):
    with pytest.raises(PfedrlError, match=message):
        watch_walkers("hopper", tmp_path / output, acting, [], 1, 0)


def test_agents_that_trained_first_act_each_by_its_own_net():
    act = trained(HOPPERS, [0.03, 0.05], frames=5, seed=0)
    seen = np.random.default_rng(0).normal(size=(2, 11))
    assert act(seen).shape == (2, 3) and (abs(act(seen)) <= 1).all()
    swapped = act(seen[::-1].copy())
    assert (act(seen) != swapped).all()
