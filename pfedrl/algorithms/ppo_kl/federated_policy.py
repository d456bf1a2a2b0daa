"""What the FedKL paper's algorithms share: rounds of PPO-KL, averaged by the server."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pfedrl.algorithms.algorithm import Algorithm
from pfedrl.algorithms.ppo_kl.federation_settings import FederationSettings
from pfedrl.algorithms.ppo_kl.settings import Pull
from pfedrl.envs.family import Family
from pfedrl.stack.exchange import Exchange, SharedParts
from pfedrl.stack.mixing import ServerAverage
from pfedrl.stack.selection import KOfN, Selection

if TYPE_CHECKING:
    from pfedrl.algorithms.ppo_kl.learner import FederatedPPO


def heterogeneity_metrics() -> set[str]:
    """Of D, A, B and G: as they are and above the floor of sampling noise, and by G's sign."""
    found = {"floor", "selected_G"}
    for above in ("", "_above_floor"):
        found |= {f"{of}{above}" for of in ("G", "potential", "heterogeneity")}
        found |= {f"G{above}_{when}" for when in ("overall", "at_first", "lately")}
    for when in ("", "late_"):
        found |= {f"{when}gain_where_{sign}" for sign in ("negative", "positive")}
        found |= {f"{when}negative_rounds"}
    return found


class FederatedPolicy(Algorithm, FederationSettings):
    """Agents have equal amounts of data, so the average by data (Algorithm 2) is a plain one."""

    kinds: ClassVar[frozenset[str]] = frozenset({"continuous"})

    @abstractmethod
    def pull(self) -> Pull:
        """What keeps a local policy near the global one."""

    def metrics(self, family: Family) -> set[str]:
        found = {"return", "best_return", "mean_return", "drawdown", "fall", "fluctuation"}
        found |= {"c1", "c2", "retries", "megabytes_sent"} | family.records()
        if self.target is not None:
            found |= {"rounds_to_target"}
        if self.measure_heterogeneity:
            found |= heterogeneity_metrics()
        return found

    def learner(self, task: Any, seeds: Sequence[int]) -> "FederatedPPO":
        from pfedrl.algorithms.ppo_kl.learner import FederatedPPO

        return FederatedPPO(task, seeds, self, self.pull(), self.selection(task, seeds))

    def selection(self, task: Any, seeds: Sequence[int]) -> Selection:
        """Who trains: the same agents for every algorithm."""
        return KOfN(seeds, task.agents, self.selected)

    def exchange(self, task: Any, seeds: Sequence[int]) -> Exchange:
        coefficients = ("c1", "c2") if self.average_coefficients else ()
        average = ServerAverage(self.selection(task, seeds))
        return SharedParts(("policy", "critic", *coefficients), average, self.local_iterations)

    def rounds(self) -> int:
        return self.communication_rounds + 1  # the last one only looks at the model
