"""PFedRL-Rep, Figure 12: computation against the worst agent's error, by the number of agents."""

import pandas as pd

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import label_of, legend, new_figure, panel_labels
from pfedrl.pipeline.drawings import Tradeoff


def draw(context: Context) -> Drawing:
    (summary,) = context.summaries.values()
    options = context.options(Tradeoff)
    rows, algorithms = [], {}
    for variant in dict.fromkeys(summary.statistics["variant"]):
        for agents, cell in summary.points_along(variant, options.along).items():
            facts = summary.facts["cells"][cell]
            seconds = facts["cpu_seconds"] / (facts["seeds"][1] - facts["seeds"][0])
            last = summary.last(cell, options.metric)
            algorithms[str(variant)] = str(last["algorithm"])
            rows.append({
                "variant": str(variant), "agents": agents,
                "seconds": seconds if variant == options.serial else seconds / agents,
                **{key: last[key] for key in ("mean", "se", "low", "high", "seeds", "diverged")},
            })  # fmt: skip
    data = pd.DataFrame(rows)
    figure, (left, right) = new_figure(2.5, ncols=2)
    for variant, own in data.groupby("variant", sort=False):
        style = context.styles.of(algorithms[str(variant)])
        look = {"color": style.colour, "ls": style.line, "marker": style.marker}
        label = options.labels.get(str(variant), label_of(algorithms[str(variant)]))
        left.plot(own["agents"], own["seconds"], label=label, **look)
        bars = [own["mean"] - own["low"], own["high"] - own["mean"]]
        right.errorbar(own["agents"], own["mean"], bars, label=label, **look)
    left.set_title("Computation", loc="left")
    left.set_ylabel("seconds a seed")
    right.set_title("Worst-case personalisation error", loc="left")
    right.set_ylabel("equation 56 (mean, 95% CI)")
    right.set_yscale("log")
    for axis in (left, right):
        axis.set_xlabel("agents N")
        axis.set_xticks(sorted(data["agents"].unique()))
        legend(axis)
    panel_labels([left, right])
    return Drawing(figure, data)
