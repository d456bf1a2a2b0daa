"""Where PFedTD-Rep is headed: the expected update of features and weights, and its rest points."""

from dataclasses import dataclass

import numpy as np

from pfedrl.envs.tabular.chain import Chain


@dataclass(frozen=True)
class MeanField:
    """Expected rewards, transitions and stationary weights of each agent's chain, seed first."""

    rewards: np.ndarray  # [seed, agent, s]
    bootstrapped: np.ndarray  # gamma P(s'|s), nothing beyond a terminal state
    stationary: np.ndarray  # mu [seed, agent, s]

    @classmethod
    def of(cls, chain: Chain) -> "MeanField":
        bootstrapped = chain.gamma * chain.moves()
        bootstrapped[..., chain.terminal] = 0.0
        return cls(chain.rewards(), bootstrapped, chain.stationary())

    def weights(self, features: np.ndarray) -> np.ndarray:
        """y^i(Phi), at which E[g] = 0, for features [seed, s, d]: [seed, agent, d].

        The solution of Phi' D (I - gamma P) Phi theta = Phi' D r (Section 4.2).
        """
        weighted = self.stationary[..., None] * features[:, None]
        ahead = self.bootstrapped @ features[:, None]
        system = np.swapaxes(weighted, -1, -2) @ (features[:, None] - ahead)
        right = np.swapaxes(weighted, -1, -2) @ self.rewards[..., None]
        return np.linalg.solve(system, right)[..., 0]

    def errors(self, features: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The expected TD error in each state, [seed, agent, s]."""
        value = (features[:, None] @ weights[..., None])[..., 0]
        ahead = (self.bootstrapped @ value[..., None])[..., 0]
        return self.rewards + ahead - value

    def rest_point(
        self, features: np.ndarray, step: float = 0.5, most: int = 5000, still: float = 1e-10
    ) -> np.ndarray:
        """The features at which the expected update, begun here, comes to rest (Remark 4.1).

        Rest points fill a manifold (features and weights can be rotated together), so that which
        one is near depends on where the features are. Weights are at y(Phi), as the faster
        timescale has them; each row moves by a Gauss-Newton step of its TD errors.
        """
        features = features / np.linalg.norm(features, axis=-1, keepdims=True)
        moving = np.ones((len(features), 1, 1), bool)  # each seed until it is still itself
        for _ in range(most):
            weights = self.weights(features)
            error = self.errors(features, weights)
            push = self.stationary[..., None] * error[..., None] * weights[:, :, None]
            curvature = (self.stationary * (weights**2).sum(axis=-1, keepdims=True)).mean(axis=1)
            moved = features + step * push.mean(axis=1) / curvature[..., None]
            moved /= np.linalg.norm(moved, axis=-1, keepdims=True)
            change = np.abs(moved - features).max(axis=(1, 2), keepdims=True)
            features = np.where(moving, moved, features)
            moving &= change >= still
            if not moving.any():
                break
        return features
