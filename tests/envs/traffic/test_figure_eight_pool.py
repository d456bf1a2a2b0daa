"""Faults: a SUMO that is missing, of another version, dies or hangs; and nobody stays behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pfedrl.core.errors import PfedrlError
from pfedrl.envs.traffic import calibration
from pfedrl.envs.traffic.episodes import constant, play
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.pool import FigureEightPool

ROOT = str(Path(__file__).parents[3])


@pytest.fixture
def family() -> FigureEightFamily:
    return FigureEightFamily(horizon=60)


def rewards(pool: FigureEightPool, disturb=lambda step: None) -> list[float]:
    found = []
    pool.reset([5])
    for step in range(60):
        disturb(step)
        found.append(pool.step(np.full((1, 7), 2.0))[0].reward)
    return found


def processes(pool: FigureEightPool) -> list[int]:
    return [remote.process.pid for remote in pool.remotes if remote.process is not None]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] == "Z")


def wait_until_dead(pid: int) -> bool:
    """However busy the machine is: who stays alive stays here, which pytest's limit notices."""
    while is_alive(pid):
        time.sleep(0.05)
    return True


def fake_libsumo(monkeypatch, folder: Path, text: str) -> None:
    """Workers get this module instead: a spawned process inherits where modules are looked for."""
    (folder / "libsumo.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))


def test_an_episode_whose_sumo_dies_goes_on_as_if_nothing_had_happened(family, network) -> None:
    with FigureEightPool(family, network, 1) as pool:
        undisturbed = rewards(pool)
        before = processes(pool)[0]

        def kill(step: int) -> None:
            if step == 30:
                os.kill(before, signal.SIGKILL)

        assert rewards(pool, kill) == undisturbed
        after = processes(pool)[0]
        assert after != before
    assert wait_until_dead(before)
    assert wait_until_dead(after)


def test_a_sumo_that_always_dies_is_one_message(monkeypatch, tmp_path, family, network) -> None:
    fake_libsumo(monkeypatch, tmp_path, "import os\nos._exit(11)\n")
    pool = FigureEightPool(family, network, 1)
    with pytest.raises(PfedrlError, match="SUMO died 3 times in one episode"):
        pool.reset([0])
    assert processes(pool) == []


def test_a_hung_sumo_is_ended_and_reported(monkeypatch, tmp_path, family, network) -> None:
    # the alarm comes after a minute; here the module shortens it
    text = "import signal, time\nsignal.alarm(1)\ntime.sleep(30)\n"
    fake_libsumo(monkeypatch, tmp_path, text)
    with pytest.raises(PfedrlError, match="SUMO died 3 times"):
        FigureEightPool(family, network, 1).reset([0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise ImportError('no such library')", "SUMO is missing: libsumo cannot be loaded"),
        ("def getVersion():\n    return 20, 'SUMO 1.4.0'", "wrong version: libsumo is 1.4.0"),
    ],
)
def test_a_missing_or_other_sumo_is_one_message_and_no_artifact(
    monkeypatch, tmp_path, text, message
) -> None:
    fake_libsumo(monkeypatch, tmp_path, text)
    with pytest.raises(PfedrlError, match=message):
        calibration.calibrate(tmp_path / "table")
    assert not (tmp_path / "table").exists()


def test_closing_ends_all_workers(family, network) -> None:
    pool = FigureEightPool(family, network, 2)
    play(pool, constant(1), [0, 1])
    own = processes(pool)
    assert len(own) == 2
    pool.close()
    assert all(wait_until_dead(pid) for pid in own)


# without a guard: a worker must not run it again
PARENT = """
import os, sys, time
from pfedrl.envs.traffic.figure_eight import FigureEightFamily
from pfedrl.envs.traffic.pool import FigureEightPool

with open(sys.argv[1], "a") as log:
    log.write("begun\\n")
family = FigureEightFamily()
pool = FigureEightPool(family, family.network(family.draw([0])), 1)
pool.reset([0])
print(pool.remotes[0].process.pid, flush=True)
time.sleep(3600)
"""


def test_a_killed_parent_leaves_no_orphan(tmp_path: Path) -> None:
    script, log = tmp_path / "parent.py", tmp_path / "log"
    script.write_text(PARENT)
    parent = subprocess.Popen(
        [sys.executable, str(script), str(log)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert parent.stdout is not None
    try:
        worker = int(parent.stdout.readline())
        assert is_alive(worker)
        assert log.read_text() == "begun\n", "the worker ran the script as well"
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    assert wait_until_dead(worker)


HUNG = """
import numpy as np
from multiprocessing import Pipe
from pfedrl.envs.traffic import pool
from pfedrl.envs.traffic.figure_eight import FigureEightFamily

class Hung:
    def __init__(self, *_):
        pass

    def close(self):
        while True:
            pass

pool.FigureEight, pool.obey, pool.LONGEST_SILENCE = Hung, lambda *_: np.zeros(1), 1
family = FigureEightFamily()
ours, theirs = Pipe()
ours.send_bytes(pool.RESET)
ours.close()
pool.work(theirs, family, family.network(family.draw([0])))
"""


def test_a_worker_that_hangs_in_its_farewell_is_ended() -> None:
    ended = subprocess.run([sys.executable, "-c", HUNG], env={**os.environ, "PYTHONPATH": ROOT})
    assert ended.returncode == -signal.SIGALRM
