"""Tabular learning from samples: TD and Q-learning."""
