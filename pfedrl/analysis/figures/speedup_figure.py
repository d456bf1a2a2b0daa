"""PFedRL-Rep, Figure 11: how training time falls with the number of agents.

Options: `variant`, `along` (the number of agents) and `marks`: each a metric (what is fewer when
faster) with a `label`, and the metric `reached` that is 0 where the mark was never reached.
"""

import numpy as np
import pandas as pd

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.statistics import Effect, effect, exponents
from pfedrl.analysis.style import FAINT, legend, new_figure, panel_labels, style_of
from pfedrl.analysis.summaries import Summary

RESAMPLES = 10_000
LOOKS = (("-", "o"), ("--", "s"))  # of the marks' lines


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    options = context.artifact.options
    variant, along = options["variant"], options["along"]
    colour = style_of(variant).colour
    figure, (left, right) = new_figure(2.8, ncols=2)
    frames = []
    for mark, (line, marker) in zip(options["marks"], LOOKS, strict=True):
        data, grows = speedups(summary, variant, mark["metric"], along)
        data["never"] = missed(summary, variant, mark["reached"], along)
        look = {"color": colour, "ls": line, "marker": marker, "capsize": 2}
        bars = [data["mean"] - data["low"], data["high"] - data["mean"]]
        never = f"{data['never'].sum()} of {data['seeds'].sum()} runs never"
        left.errorbar(data["agents"], data["mean"], bars, label=f"{mark['label']}; {never}", **look)
        bars = [data["speedup"] - data["speedup_low"], data["speedup_high"] - data["speedup"]]
        label = f"$N^{{{grows.mean:.2f}}}$, exponent {grows.low:.2f} to {grows.high:.2f}"
        right.errorbar(data["agents"], data["speedup"], bars, label=label, **look)
        frames.append(data.assign(
            metric=mark["metric"], slope=grows.mean, slope_low=grows.low, slope_high=grows.high
        ))  # fmt: skip
    right.plot(data["agents"], data["agents"] / 2, color=FAINT, ls=":", label="linear")
    left.set_title("Episodes of training", loc="left")
    left.set_ylabel("episodes (mean, 95% CI)")
    left.set_ylim(bottom=0)
    right.set_title("Speedup against N = 2", loc="left")
    right.set_ylabel("speedup (95% CI)")
    for axis in (left, right):
        axis.set_xlabel("agents N")
        legend(axis)
    panel_labels([left, right])
    return Drawing(figure, pd.concat(frames, ignore_index=True))


def missed(summary: Summary, variant: str, reached: str, along: str) -> list[int]:
    """How many seeds never reached the mark, at each number of agents."""
    cells = summary.points_along(variant, along).values()
    return [int((summary.final(cell, reached) == 0).sum()) for cell in cells]


def speedups(
    summary: Summary, variant: str, metric: str, along: str
) -> tuple[pd.DataFrame, Effect]:
    """Times and speedups with 95% intervals, and the exponent of N in the speedup.

    Seeds are the unit of replication: resampled together for all N, and each with an exponent.
    """
    cells = summary.points_along(variant, along)
    agents = np.array(list(cells))
    times = np.stack([summary.final(cell, metric) for cell in cells.values()])  # [N, seed]
    times = times[:, np.isfinite(times).all(axis=0)]
    drawn = np.random.default_rng(0).integers(times.shape[1], size=(RESAMPLES, times.shape[1]))
    means = times[:, drawn].mean(axis=2)  # [N, resample]
    mean = times.mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    faster_low, faster_high = np.quantile(means[0] / means, [0.025, 0.975], axis=1)
    frame = pd.DataFrame({
        "agents": agents, "mean": mean, "low": low, "high": high, "speedup": mean[0] / mean,
        "speedup_low": faster_low, "speedup_high": faster_high, "seeds": times.shape[1],
    })  # fmt: skip
    return frame, effect(-exponents(agents, times))
