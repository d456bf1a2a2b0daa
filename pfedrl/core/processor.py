"""The same numbers on every processor: what dispatches by instruction set is told which to use.

Libraries pick a kernel by the processor they find, and each adds up in an order of its own. So all
are held to what every x86-64 processor since Haswell and Zen has (AVX2 and FMA), and to one thread.
This must be said before any of them is imported: `pfedrl/__init__.py` begins with it.

- PFEDRL_PROCESSOR=native leaves the instruction set to the libraries, for those who prefer speed;
  numbers are then the same on one machine only.
- A variable that is set already is left alone, except that there is one thread always.
- A processor without AVX2, or of another make, gets no pins that it cannot have.

MKL's products and vector functions both follow MKL_CBWR, but on Intel's processors only: `mkl.c`,
compiled when pfedrl is installed, makes it do so on others. The C library's functions need no pin:
they differ by FMA, not by what lies above AVX2.

What this sets is in every fingerprint, value by value, and so this file itself is not.
"""

import ctypes
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


def _said(key: str) -> str:
    """What Linux says of the first processor, or nothing."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def flags() -> frozenset[str]:
    """What the processor can do, in Linux's words; empty where there is no telling."""
    x86 = platform.machine() in ("x86_64", "AMD64")
    return frozenset(_said("flags").split() if x86 else ())


def maker() -> str:
    """Who made the processor."""
    return _said("vendor_id")


def pinned(environment: Mapping[str, str], able: frozenset[str]) -> bool:
    """Whether the instruction set is to be held: it can be, and nobody prefers speed."""
    return environment.get(SWITCH) != "native" and {"avx2", "fma"} <= able


def pins(
    environment: Mapping[str, str], able: frozenset[str], mkl_heeds: bool = True
) -> dict[str, str]:
    """The variables to set, given those that are set, what the processor can do, and whether MKL
    will heed them."""
    if not pinned(environment, able):
        return THREADS
    wanted = PINS | (NUMBA if not NUMBA.keys() & environment.keys() else {})
    above = [name for name, flag in NUMPY_ABOVE.items() if flag in able]
    if above:
        wanted["NPY_DISABLE_CPU_FEATURES"] = ",".join(above)
    found = THREADS | {name: value for name, value in wanted.items() if name not in environment}
    if not mkl_heeds and environment.get("MKL_CBWR", "AVX2") == "AVX2":
        found["MKL_CBWR"] = "AUTO"  # what MKL makes of it; a fixed order, but another one
    return found


def held(environment: Mapping[str, str], able: frozenset[str]) -> dict[str, str]:
    """What a process with these variables is held to, whatever its processor could do."""
    off = set(environment.get("NPY_DISABLE_CPU_FEATURES", "").replace(",", " ").split())
    above = {name for name, flag in NUMPY_ABOVE.items() if flag in able} - off
    kept = {name: environment.get(name, "") for name in (*PINS, *NUMBA, "NUMBA_DISABLE_JIT")}
    return kept | {"NumPy": ",".join(sorted(above)) or "AVX2"}


HELD = PINS | NUMBA | {"NUMBA_DISABLE_JIT": "", "NumPy": "AVX2"}  # where every pin is heeded


def mkl_heeds_its_pin() -> bool:
    """Whether MKL will follow MKL_CBWR here: of itself, or made to by this call."""
    if maker() == "GenuineIntel":
        return True
    try:
        for library in Path(__file__).parent.glob("mkl.*.so"):
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)  # torch's MKL then finds it first
            return True
    except OSError:  # compiled for another machine
        pass
    return False


def pin() -> None:
    """Set them, for this process and those it starts."""
    able = flags()
    heeds = pinned(os.environ, able) and mkl_heeds_its_pin()
    os.environ.update(pins(os.environ, able, heeds))
