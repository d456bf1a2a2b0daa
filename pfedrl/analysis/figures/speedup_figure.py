"""PFedRL-Rep, Figure 11: how training time falls with the number of agents.

Options: `variant`, `metric` (what is fewer when faster) and `along` (the number of agents).
"""

import numpy as np
import pandas as pd

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.statistics import effect, exponents
from pfedrl.analysis.style import FAINT, legend, new_figure, panel_labels, style_of
from pfedrl.analysis.summaries import Summary

RESAMPLES = 10_000


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    options = context.artifact.options
    data, slope = speedups(summary, options["variant"], options["metric"], options["along"])
    style = style_of(options["variant"])
    figure, (left, right) = new_figure(2.5, ncols=2)
    bars = [data["mean"] - data["low"], data["high"] - data["mean"]]
    left.errorbar(data["agents"], data["mean"], bars, color=style.colour, marker=style.marker)
    left.set_title("Episodes to solve", loc="left")
    left.set_ylabel("episodes (mean, 95% CI)")
    bars = [data["speedup"] - data["speedup_low"], data["speedup_high"] - data["speedup"]]
    right.errorbar(
        data["agents"], data["speedup"], bars, color=style.colour, marker=style.marker,
        label=f"ours, grows as N^{slope[0]:.2f} [{slope[1]:.2f}, {slope[2]:.2f}]",
    )  # fmt: skip
    right.plot(data["agents"], data["agents"] / 2, color=FAINT, ls="--", label="linear")
    right.set_title("Speedup against N = 2", loc="left")
    right.set_ylabel("speedup")
    for axis in (left, right):
        axis.set_xlabel("agents N")
    legend(right)
    panel_labels([left, right])
    return Drawing(figure, data.assign(slope=slope[0], slope_low=slope[1], slope_high=slope[2]))


def speedups(
    summary: Summary, variant: str, metric: str, along: str
) -> tuple[pd.DataFrame, tuple[float, float, float]]:
    """Times and speedups with 95% intervals, and the exponent of N in the speedup with its own.

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
    grows = effect(-exponents(agents, times))
    return frame, (grows.mean, grows.low, grows.high)
