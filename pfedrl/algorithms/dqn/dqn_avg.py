"""DQNAvg (Jin et al. 2022, Section 7.3), called FedDQN by PFedRL-Rep: the server averages nets."""

from typing import ClassVar

from pfedrl.algorithms.dqn.deep_value import DeepValue


class DQNAvg(DeepValue):
    """The server averages the agents' whole Q nets; a new environment fine-tunes the average."""

    label: ClassVar[str] = "DQNAvg"
    shares: ClassVar[tuple[str, ...]] = ("body", "head")
