"""Compiled code that is older than its source is never loaded."""

import os
import subprocess
import sys
import time
from pathlib import Path

from pfedrl.core.caches import drop_stale


def write(path: Path, seconds: float) -> Path:
    """A file that was modified so many seconds after now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    os.utime(path, (time.time() + seconds,) * 2)
    return path


def test_only_what_was_compiled_before_its_source_changed_goes(tmp_path: Path):
    for name in ("old.py", "new.py"):
        write(tmp_path / name, -1000)  # as an archive may set it
    cache = tmp_path / "__pycache__"
    old, new = (write(cache / f"{n}.cpython-311.pyc", s) for n, s in (("old", -9), ("new", 9)))
    other = write(cache / "gone.cpython-311.pyc", -9)
    drop_stale(tmp_path)
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_kernels_hold_each_others_code_and_go_together(tmp_path: Path):
    write(tmp_path / "a" / "first.py", 0)
    kernels = [write(tmp_path / "a" / "__pycache__" / f"first.f-1.py311.{end}", -9)
               for end in ("nbi", "1.nbc")]  # fmt: skip
    drop_stale(tmp_path)
    assert not any(kernel.exists() for kernel in kernels)
    kernels = [write(kernel, 9) for kernel in kernels]
    drop_stale(tmp_path)
    assert all(kernel.exists() for kernel in kernels)


def test_a_source_of_the_same_size_and_time_is_compiled_again(tmp_path: Path):
    """Without this, Python runs what it compiled before."""
    module = tmp_path / "pack" / "number.py"
    module.parent.mkdir()
    time_of = time.time() - 1000

    def said(value: int) -> str:
        module.write_text(f"print({value})")
        os.utime(module, (time_of, time_of))
        code = (
            "from pathlib import Path; from pfedrl.core.caches import drop_stale; "
            f"drop_stale(Path({str(module.parent)!r})); import pack.number"
        )
        variables = os.environ | {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run([sys.executable, "-c", code], env=variables, cwd=tmp_path,
                              capture_output=True, text=True, check=True)  # fmt: skip
        return done.stdout.strip()

    assert said(1) == "1" and list(module.parent.glob("__pycache__/*.pyc"))
    assert said(2) == "2"
