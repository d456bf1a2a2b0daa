"""Which variables hold the libraries to one instruction set, and which are left alone."""

import os
import subprocess
import sys

import pytest

from pfedrl.core.processor import NUMBA, PINS, SWITCH, THREADS, flags, pinned, pins
from tests.conftest import TOO_EARLY

HASWELL = frozenset({"avx2", "fma"})
SKYLAKE = HASWELL | {"avx512vl"}
SAPPHIRE = SKYLAKE | {"avx512_bitalg", "avx512_fp16"}


def test_a_processor_with_avx2_gets_every_pin():
    assert pins({}, HASWELL) == THREADS | PINS | NUMBA


@pytest.mark.parametrize(
    ("able", "beyond"), [(SKYLAKE, "X86_V4"), (SAPPHIRE, "X86_V4,AVX512_ICL,AVX512_SPR")]
)
def test_numpy_is_told_only_what_the_processor_has(able, beyond):
    assert pins({}, able)["NPY_DISABLE_CPU_FEATURES"] == beyond


@pytest.mark.parametrize("able", [frozenset(), frozenset({"avx", "sse4_2"})])
def test_a_processor_without_avx2_is_held_to_one_thread_only(able):
    assert pins({}, able) == THREADS


def test_the_switch_leaves_the_instruction_set_to_the_libraries():
    assert pins({SWITCH: "native"}, SAPPHIRE) == THREADS


def test_what_is_set_already_wins_but_threads_are_one():
    own = {"MKL_CBWR": "COMPATIBLE", "NUMBA_CPU_NAME": "generic", "OMP_NUM_THREADS": "4"}
    found = pins(own, HASWELL)
    assert "MKL_CBWR" not in found
    assert not NUMBA.keys() & found.keys(), "the features of one processor with another's name"
    assert found["OMP_NUM_THREADS"] == "1"


@pytest.mark.parametrize("given", [{}, {"MKL_CBWR": "AVX2"}])
def test_an_mkl_that_does_not_heed_its_pin_is_known_by_another_value(given):
    """Fingerprints have the pins' values in them: other bits, another fingerprint."""
    assert pins(given, HASWELL, mkl_heeds=False)["MKL_CBWR"] == "AUTO"
    assert "MKL_CBWR" not in pins({"MKL_CBWR": "COMPATIBLE"}, HASWELL, mkl_heeds=False)


@pytest.mark.skipif(
    not pinned(os.environ, flags()) or os.environ.get("MKL_CBWR") != "AVX2",
    reason="MKL is not held to AVX2 here: no AVX2, no C compiler, or other pins",
)
def test_mkl_itself_says_that_it_follows_its_pin_on_a_processor_of_any_make():
    code = "import pfedrl, torch; torch.ones(5, 30, 40) @ torch.ones(5, 40, 20)"
    said = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"MKL_VERBOSE": "1"}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "CNR:AVX2" in said, said


def test_pins_come_before_the_libraries():
    """Whatever of pfedrl is imported first."""
    code = (
        "import sys, pfedrl; assert not {'numpy', 'torch', 'numba', 'pyarrow'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pytest_and_its_plugins_import_none_of_them_before_the_pins():
    assert not TOO_EARLY


def test_numba_compiles_for_the_pinned_processor_and_its_cache_says_so():
    from numba.core.registry import cpu_target

    _, name, features = cpu_target.target_context.codegen().magic_tuple()  # the cache's key
    assert (name, features) == (
        os.environ.get("NUMBA_CPU_NAME", name),
        os.environ.get("NUMBA_CPU_FEATURES", features),
    )
