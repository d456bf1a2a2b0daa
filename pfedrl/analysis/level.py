"""How often verdicts are wrong, by simulation: the test of `evidence` where nothing is to be found.

Every difference here has mean zero, so any verdict is a wrong one. Seeds are looked at when there
are 5, 10, 20, 40 and 80, and the first look that decides counts. A plain t test on all looks stands
beside it, at the same level each time, as one would do it by hand.
"""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

from pfedrl.analysis.evidence import LEVEL, look, p_above, seeds_at
from pfedrl.analysis.output import write_text
from pfedrl.core.files import atomic_write

MOST_SEEDS = 80
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


NULLS: dict[str, Draw] = {
    "normal": lambda random, size: random.normal(size=size),
    "Student's t, 3 degrees of freedom": lambda random, size: random.standard_t(3, size=size),
    "exponential": lambda random, size: random.exponential(size=size) - 1,
    "log-normal, sigma 0.5": lambda r, size: r.lognormal(0, 0.5, size) - np.exp(0.125),
    "log-normal, sigma 1": lambda random, size: random.lognormal(0, 1, size) - np.exp(0.5),
    "two learners, each in half of the seeds": _twice(_learner(0.5)),
    "two learners, each in a fifth of the seeds": _twice(_learner(0.2)),
    "learns in half of the seeds, against a steady one": _against_constant(0.5),
    "learns in a quarter of the seeds, against a steady one": _against_constant(0.25),
    "learns in three quarters, against a steady one": _against_constant(0.75),
    "four of five tie, the rest differ by 1": lambda random, size: np.where(
        random.random(size) < 0.8, 0.0, random.choice([-1.0, 1.0], size)
    ),
}
# Kinds of seeds that are so rare, or reach so far, that 80 seeds may not show them: no test of a
# mean can hold its level there.
RARE: dict[str, Draw] = {
    "learns in one seed of ten, against a steady one": _against_constant(0.1),
    "learns in one seed of twenty, against a steady one": _against_constant(0.05),
    "log-normal, sigma 1.5": lambda r, size: r.lognormal(0, 1.5, size) - np.exp(1.125),
    "log-normal, sigma 2": lambda random, size: random.lognormal(0, 2, size) - np.exp(2),
}


def looks() -> list[int]:
    last = look(MOST_SEEDS)
    assert last is not None
    return [seeds_at(k) for k in range(last + 1)]


def decided(differences: np.ndarray) -> np.ndarray:
    """Whether there is a verdict, for or against, by each look: [look, simulation]."""
    found = [
        np.minimum(p_above(differences[:, :n]), p_above(-differences[:, :n])) < LEVEL
        for n in looks()
    ]
    return np.logical_or.accumulate(found)


def decided_by_t(differences: np.ndarray) -> np.ndarray:
    """The same by a t test at every look, one-sided at the same level."""
    found = []
    for n in looks():
        seen = differences[:, :n]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = seen.mean(axis=1) / (seen.std(axis=1, ddof=1) / np.sqrt(n))
        found.append(stats.t.sf(np.abs(np.nan_to_num(t)), n - 1) < LEVEL)
    return np.logical_or.accumulate(found)


def wrong_verdicts(draw: Draw, simulations: int, seed: int = 0) -> tuple[float, float]:
    """The share of simulations that end in a verdict: by our test, and by a t test."""
    differences = draw(np.random.default_rng(seed), (simulations, MOST_SEEDS))
    return float(decided(differences)[-1].mean()), float(decided_by_t(differences)[-1].mean())


def power(effect: float, simulations: int, seed: int = 0) -> list[float]:
    """The share decided by each look, of normal differences with that mean."""
    random = np.random.default_rng(seed)
    differences = random.normal(effect, 1, (simulations, MOST_SEEDS))
    return [float(share) for share in decided(differences).mean(axis=1)]


