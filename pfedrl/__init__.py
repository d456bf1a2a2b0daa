"""pfedrl: federated and personalised reinforcement learning, reproduced and compared."""

__version__ = "0.1.0"
