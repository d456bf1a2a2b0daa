"""What metrics are called where people read: words, and the unit where there is one."""

WORDS = {
    "accuracy_after_mixing": "test accuracy after mixing (%)",
    "accuracy_before_mixing": "test accuracy before mixing (%)",
    "accuracy_mean_model": "test accuracy of the mean model (%)",
    "centre_value": "discounted return in the centre",
    "greedy_return": "return without exploration",
    "held_out_objective": "objective in new environments (mean return)",
    "megabytes_sent": "sent (MB)",
    "objective": "objective (mean return)",
    "return": "return of an episode",
    "return_average": "mean return of training episodes",
    "root_mean_squared_error": "root mean squared error of values",
    "steps_to_convergence": "time to convergence (minibatches)",
    "training_loss": "training loss (nats)",
}


def words_of(metric: str) -> str:
    """A metric on an axis or above a column; its own name, spaced, where none is given."""
    return WORDS.get(metric, metric.replace("_", " "))
