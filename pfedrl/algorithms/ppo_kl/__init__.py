"""PPO with KL penalties in a federation."""
