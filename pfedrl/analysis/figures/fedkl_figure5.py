"""FedKL, Figure 5: a learning curve, with the rounds marked whose agents have a negative G."""

from pfedrl.analysis.drawing import Context, Drawing
from pfedrl.analysis.style import INK, label_of, new_figure

VARIANT = "fed_kl"
NEGATIVE = "#c1272d"


def draw(context: Context) -> Drawing:
    """One seed: a mean over several would blur which rounds are meant."""
    import pandas as pd
    from matplotlib.ticker import MaxNLocator

    (summary,) = context.summaries.values()
    (cell,) = summary.cells(VARIANT)
    data = pd.DataFrame({
        "round": summary.curve(cell, "return")["at"].to_numpy(),
        "return": summary.curve(cell, "return")["mean"].to_numpy(),
        "selected_G": summary.curve(cell, "selected_G")["mean"].to_numpy(),
    })  # fmt: skip
    # the last evaluation is followed by no training
    data["negative"] = (data["selected_G"] < 0) & (data["round"] < data["round"].max())
    figure, (upper, lower) = new_figure(3.2, nrows=2, sharex=True, height_ratios=[2, 1])
    style = context.styles.of(VARIANT)
    upper.plot(data["round"], data["return"], color=style.colour, label=label_of(VARIANT))
    upper.set_ylabel("return")
    lower.plot(data["round"], data["selected_G"], color=style.colour, marker=style.marker, ms=2)
    lower.axhline(0, color=INK, lw=0.6)
    lower.set_ylabel("G of selected agents")
    lower.set_xlabel("round")
    lower.xaxis.set_major_locator(MaxNLocator(integer=True))
    least = data.loc[data["negative"], "selected_G"].min()
    negative = f"G of selected agents < 0 (minimum {least:.2g})".replace("-", "−")
    for number, at in enumerate(data.loc[data["negative"], "round"]):
        for axis in (upper, lower):
            label = negative if number == 0 and axis is upper else None
            axis.axvspan(at, at + 1, color=NEGATIVE, alpha=0.25, lw=0, label=label)
    upper.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)  # above: it hides no round
    return Drawing(figure, data)
