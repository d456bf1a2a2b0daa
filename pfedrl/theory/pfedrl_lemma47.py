"""PFedRL-Rep, Lemma 4.7: the features' update h is Lipschitz."""

from typing import ClassVar

import numpy as np

from pfedrl.theory.pfedrl import LipschitzStatement, lipschitz_h, unit


class Lemma47(LipschitzStatement):
    """|h_1 - h_2| <= L_h (|theta_1 - theta_2| + |Phi_1 - Phi_2|).

    The lemma names no L_h; max((1+gamma)B^2, (2+2gamma)B) is set in step (b_7) of its proof
    (Appendix E.2). Step (b_1) drops the reward, which multiplies theta. For B <= 2 the second term
    is the larger, and has no room for it; 1 + (2+2gamma)B would have, where rewards are at most 1.
    """

    label: ClassVar[str] = "PFedRL-Rep Lemma 4.7"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    def constant(self) -> float:
        return lipschitz_h(self.gamma, self.largest_norm)

    def update(self, error: np.ndarray, theta: np.ndarray, row: np.ndarray) -> np.ndarray:
        return error[..., None] * theta

    def hard(self, along: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """theta shrinks, and with it the largest TD error; and rows turn towards theta."""
        theta = -self.largest_norm * np.stack([along, (1 - self.apart) * along])
        turned = [unit(across + turn * along) for turn in (self.apart, -self.gamma * self.apart)]
        return (
            np.stack([theta, theta[[0, 0]]]),
            np.stack([[[along, -along]] * 2, [[across, across], turned]]),
        )
