"""Hoppers and HalfCheetahs to look at: members as a table and a picture, episodes as a film."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pfedrl.core.errors import unknown
from pfedrl.core.files import atomic_write
from pfedrl.envs.environments import evaluation_starts
from pfedrl.envs.family import Draws
from pfedrl.envs.mujoco.half_cheetah import HalfCheetah
from pfedrl.envs.mujoco.hopper import Hopper
from pfedrl.envs.mujoco.models import Edit, built, from_bytes, gap
from pfedrl.envs.mujoco.walkers import WalkerFamily
from pfedrl.envs.views.rendering import NoRendererError, Shots, pictures

FAMILIES: dict[str, type[WalkerFamily]] = {"hopper": Hopper, "half_cheetah": HalfCheetah}
DIMENSIONS = ("radius", "half-length")  # of a capsule, in the order of its sizes
WIDTH, HEIGHT, LINE, APART = 300, 260, 18, 6  # a picture, a line above it, and between, in pixels
FILMS = (".gif", ".png")  # an animation, or a strip of pictures
FRAMES, FRAMES_A_SECOND, STRIP = 50, 15, 6  # of an animation; pictures of a filmstrip

TRAINED = "ddpg"  # the way of acting of agents that were trained first
Act = Callable[[np.ndarray], np.ndarray]  # actions [row, number] by observations [row, number]


def members_table(family: WalkerFamily, draws: Draws, seeds: range) -> str:
    """Every member that was built, as Markdown: what differs, what it weighs, and any gap."""
    edited = [edit for edit in family.edits(family.low) if edit.what == "geom.size"]
    sizes = [f"{part(edit)}: {DIMENSIONS[edit.column]} (m)" for edit in edited]
    columns = ["member", *sizes, "mass of these (kg)", "mass of all (kg)", "gap at a joint (mm)"]
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for who, name in (("training", "agent"), ("held_out", "new environment")):
        for (row, member), _ in np.ndenumerate(draws[who]):
            model = from_bytes(draws[f"{who}_models"][row, member])
            geoms = [model.geom(edit.name) for edit in edited]
            bodies = [int(geom.bodyid[0]) for geom in geoms]
            cells = [f"seed {seeds[row]}, {name} {member}"]
            cells += [
                f"{geom.size[edit.column]:.5g}" for geom, edit in zip(geoms, edited, strict=True)
            ]
            cells += [f"{model.body_mass[bodies].sum():.4f}", f"{model.body_mass.sum():.4f}"]
            lines.append(f"| {' | '.join([*cells, f'{1000 * gap(model):.1f}'])} |")
    return "\n".join(lines) + "\n"


def describe(family: WalkerFamily, draws: Draws, seeds: range, folder: Path) -> None:
    """A page on the members that were built; the shortest and the longest pictured, if possible."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = np.concatenate([draws["training"].ravel(), draws["held_out"].ravel()])
    ends = [float(numbers.min()), float(numbers.max())]
    try:
        at_rest = [Shots(family.asset, family.edits(n), _rest(family, n)) for n in ends]
        drawn = pictures(at_rest, WIDTH, HEIGHT)
        sheet = _sheet([[own[0] for own in drawn]], [[size_words(family, n) for n in ends]])
        with atomic_write(folder / "members.png") as temporary:
            sheet.save(temporary)
        picture = "![the smallest and the largest](members.png)"
    except NoRendererError as error:
        reason = str(error)
        picture = reason[0].upper() + reason[1:]
        (folder / "members.png").unlink(missing_ok=True)
    text = (
        f"# {family.label}\n\nFrom gymnasium's {family.asset}; members differ in "
        f"{family.varies}. Each was checked when it was built: edited sizes are those asked for, "
        "nothing else of the file has changed, bodies weigh what their capsules weigh.\n\n"
        f"{members_table(family, draws, seeds)}\n{picture}\n"
    )
    with atomic_write(folder / "members.md") as temporary:
        temporary.write_text(text, encoding="utf-8")


def _rest(family: WalkerFamily, number: float) -> np.ndarray:
    return built(family.asset, family.edits(number)).qpos0[None]


def size_words(family: WalkerFamily, number: float) -> str:
    """What differs of a member, in a few words."""
    edits = [edit for edit in family.edits(number) if edit.what == "geom.size"]
    sizes = ", ".join(f"{part(edit)} {edit.value:.4g}" for edit in edits)
    return f"{sizes} m ({DIMENSIONS[edits[0].column]})"


def part(edit: Edit) -> str:
    """The edited part of the body, in words."""
    return edit.name.removesuffix("_geom")


class Episode(NamedTuple):
    """An episode to look at."""

    positions: np.ndarray  # [step + 1, coordinate]
    returns: np.ndarray  # [step + 1], so far
    fell: bool


