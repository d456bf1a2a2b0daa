"""A metric's last value along a sweep, a line for each variant."""

import pandas as pd

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import label_of, legend, new_figure
from pfedrl.pipeline.drawings import SweepLines


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    options = context.options(SweepLines)
    figure, axis = new_figure(2.8)
    frames = []
    for variant in dict.fromkeys(summary.statistics["variant"]):
        cells = summary.points_along(variant, options.along)
        if len(cells) < 2:  # a control that the sweep does not touch
            continue
        last = [summary.last(cell, options.metric) for cell in cells.values()]
        kept = ("mean", "se", "low", "high", "seeds", "diverged")
        data = pd.DataFrame([{key: row[key] for key in kept} for row in last])
        data.insert(0, options.along, [value - options.origin for value in cells])
        style = context.styles.of(str(last[0]["algorithm"]))
        label = options.labels.get(str(variant), label_of(str(last[0]["algorithm"])))
        bars = [data["mean"] - data["low"], data["high"] - data["mean"]]
        axis.errorbar(
            data[options.along], data["mean"], bars, label=label, color=style.colour,
            ls=style.line, marker=style.marker, capsize=2,
        )  # fmt: skip
        frames.append(data.assign(variant=str(variant)))
    drawn = pd.concat(frames, ignore_index=True)
    axis.set_xticks(sorted(drawn[options.along].round(9).unique()))
    axis.set_xlabel(options.x)
    axis.set_ylabel(options.y)
    if options.logarithmic:
        axis.set_yscale("log")
    legend(axis)
    return Drawing(figure, drawn)
