"""The names of what controls record of bodies that walk; without torch, so that claims can ask."""

from pfedrl.envs.members import MemberFamily


def walker_metrics(family: MemberFamily) -> set[str]:
    """Those of what learners report there."""
    own = {"training_return", "greedy_return", "greedy_return_average", "objective"}
    new = {"held_out_objective", "adapt_training_return", "adapt_greedy_return"}
    return own | (new if family.newcomers else set())
