"""PFedRL-Rep, Lemma 4.6: the weights' update g is Lipschitz."""

from typing import ClassVar

import numpy as np

from pfedrl.theory.pfedrl import LipschitzStatement, lipschitz_g, unit


class Lemma46(LipschitzStatement):
    """|g_1 - g_2| <= L_g (|theta_1 - theta_2| + |Phi_1 - Phi_2|), L_g = max(1+gamma, (2+2gamma)B).

    The lemma names no L_g; this one is set in step (a_7) of its proof (Appendix E.1). Step (a_1)
    drops the reward, which multiplies Phi(s). A small B has no room for it; 1 + (2+2gamma)B would
    have, where rewards are at most 1.
    """

    label: ClassVar[str] = "PFedRL-Rep Lemma 4.6"
    records: ClassVar[tuple[str, ...]] = ("margin", "tightness")

    def constant(self) -> float:
        return lipschitz_g(self.gamma, self.largest_norm)

    def update(self, error: np.ndarray, theta: np.ndarray, row: np.ndarray) -> np.ndarray:
        return error[..., None] * row

    def hard(self, along: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of s turns a little, while the TD error is as large as it can be."""
        turned = unit(along + self.apart * across)
        theta = np.stack([-self.largest_norm * along] * 2)
        return theta[None], np.stack([[along, -along], [turned, -along]])[None]
