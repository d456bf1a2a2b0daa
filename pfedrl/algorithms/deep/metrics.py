"""The names of what is recorded of deep learners; without torch, so that claims can be checked."""

from typing import Any

OF_EACH_AGENT = {
    "training_return", "return_average", "greedy_return", "greedy_return_average", "diverged",
    "megabytes_sent",
}  # fmt: skip


def places(family: Any, pairs: bool) -> set[str]:
    """Where the agents' average is scored, and all pairs of nets and places where they are."""
    found = {"objective", "held_out_objective"} if family.newcomers else {"objective"}
    return found | ({f"baseline_{place}" for place in found} if pairs else set())
