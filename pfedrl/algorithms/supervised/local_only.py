"""Every worker by itself: what personal data alone give."""

from typing import ClassVar

from pfedrl.algorithms.supervised.supervised import Supervised


class LocalOnly(Supervised):
    """Local epochs of SGD, and nothing is sent."""

    label: ClassVar[str] = "Local only"
    shares: ClassVar[tuple[str, ...]] = ()
