"""DePRL: a shared representation on a graph, and private heads (Xiong et al. 2024, Algorithm 1)."""

from typing import ClassVar

from pfedrl.algorithms.supervised.decentralised import Decentralised
from pfedrl.algorithms.supervised.head_first import HeadFirst


class DePRL(HeadFirst, Decentralised):
    """tau epochs of the private heads, one of the representation, mixed with the neighbours'."""

    label: ClassVar[str] = "DePRL"
