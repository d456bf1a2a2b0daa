"""DDPGAvg (Jin et al. 2022, Section 7.3), called FedDDPG by PFedRL-Rep: nets are averaged."""

from typing import ClassVar

from pfedrl.algorithms.ddpg.deterministic import DeterministicPolicies


class DDPGAvg(DeterministicPolicies):
    """The server averages the agents' actors and critics; a new environment fine-tunes them."""

    label: ClassVar[str] = "DDPGAvg"
    shares: ClassVar[tuple[str, ...]] = ("*_body", "*_head")
