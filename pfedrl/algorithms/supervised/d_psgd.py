"""D-PSGD: whole models mixed on a graph (Lian et al. 2017)."""

from typing import ClassVar

from pfedrl.algorithms.supervised.decentralised import Decentralised


class DPSGD(Decentralised):
    """Local epochs of SGD, then a mean with the neighbours' models."""

    label: ClassVar[str] = "D-PSGD"
