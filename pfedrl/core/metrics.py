"""The catalogue of metrics: for each one its words, its unit, its range and which way is better.

Nothing that shapes numbers reads it. Ranges keep intervals within what a metric can be. Metrics
that every run shares by a part of their name (`head_similarity_3`) are one entry with a pattern.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from math import inf
from typing import Any, NamedTuple

Bounds = tuple[float, float]


class Metric(NamedTuple):
    """One entry; `{}` in the words is what the pattern's group matched."""

    pattern: str
    words: str = ""  # the name itself, spaced, where none are given
    unit: str = ""
    least: float = -inf
    most: float = inf
    better: int = 0  # 1: higher is better; -1: lower; 0: neither
    main: bool = False  # shown first, in the order of the catalogue
    scored: bool = False  # its range is that of an episode's return


def _score(pattern: str, words: str, *, better: int = 1, main: bool = False) -> Metric:
    return Metric(pattern, words, better=better, main=main, scored=True)


ANY = Metric("")  # an unknown metric
CATALOGUE = (
    # reinforcement learning: returns, values and times
    _score("centre_value", "discounted return in the centre", main=True),
    _score("return_average", "mean return of training episodes", main=True),
    _score("greedy_return", "return without exploration", main=True),
    _score("objective", "objective (mean return)", main=True),
    _score("held_out_objective", "objective in new environments (mean return)", main=True),
    _score("return", "return of an episode", main=True),
    Metric("accuracy_after_mixing", "test accuracy after mixing", "%", 0, 100, 1, main=True),
    Metric("root_mean_squared_error", "root mean squared error of values", least=0, better=-1,
           main=True),
    Metric("diverged", "share of agents whose training diverged", better=-1, main=True),
    _score("baseline_(objective|held_out_objective)", "{} of the baseline", better=0),
    _score("best_greedy_return", "best return without exploration"),
    _score("best_return", "best return of any round"),
    _score("greedy_return_average", "return without exploration, mean over training"),
    _score("mean_return", "mean return of all rounds"),
    _score("return_median", "median return of training episodes"),
    _score("training_return", "return of the last training episodes"),
    _score("whole_return", "return of episodes without a crash"),
    Metric("return_deviation", "standard deviation of training returns", least=0),
    Metric("return_variance", "variance of training returns", least=0),
    Metric("value_error", least=0, better=-1),
    Metric("worst_value_error", "value error of the worst agent", least=0, better=-1),
    Metric("error_at_start", "error of the value at the start state", better=-1),
    Metric("converged_at", "episodes until the estimate stays within 5%", better=-1),
    Metric("(negative_value|negative_true_value)"),
    Metric("spread", "spread of the agents' values at the start state"),
    Metric("episodes", least=0),
    Metric("episodes_to_half", "episodes until half of the highest return", least=0, better=-1),
    Metric("episodes_to_solve", "episodes until the task is solved", least=0, better=-1),
    Metric("rounds_to_target", "rounds until the target is reached", least=0, better=-1),
    Metric("settled_at", "iteration at which nothing changes any more", least=0),
    Metric("reached_half", "share of seeds that reach half of the highest return", "", 0, 1, 1),
    Metric("reached_solve", "share of seeds that solve the task", "", 0, 1, 1),
    Metric("megabytes_sent", "sent", "MB", least=0, better=-1),
    # policy optimisation on Reacher and on the road
    Metric("(drawdown|fall)", least=0, better=-1),
    Metric("fluctuation", "mean change of the return between rounds"),
    Metric("(c1|c2)", "penalty coefficient {}"),
    Metric("retries", "policy updates that were repeated"),
    Metric("crashes", "share of episodes that end in a crash", "", 0, 1, -1),
    Metric("speed", "mean speed", better=1),
    Metric("(x|y|lap_position)"),
    Metric("(potential|heterogeneity)", least=0),
    Metric("(potential|heterogeneity)_above_floor"),
    Metric("floor", "heterogeneity of identical clients (sampling noise)"),
    Metric("G(_above_floor)?(_at_first|_lately|_overall)?"),
    Metric("selected_G", "G summed over the selected agents"),
    Metric("(late_)?gain_where_(negative|positive)"),
    Metric("(late_)?negative_rounds"),
    # labelled data, and what agents share
    Metric("accuracy_before_mixing", "test accuracy before mixing", "%", 0, 100, 1),
    Metric("accuracy_mean_model", "test accuracy of the mean model", "%", 0, 100, 1),
    Metric(r"newcomers_accuracy_([\d.]+)", "test accuracy of newcomers, pi = {}", "%", 0, 100, 1),
    Metric("reached_(accuracy_.+)", "share of seeds whose {} reaches the target", "", 0, 1, 1),
    Metric("steps_to_(accuracy_.+)", "minibatches until {} reaches the target", least=0, better=-1),
    Metric("steps_to_convergence", "time to convergence", "minibatches", least=0, better=-1),
    Metric("training_loss", "training loss", "nats", least=0, better=-1),
    Metric("consensus_error", least=0),
    Metric("consensus_error_before_mixing", least=0),
    Metric("spectral_gap", "spectral gap of the graph"),
    Metric(r"samples_of_class_\d+", least=0),
    Metric(r"(body|head|label|transition)_similarity_\d+", least=-1, most=1),
    Metric("similarity_correlation", "correlation of the cosines of heads and of tasks", "", -1, 1),
    # theory: by instance
    Metric("applies", "share of instances that meet the premises"),
    Metric("(.+_)?margin", "margin to the bound (negative: violated)"),
    Metric("(.+_)?tightness", "share of the bound that is used"),
    Metric(r"(features_|weights_)?slope(_.+)?"),
    Metric(r"(features_|weights_)?error_[nt]_\d+"),
    Metric(r"measure_[kn]_\d+"),
    Metric("drawn_(features|weights)"),
    Metric("consensus_(last|peak)"),
    Metric("(gain|gained|gap|level|moved|vanishing|allowed|kappa_2)"),
    Metric("(first_step|resting_from|log10_rounds_needed)"),
    Metric("size", "size of the instance", least=0),
)  # fmt: skip
MAIN = tuple(metric.pattern for metric in CATALOGUE if metric.main)
PREFERRED = tuple(metric.pattern for metric in CATALOGUE if metric.main and metric.better > 0)
PLACES = {  # how the metrics of an adaptation begin, the longer beginnings first
    "adapt_nothing_": "in a new environment, without adapting",
    "adapt_all_": "in a new environment, adapting all parameters",
    "adapt_net_": "in a new environment, adapting the network",
    "adapt_": "in a new environment, adapting",
}
LATE = "_late"  # how the mean over the second half of a curve ends


