"""The same numbers on every processor: what dispatches by instruction set is told which to use.

Libraries pick a kernel by the processor they find, and each adds up in an order of its own. So all
are held to what every x86-64 processor since Haswell and Zen has (AVX2 and FMA), and to one thread.
This must be said before any of them is imported: `pfedrl/__init__.py` begins with it.

- PFEDRL_PROCESSOR=native leaves the instruction set to the libraries, for those who prefer speed;
  numbers are then the same on one machine only.
- A variable that is set already is left alone, except that there is one thread always.
- A processor without AVX2, or of another make, gets no pins that it cannot have.

MKL's products and vector functions both follow MKL_CBWR. The C library's functions need no pin:
they differ by FMA, not by what lies above AVX2.
"""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

SWITCH = "PFEDRL_PROCESSOR"
THREADS = {
    f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "NUMEXPR")
}
PINS = {
    "MKL_CBWR": "AVX2",  # torch's matrix products, and its tanh, exp, ...
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own kernels
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # torch's convolutions
    "OPENBLAS_CORETYPE": "Haswell",  # NumPy's and SciPy's linear algebra
    "ARROW_USER_SIMD_LEVEL": "AVX2",
}
NUMBA = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}  # both or neither
# what NumPy may use beyond AVX2, and a flag of the processors on which it does
NUMPY_ABOVE = {
    "X86_V4": "avx512vl",
    "AVX512_ICL": "avx512_bitalg",
    "AVX512_SPR": "avx512_fp16",
}


def flags() -> frozenset[str]:
    """What the processor can do, in Linux's words; empty where there is no telling."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return frozenset()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    found = (line.partition(":")[2] for line in lines if line.startswith("flags"))
    return frozenset(next(found, "").split())


def pins(environment: Mapping[str, str], able: frozenset[str]) -> dict[str, str]:
    """The variables to set, given those that are set and what the processor can do."""
    if environment.get(SWITCH) == "native" or not {"avx2", "fma"} <= able:
        return THREADS
    wanted = PINS | (NUMBA if not NUMBA.keys() & environment.keys() else {})
    above = [name for name, flag in NUMPY_ABOVE.items() if flag in able]
    if above:
        wanted["NPY_DISABLE_CPU_FEATURES"] = ",".join(above)
    return THREADS | {name: value for name, value in wanted.items() if name not in environment}


def pin() -> None:
    """Set them, for this process and those it starts."""
    os.environ.update(pins(os.environ, flags()))
