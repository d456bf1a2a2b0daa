"""The sides that are compared are under the pins that their names say."""

from pfedrl.benchmarks.pins import SIDES
from pfedrl.core.processor import NUMBA, PINS, THREADS, pins

SKYLAKE = frozenset({"avx2", "fma", "avx512vl"})


def test_only_one_side_is_pinned():
    assert PINS.keys() <= pins(SIDES["pinned"], SKYLAKE).keys()
    for name in ("native", "native with AVX2"):
        assert pins(SIDES[name], SKYLAKE) == THREADS
        assert "MKL_CBWR" not in SIDES[name]
    assert NUMBA.items() <= SIDES["native with AVX2"].items()
