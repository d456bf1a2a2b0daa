"""PFedRL-Rep, Figure 11: how training time falls with the number of agents."""

import numpy as np
import pandas as pd

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.possible import possible
from pfedrl.analysis.statistics import Effect, effect, exponents, mean_interval
from pfedrl.analysis.style import FAINT, legend, new_figure, panel_labels
from pfedrl.analysis.summaries import Summary
from pfedrl.pipeline.drawings import Speedup

LOOKS = (("-", "o"), ("--", "s"))  # of the marks' lines


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    options = context.options(Speedup)
    variant, along = options.variant, options.along
    colour = context.styles.of(variant).colour
    figure, (left, right) = new_figure(2.8, ncols=2)
    frames = []
    for mark, (line, marker) in zip(options.marks, LOOKS, strict=False):
        data, grows = speedups(summary, variant, mark.metric, along)
        data["never"] = missed(summary, variant, mark.reached, along)
        look = {"color": colour, "ls": line, "marker": marker, "capsize": 2}
        bars = [data["mean"] - data["low"], data["high"] - data["mean"]]
        never = f"{data['never'].sum()} of {data['seeds'].sum()} runs never"
        left.errorbar(data["agents"], data["mean"], bars, label=f"{mark.label}; {never}", **look)
        bars = [data["speedup"] - data["speedup_low"], data["speedup_high"] - data["speedup"]]
        label = f"$N^{{{grows.mean:.2f}}}$, exponent {grows.low:.2f} to {grows.high:.2f}"
        right.errorbar(data["agents"], data["speedup"], bars, label=label, **look)
        frames.append(data.assign(
            metric=mark.metric, slope=grows.mean, slope_low=grows.low, slope_high=grows.high
        ))  # fmt: skip
    agents = data["agents"]
    right.plot(agents, agents / agents.iloc[0], color=FAINT, ls=":", label="linear")
    left.set_title("Episodes of training", loc="left")
    left.set_ylabel("episodes (mean, 95% CI)")
    left.set_ylim(bottom=0)
    right.set_title(f"Speedup against N = {agents.iloc[0]:g}", loc="left")
    right.set_ylabel("speedup (95% CI)")
    for axis in (left, right):
        axis.set_xlabel("agents N")
        axis.set_xticks(agents)
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

    Seeds are the unit of replication: each has its ratios, averaged on a logarithmic scale, and
    its exponent.
    """
    cells = summary.points_along(variant, along)
    agents = np.array(list(cells))
    times = np.stack([summary.final(cell, metric) for cell in cells.values()])  # [N, seed]
    times = times[:, np.isfinite(times).all(axis=0)]
    low, high = mean_interval(times, possible(metric, None))
    logs = np.log(times[0] / times)
    faster_low, faster_high = mean_interval(logs)
    frame = pd.DataFrame({
        "agents": agents, "mean": times.mean(axis=1), "low": low, "high": high,
        "speedup": np.exp(logs.mean(axis=1)), "speedup_low": np.exp(faster_low),
        "speedup_high": np.exp(faster_high), "seeds": times.shape[1],
    })  # fmt: skip
    return frame, effect(-exponents(agents, times))