def write_level(folder: Path, simulations: int = SIMULATIONS) -> None:
    """The table (csv, md) and the figure (png) of wrong verdicts and of power."""
    wrong, beyond = (
        {name: wrong_verdicts(draw, simulations) for name, draw in kinds.items()}
        for kinds in (NULLS, RARE)
    )
    powers = {effect: power(effect, simulations) for effect in EFFECTS}
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["differences", "mean", "seeds", "ours", "t"])
    for name, (ours, by_t) in (wrong | beyond).items():
        rows.writerow([name, 0, MOST_SEEDS, f"{ours:.5f}", f"{by_t:.5f}"])
    for effect, shares in powers.items():
        for seeds, share in zip(looks(), shares, strict=True):
            rows.writerow(["normal", effect, seeds, f"{share:.5f}", ""])
    write_text(folder / "level.csv", text.getvalue())
    write_text(folder / "level.md", _page(wrong, beyond, powers, simulations))
    _draw(folder / "level.png", wrong, powers)


def _page(
    wrong: dict[str, tuple[float, float]],
    beyond: dict[str, tuple[float, float]],
    powers: dict[float, list[float]],
    simulations: int,
) -> str:
    lines = [
        "# Error rate and power of the verdicts",
        "",
        f"Written by `pfedrl level`: {simulations:,} simulations per row. Each one is tested at "
        f"{', '.join(map(str, looks()))} seeds and stops at the first verdict. With a true "
        f"mean of zero, at most {LEVEL:.0%} may end in a verdict. A verdict must also hold when "
        "any one seed is left out; this is not simulated, and makes right and wrong verdicts "
        "rarer.",
        "",
        "| differences of mean zero | wrong verdicts | repeated t test |",
        "|---|--:|--:|",
        *(f"| {name} | {ours:.2%} | {by_t:.1%} |" for name, (ours, by_t) in wrong.items()),
        "",
        "The error rate exceeds this level where a kind of seed is so rare, or lies so far out, "
        "that a sample may not contain it. No test of a mean can hold its level there:",
        "",
        "| differences of mean zero | wrong verdicts | repeated t test |",
        "|---|--:|--:|",
        *(f"| {name} | {ours:.2%} | {by_t:.1%} |" for name, (ours, by_t) in beyond.items()),
        "",
        "Power: the share of simulations with a verdict, for normal differences whose mean is "
        "given in standard deviations:",
        "",
        "| mean |" + "".join(f" {n} seeds |" for n in looks()),
        "|--:|" + "--:|" * len(looks()),
        *(
            f"| {effect:g} |" + "".join(f" {share:.0%} |" for share in shares)
            for effect, shares in powers.items()
        ),
        "",
    ]
    return "\n".join(lines)


def _draw(
    path: Path, wrong: dict[str, tuple[float, float]], powers: dict[float, list[float]]
) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    from pfedrl.analysis.style import FAINT, INK, METADATA, WIDTH, paper_style

    with paper_style():
        figure = Figure(figsize=(WIDTH, 2.6))
        left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
        places = np.arange(len(wrong))[::-1]
        ours, by_t = np.array(list(wrong.values())).T
        blue = "#0072B2"
        left.plot(by_t, places, "o", color=FAINT, label="repeated t test")
        some = ours > 0  # none at all has no place on a logarithmic axis: hollow, at its left end
        left.plot(ours[some], places[some], "s", color=blue, label="ours")
        none = {"mfc": "none", "label": "ours, no wrong verdict"}
        left.plot(np.full(sum(~some), 1e-5), places[~some], "s", color=blue, **none)
        left.axvline(LEVEL, color=INK, linewidth=0.8, label=f"allowed, {LEVEL:.0%}")
        left.set(xscale="log", xlabel="share of wrong verdicts (true mean: 0)")
        left.set_yticks(places, list(wrong))
        left.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        shades = matplotlib.colormaps["viridis_r"](np.linspace(0.2, 0.95, len(powers)))
        for (effect, shares), shade, marker in zip(powers.items(), shades, "osD^", strict=False):
            right.plot(looks(), shares, f"{marker}-", color=shade, label=f"{effect:g}")
        right.set(xlabel="seeds", ylabel="share decided", title="Mean difference in s.d.")
        right.set_xscale("log", base=2)
        right.set_xticks(looks(), [str(n) for n in looks()])
        right.legend(loc="upper left")
        with atomic_write(path) as temporary:
            figure.savefig(temporary, format="png", metadata=METADATA["png"])