def _discounted(least: float, most: float) -> Callable[[Mapping[str, Any]], Bounds]:
    """Values of tabular tasks whose rewards lie between two numbers, as the family scores them."""

    def bounds(family: Mapping[str, Any]) -> Bounds:
        ends = (reward / (1.0 - family["gamma"]) for reward in (least, most))
        shift, scale = family["score_shift"], family["score_scale"]
        low, high = ((end + shift) * scale for end in ends)
        return low, high

    return bounds


SCORES: dict[str, Callable[[Mapping[str, Any]], Bounds]] = {
    # of an episode: a step of a classic task gives or costs 1, one of traffic gives at most 1
    "random_mdp": _discounted(0.0, 1.0),
    "windy_cliff": _discounted(-100.0, 100.0),
    "cartpole": lambda family: (0.0, float(family["cap"])),
    "acrobot": lambda family: (-float(family["cap"]), 0.0),
    "figure_eight": lambda family: (0.0, float(family["horizon"])),
    "reacher": lambda family: (-inf, 0.0),  # a distance and a control cost, both subtracted
}


@cache
def entries(metric: str) -> tuple[Metric, ...]:
    """The entries that a metric matches: exactly one, if the catalogue has it."""
    name = metric.removesuffix(LATE)
    for begins in PLACES:
        name = name.removeprefix(begins)
    return tuple(entry for entry in CATALOGUE if re.fullmatch(entry.pattern, name))


def entry_of(metric: str) -> Metric:
    return next(iter(entries(metric)), ANY)


def words_of(metric: str) -> str:
    """A metric on an axis or above a column; its own name, spaced, where no words are given."""
    for begins, place in PLACES.items():
        if metric.startswith(begins):
            return f"{words_of(metric.removeprefix(begins))}, {place}"
    entry = entry_of(metric)
    if metric.endswith(LATE) or not entry.words:
        return metric.replace("_", " ")
    match = re.fullmatch(entry.pattern, metric)
    groups = match.groups(default="") if match else ()
    words = entry.words.format(*(group.replace("_", " ") for group in groups))
    return words + (f" ({entry.unit})" if entry.unit else "")


def better_way(metric: str) -> int:
    """1 where a higher value of a metric is better, -1 where a lower one is, 0 where neither is."""
    return entry_of(metric).better


def possible(metric: str, family: Mapping[str, Any] | None) -> Bounds:
    """The least and the most that a metric can be, with the settings of the run's family."""
    entry = entry_of(metric)
    if entry.scored and family is not None and (of := SCORES.get(family.get("name", ""))):
        return of(family)
    return entry.least, entry.most
