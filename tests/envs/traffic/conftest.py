import pytest

from pfedrl.envs.traffic.network import Network, build_network


@pytest.fixture(scope="session")
def network() -> Network:
    """Flow's figure eight: a radius of 30 m, one lane, 30 m/s."""
    return build_network(30, 1, 30)
