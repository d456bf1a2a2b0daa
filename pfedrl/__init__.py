"""pfedrl: federated and personalised reinforcement learning, reproduced and compared."""

from pfedrl.core.caches import drop_stale
from pfedrl.core.processor import pin

drop_stale()
pin()  # before anything imports NumPy, torch or numba

__version__ = "0.1.0"
