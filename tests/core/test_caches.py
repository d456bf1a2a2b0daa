"""Compiled code never outlives its source."""

import os
import subprocess
import sys
import time
from pathlib import Path

from pfedrl.core.caches import drop_stale

TICK = 0.05  # seconds; more than the resolution of a file's times


def kept(package: Path) -> set[str]:
    return {path.name for path in package.rglob("__pycache__/*")}


def test_an_edit_that_keeps_size_and_time_is_not_served_from_a_cache(tmp_path: Path):
    source = tmp_path / "thing.py"
    command = [sys.executable, "-c", "import thing; print(thing.VALUE)"]
    writing = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}

    def value() -> str:
        drop_stale(tmp_path)
        done = subprocess.run(
            command, cwd=tmp_path, env=writing, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    source.write_text("VALUE = 1\n")
    before = source.stat()
    time.sleep(TICK)
    assert value() == "1" and kept(tmp_path)
    source.write_text("VALUE = 2\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert value() == "2"


def test_every_kernel_goes_where_the_source_of_one_changed_and_nothing_else(tmp_path: Path):
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    for name in ("one", "two", "plain"):
        (tmp_path / f"{name}.py").write_text("")
    files = ["one.f-1.py311.nbi", "two.g-3.py311.1.nbc", "plain.cpython-311.pyc"]
    time.sleep(TICK)
    for name in files:
        (cache / name).write_text("")
    drop_stale(tmp_path)
    assert kept(tmp_path) == set(files)
    (tmp_path / "two.py").write_text("")
    drop_stale(tmp_path)
    assert kept(tmp_path) == {"plain.cpython-311.pyc"}