def play(family: WalkerFamily, numbers: Sequence[float], act: Act, seed: int) -> list[Episode]:
    """An episode of each member, as long as an evaluation's."""
    listed = family.model_copy(update={"agents": len(numbers), "members": list(numbers)})
    task = listed.task(listed.draw([seed]))
    environments = task.evaluation(task.training)
    rows = len(numbers)
    starts = evaluation_starts(environments, [seed], rows, 1, 0, 0)
    environments.reset(np.arange(rows), starts.reshape(rows, -1))
    lived = [environments.position.copy()]
    total, active = [np.zeros(rows)], np.ones(rows, np.bool_)
    steps, fell = np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
    while active.any():
        environments.step(act(environments.observation), active)
        lived.append(environments.position.copy())
        total.append(total[-1] + np.where(active, environments.reward, 0.0))
        steps += active
        fell |= active & environments.terminated
        active = active & ~environments.terminated & ~environments.truncated
    positions, returns = np.stack(lived), np.stack(total)
    return [
        Episode(positions[: steps[row] + 1, row], returns[: steps[row] + 1, row], bool(fell[row]))
        for row in range(rows)
    ]


def film(family: WalkerFamily, numbers: Sequence[float], act: Act, output: Path, seed: int) -> None:
    """Members' episodes side by side: an animation (.gif), or a strip of pictures (.png)."""
    episodes = play(family, numbers, act, seed)
    longest = max(len(episode.positions) for episode in episodes)
    strip = output.suffix == ".png"
    shown = np.unique(np.linspace(0, longest - 1, STRIP if strip else FRAMES).round().astype(int))
    seen = [np.minimum(shown, len(episode.positions) - 1) for episode in episodes]
    shots = [
        Shots(family.asset, family.edits(number), episode.positions[own])
        for number, episode, own in zip(numbers, episodes, seen, strict=True)
    ]
    drawn = pictures(shots, WIDTH, HEIGHT)
    words = [
        [
            f"{size_words(family, number) if at == 0 or not strip else ''}\n"
            f"step {at}, return {episode.returns[at]:.0f}"
            + (", fallen" if episode.fell and at == len(episode.positions) - 1 else "")
            for at in own
        ]
        for number, episode, own in zip(numbers, episodes, seen, strict=True)
    ]
    with atomic_write(output) as temporary:
        if strip:
            _sheet(drawn, words).save(temporary)
            return
        frames = [
            _sheet([[frames[i] for frames in drawn]], [[said[i] for said in words]])
            for i in range(len(shown))
        ]
        pace = round(1000 / FRAMES_A_SECOND)
        palette = [frame.convert("P", palette=Image.Palette.ADAPTIVE) for frame in frames]
        palette[0].save(temporary, save_all=True, append_images=palette[1:], loop=0, duration=pace)


def _sheet(
    rows: Sequence[Sequence[np.ndarray] | np.ndarray], words: Sequence[Sequence[str]]
) -> Image.Image:
    """Pictures in rows, with words above each."""
    above = LINE * max(text.count("\n") + 1 for row in words for text in row)
    columns, high = max(len(row) for row in rows), HEIGHT + above + APART
    sheet = Image.new("RGB", (columns * (WIDTH + APART) - APART, len(rows) * high - APART), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(13)
    for y, (row, said) in enumerate(zip(rows, words, strict=True)):
        for x, (picture, text) in enumerate(zip(row, said, strict=True)):
            left, top = x * (WIDTH + APART), y * high
            pen.multiline_text((left + 6, top + 2), text, "black", font)
            sheet.paste(Image.fromarray(picture), (left, top + above))
    return sheet


def watch(
    family: WalkerFamily,
    output: Path,
    acting: str,
    sizes: Sequence[float],
    seed: int,
    train: Callable[[list[float]], Act],
) -> None:
    """Film members of a family; without sizes, the smallest and the largest of the paper's.

    `train` gives the policy of agents that were trained alone in these members.
    """
    if output.suffix not in FILMS:
        raise unknown("kind of film", output.suffix, FILMS)
    numbers = list(sizes) or [family.low, family.high]
    spread = {"zero_action": 0.0, "random_policy": 1.0}
    if acting not in (*spread, TRAINED):
        raise unknown("way of acting", acting, [*spread, TRAINED])
    random = np.random.default_rng(seed)
    actions = built(family.asset, family.edits(numbers[0])).nu

    def act(seen: np.ndarray) -> np.ndarray:
        return spread[acting] * random.uniform(-1, 1, (len(seen), actions))

    film(family, numbers, train(numbers) if acting == TRAINED else act, output, seed)
