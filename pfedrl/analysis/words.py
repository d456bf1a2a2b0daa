"""What metrics are called where people read, and which way they are better."""

# what an experiment is compared by where it chooses none: the first that every learner measures
PREFERRED = ("centre_value", "return_average", "greedy_return", "objective", "return")
WORDS = {
    "accuracy_after_mixing": "test accuracy after mixing (%)",
    "accuracy_before_mixing": "test accuracy before mixing (%)",
    "accuracy_mean_model": "test accuracy of the mean model (%)",
    "best_greedy_return": "best return without exploration",
    "best_return": "best return of any round",
    "centre_value": "discounted return in the centre",
    "converged_at": "episodes until the estimate stays within 5%",
    "diverged": "share of agents whose training diverged",
    "episodes_to_half": "episodes until half of the highest return",
    "episodes_to_solve": "episodes until the task is solved",
    "error_at_start": "error of the value at the start state",
    "greedy_return": "return without exploration",
    "greedy_return_average": "return without exploration, mean over training",
    "held_out_objective": "objective in new environments (mean return)",
    "mean_return": "mean return of all rounds",
    "megabytes_sent": "sent (MB)",
    "objective": "objective (mean return)",
    "reached_half": "share of seeds that reach half of the highest return",
    "reached_solve": "share of seeds that solve the task",
    "return": "return of an episode",
    "return_average": "mean return of training episodes",
    "return_deviation": "standard deviation of training returns",
    "return_median": "median return of training episodes",
    "return_variance": "variance of training returns",
    "root_mean_squared_error": "root mean squared error of values",
    "steps_to_convergence": "time to convergence (minibatches)",
    "training_loss": "training loss (nats)",
    "training_return": "return of the last training episodes",
    "worst_value_error": "value error of the worst agent",
}
PLACES = {  # how a metric begins that is of an adaptation, the longer beginnings first
    "adapt_nothing_": "in a new environment, without adapting",
    "adapt_all_": "in a new environment, adapting all parameters",
    "adapt_net_": "in a new environment, adapting the network",
    "adapt_": "in a new environment, adapting",
}
HIGHER = ("return", "return_average", "return_median", "objective", "centre_value", "speed")
LOWER = ("value_error", "squared_error", "error_at_start", "converged_at", "training_loss",
         "megabytes_sent", "diverged", "crashes", "drawdown", "fall")  # fmt: skip


def words_of(metric: str) -> str:
    """A metric on an axis or above a column; its own name, spaced, where none is given."""
    for begins, place in PLACES.items():
        if metric.startswith(begins):
            return f"{words_of(metric.removeprefix(begins))}, {place}"
    return WORDS.get(metric, metric.replace("_", " "))


def better_way(metric: str) -> int:
    """1 where a higher value of a metric is better, -1 where a lower one is, 0 where neither is."""
    if metric.startswith("baseline_"):
        return 0  # of what the algorithm is compared with
    for begins in PLACES:
        metric = metric.removeprefix(begins)
    if metric.endswith(HIGHER) or metric.startswith(("accuracy_", "newcomers_acc", "reached_")):
        return 1
    timed = metric.startswith(("episodes_to_", "rounds_to_", "steps_to_"))
    return -1 if timed or metric.endswith(LOWER) else 0
