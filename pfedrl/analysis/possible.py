"""What values a metric can take at all: no interval is drawn beyond them."""

from typing import Any

import numpy as np

from pfedrl.analysis.statistics import ANYTHING, Bounds

NEVER_NEGATIVE = ("drawdown", "fall", "potential", "heterogeneity", "size", "megabytes_sent",
                  "training_loss", "consensus_error_before_mixing")  # fmt: skip
COUNTS = ("episodes", "rounds_to_", "steps_to_", "samples_", "settled_at")  # how such metrics begin
SPREADS = ("_deviation", "_variance", "_error")  # how such metrics end
SCORES = ("return", "return_average", "return_median", "objective")  # how scores end


def possible(metric: str, family: dict[str, Any] | None) -> Bounds:
    """The least and the most, by the metric's meaning and the settings of the run's family."""
    if "_similarity_" in metric or metric == "similarity_correlation":
        return -1.0, 1.0
    if metric.startswith(("accuracy_", "newcomers_accuracy_")):
        return 0.0, 100.0
    if metric == "crashes" or metric.startswith("reached_"):
        return 0.0, 1.0
    if metric in NEVER_NEGATIVE or metric.startswith(COUNTS) or metric.endswith(SPREADS):
        return 0.0, np.inf
    if family is not None and metric.endswith(SCORES):
        return _scores(family)
    return ANYTHING


def _scores(family: dict[str, Any]) -> Bounds:
    """Of an episode: a step of a classic task gives or costs 1, one of traffic gives at most 1."""
    match family.get("name"):
        case "cartpole":
            return 0.0, float(family["cap"])
        case "acrobot":
            return -float(family["cap"]), 0.0
        case "figure_eight":
            return 0.0, float(family["horizon"])
        case "reacher":
            return -np.inf, 0.0  # a distance and a control cost, both subtracted
    return ANYTHING
