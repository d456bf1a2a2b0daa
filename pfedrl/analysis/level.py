"""How often verdicts are wrong, and how often they come, by simulation.

A simulated comparison is judged after every seed, from the first to the last, and stops at the
first verdict, for or against.
"""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pfedrl.analysis.evidence import DECIDES, most_seeds
from pfedrl.core.files import write_text

MOST_SEEDS = 80
SHOWN = (8, 10, 20, 40, 80)  # seeds at which power is shown
SIMULATIONS = 40_000
EFFECTS = (0.5, 1.0, 2.0, 4.0)  # mean differences in standard deviations of a seed
Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def _learner(share: float) -> Draw:
    """CartPole returns of a DQN that learns in a share of the seeds and stays poor in the rest."""

    def draw(random: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
        learns = random.random(size) < share
        return np.where(learns, random.normal(180, 10, size), random.normal(20, 5, size))

    return draw


def _against_constant(share: float) -> Draw:
    """Such a learner less a steady one of the same mean."""
    mean = 180 * share + 20 * (1 - share)
    learner = _learner(share)
    return lambda random, size: learner(random, size) - random.normal(mean, 5, size)


def _twice(learner: Draw) -> Draw:
    return lambda random, size: learner(random, size) - learner(random, size)


FAIR: dict[str, Draw] = {  # a seed wins as often as it loses: every verdict is wrong
    "normal": lambda random, size: random.normal(size=size),
    "Student's t, 3 degrees of freedom": lambda random, size: random.standard_t(3, size=size),
    "two learners, each in half of the seeds": _twice(_learner(0.5)),
    "two learners, each in a fifth of the seeds": _twice(_learner(0.2)),
    "exponential, median 0": lambda random, size: random.exponential(size=size) - np.log(2),
    "four of five tie, the rest differ by 1": lambda random, size: np.where(
        random.random(size) < 0.8, 0.0, random.choice([-1.0, 1.0], size)
    ),
}
EQUAL_MEANS: dict[str, Draw] = {  # a verdict on most seeds is right, and would be wrong of the mean
    "exponential": lambda random, size: random.exponential(size=size) - 1,
    "log-normal, sigma 1": lambda random, size: random.lognormal(0, 1, size) - np.exp(0.5),
    "learns in half of the seeds, against a steady one": _against_constant(0.5),
    "learns in three quarters, against a steady one": _against_constant(0.75),
    "learns in a quarter of the seeds, against a steady one": _against_constant(0.25),
}


def decided(differences: np.ndarray) -> np.ndarray:
    """Whether there is a verdict, for or against, by each number of seeds: [simulation, seed]."""
    won, lost = ((way * differences > 0).cumsum(axis=1) for way in (1, -1))
    most = differences.shape[1] + 1
    table = np.array([[most_seeds(w, n) for n in range(most)] for w in range(most)])
    found = np.maximum(table[won, lost], table[lost, won]) >= DECIDES
    return np.logical_or.accumulate(found, axis=1)


def verdicts(draw: Draw, simulations: int, seed: int = 0) -> float:
    """The share of simulations that end in a verdict by the last seed."""
    return float(
        decided(draw(np.random.default_rng(seed), (simulations, MOST_SEEDS)))[:, -1].mean()
    )


def power(effect: float, simulations: int, seed: int = 0) -> list[float]:
    """The share decided by each shown number of seeds, of normal differences with that mean."""
    random = np.random.default_rng(seed)
    found = decided(random.normal(effect, 1, (simulations, MOST_SEEDS)))
    return [float(found[:, seeds - 1].mean()) for seeds in SHOWN]


def write_level(folder: Path, simulations: int = SIMULATIONS) -> None:
    """The table (csv, md) and the figure (png) of wrong verdicts and of power."""
    fair, equal = (
        {name: verdicts(draw, simulations) for name, draw in kinds.items()}
        for kinds in (FAIR, EQUAL_MEANS)
    )
    powers = {effect: power(effect, simulations) for effect in EFFECTS}
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["differences", "mean", "seeds", "decided"])
    rows.writerows([name, "", MOST_SEEDS, f"{s:.5f}"] for name, s in (fair | equal).items())
    for effect, shares in powers.items():
        for seeds, share in zip(SHOWN, shares, strict=True):
            rows.writerow(["normal", effect, seeds, f"{share:.5f}"])
    write_text(folder / "level.csv", text.getvalue())
    write_text(folder / "level.md", _page(fair, equal, powers, simulations))
    _draw(folder / "level.png", fair, powers)


def _page(
    fair: dict[str, float],
    equal: dict[str, float],
    powers: dict[float, list[float]],
    simulations: int,
) -> str:
    lines = [
        "# Error rate and power of the verdicts",
        "",
        f"Written by `pfedrl level`: {simulations:,} simulated comparisons per row. Each is judged "
        f"after every seed, up to {MOST_SEEDS}, and stops at the first verdict, for or against. "
        "This is the worst case: at most 1% may be wrong in each of the two directions.",
        "",
        "| a seed wins as often as it loses | wrong verdicts |",
        "|---|--:|",
        *(f"| {name} | {share:.2%} |" for name, share in fair.items()),
        "",
        "A verdict says that a comparison holds in most seeds. It does not say that the mean is "
        "larger. Where means are equal and one side wins more often, there are verdicts, true of "
        "seeds and false as averages:",
        "",
        "| equal means, unlike win rates | verdicts on most seeds |",
        "|---|--:|",
        *(f"| {name} | {share:.1%} |" for name, share in equal.items()),
        "",
        "Power: the share of comparisons with a verdict, for normal differences whose mean is "
        "given in standard deviations of a seed:",
        "",
        "| mean |" + "".join(f" {n} seeds |" for n in SHOWN),
        "|--:|" + "--:|" * len(SHOWN),
        *(
            f"| {effect:g} |" + "".join(f" {share:.0%} |" for share in shares)
            for effect, shares in powers.items()
        ),
        "",
    ]
    return "\n".join(lines)


def _draw(path: Path, fair: dict[str, float], powers: dict[float, list[float]]) -> None:
    import matplotlib

    from pfedrl.analysis.style import INK, new_figure, paper_style, save

    with paper_style():
        figure, (left, right) = new_figure(2.4, ncols=2, width_ratios=[1.3, 1])
        places = np.arange(len(fair))[::-1]
        left.plot(100 * np.array(list(fair.values())), places, "s", color="#0072B2")
        left.axvline(2, color=INK, linewidth=0.8)
        left.text(1.97, places[0] + 0.6, "allowed, both ways", ha="right", va="center")
        left.set(xlim=(0, 2.2), ylim=(-0.6, len(fair)), xlabel="wrong verdicts, %")
        left.set_yticks(places, list(fair))
        shades = matplotlib.colormaps["viridis_r"](np.linspace(0.2, 0.95, len(powers)))
        for (effect, shares), shade, marker in zip(powers.items(), shades, "osD^", strict=False):
            right.plot(SHOWN, shares, f"{marker}-", color=shade, label=f"{effect:g} s.d.")
        right.set(xlabel="seeds", ylabel="share decided", ylim=(0, 1.03))
        right.set_xscale("log", base=2)
        right.set_xticks(SHOWN, [str(n) for n in SHOWN])
        right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, path)
