"""PFedRL-Rep, Figure 12: computation against the worst agent's error, by the number of agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pydantic import Field

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.figures.sweep_panels import APART, aside
from pfedrl.analysis.options import BaseOptions, Named
from pfedrl.analysis.statistics import geometric_mean
from pfedrl.analysis.style import FAINT, new_figure, panel_labels


class Options(BaseOptions):
    """Computation against error."""

    metric: str
    along: str = Field(description="the sweep's key: the number of agents")
    serial: str = Field(description="the variant whose agents run one after another")

    def named(self) -> Iterator[Named]:
        yield Named("metric", metric=self.metric)
        yield Named("serial", variant=self.serial)


def draw(context: Context) -> Drawing:
    import pandas as pd

    (summary,) = context.summaries.values()
    options = context.options(Options)
    rows: list[dict[str, Any]] = []
    for variant in dict.fromkeys(summary.statistics["variant"]):
        for agents, cell in summary.points_along(variant, options.along).items():
            seconds = summary.seconds(cell)
            errors = summary.final(cell, options.metric)
            mean, low, high = geometric_mean(errors[np.isfinite(errors)])
            rows.append({
                "variant": str(variant), "algorithm": summary.algorithm(cell)["name"],
                "label": context.label(summary.experiment, cell), "agents": agents,
                "seconds": seconds if variant == options.serial else seconds / agents,
                "geometric_mean": mean, "low": low, "high": high,
                "seeds": int(np.isfinite(errors).sum()),
                "seconds_one_after_another": seconds, "seconds_side_by_side": seconds / agents,
            })  # fmt: skip
    data = pd.DataFrame(rows)
    points = sorted(data["agents"].unique())
    figure, (left, right) = new_figure(2.7, ncols=2)
    lines = list(data.groupby("variant", sort=False))
    for place, (_, own) in enumerate(lines):
        label, style = own["label"].iloc[0], context.styles.of(own["algorithm"].iloc[0])
        look = {"color": style.colour, "ls": style.line, "marker": style.marker}
        left.plot(own["agents"], own["seconds_one_after_another"], label=label, **look)
        hollow = look | {"ls": ":", "mfc": "white"}
        left.plot(own["agents"], own["seconds_side_by_side"], **hollow)
        middle = own["geometric_mean"]
        share = APART * (place - (len(lines) - 1) / 2)
        right.errorbar(
            aside(own["agents"], points, share, doubled=False), middle,
            [middle - own["low"], own["high"] - middle], label=label, capsize=2, **look,
        )  # fmt: skip
    left.set_title("Computation", loc="left")
    left.set_ylabel("processor seconds per seed")
    left.set_yscale("log")
    left.plot([], [], color=FAINT, marker="o", label="agents one after another")
    left.plot([], [], color=FAINT, ls=":", marker="o", mfc="white",
              label="side by side (divided by N)")  # fmt: skip
    right.set_title("Worst-case personalisation error", loc="left")
    right.set_ylabel("squared value error, worst agent\n(geometric mean, 95% CI)")
    right.set_yscale("log")
    for axis in (left, right):
        axis.set_xlabel("agents N")
        axis.set_xticks(points)
    drawn, named = left.get_legend_handles_labels()
    figure.legend(drawn, named, loc="outside lower center", ncols=len(named))
    panel_labels([left, right])
    return Drawing(figure, data)
