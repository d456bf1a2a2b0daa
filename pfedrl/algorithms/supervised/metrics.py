"""The names of what is recorded of supervised learners; without torch, so that claims can be
checked.

Accuracies are in percent, the mean over a seed's workers with more than `TOO_FEW` test samples,
each of its own test samples, at three moments of a round: after local training, after the exchange,
and of the workers' mean (private parts stay each worker's own).
"""

from pfedrl.algorithms.supervised.settings import SupervisedSettings

TOO_FEW = 10  # test samples that say nothing of a worker
MOMENTS = ("before_mixing", "after_mixing", "mean_model")
COMPARED = ("label", "head", "body")  # of which workers' cosines are taken
CONVERGED = 0.05  # of the way from the first training loss to the lowest may be left


def names(settings: SupervisedSettings, agents: int, newcomers_pi: list[float]) -> set[str]:
    """All of them, of a family with so many workers and these groups of newcomers."""
    found = {f"accuracy_{moment}" for moment in MOMENTS}
    found |= {"training_loss", "consensus_error", "consensus_error_before_mixing"}
    found |= {"megabytes_sent"}
    found |= {newcomers_accuracy(pi) for pi in newcomers_pi}
    if settings.target_accuracy is not None:
        found |= {f"{of}_accuracy_{moment}" for of in ("steps_to", "reached") for moment in MOMENTS}
        found |= {"steps_to_convergence"}
    if settings.measure_similarities:
        found |= {f"{of}_similarity_{j}" for of in COMPARED for j in range(agents)}
        found |= {"similarity_correlation"} if agents > 2 else set()
    return found


def newcomers_accuracy(pi: float) -> str:
    """Of new workers with the learned representation and heads of their own, by their data's pi."""
    return f"newcomers_accuracy_{pi:g}"
