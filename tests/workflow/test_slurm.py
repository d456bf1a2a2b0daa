"""The pipeline through a real Slurm, set up on this machine for the time of the test."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from pfedrl.core.parquet import read_table
from tests.workflow.conftest import FIGURES, ROOT, Tiny, gated

CONF = Path("/etc/slurm/slurm.conf")  # Slurm's own folder: its daemons look nowhere else
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")
PROFILE = ("--workflow-profile", "profiles/slurm", "--slurm-no-account", "--latency-wait", "5",
           "--slurm-init-seconds-before-status-checks", "2",
           "--seconds-between-status-checks", "2")  # fmt: skip
NUMBERS = (f"{FIGURES}/tiny/figure1.csv", f"{FIGURES}/tiny/table1.csv")
SETTINGS = """\
ClusterName=pfedrl
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ReturnToService=2
MinJobAge=300
KillWait=5
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def why_not() -> str | None:
    if "PFEDRL_SLURM" not in os.environ:
        return "it writes to Slurm's own folder, so only `make slurm` does it"
    missing = [name for name in PROGRAMS if shutil.which(name, path=search_path()) is None]
    if missing:
        return f"no {', '.join(missing)}: apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return "setting up a Slurm needs root"
    return "there is a Slurm on this machine already" if CONF.exists() else None


def search_path() -> str:
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with a_slurm(tmp_path_factory.mktemp("slurm")):
        yield


@contextmanager
def a_slurm(folder: Path) -> Iterator[None]:
    """One node, this one, whose state and logs are in the folder."""
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(64))
    (folder / "munge.key").chmod(0o600)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    CONF.write_text(SETTINGS.format(
        host=socket.gethostname().split(".")[0], folder=folder, controller=free_port(),
        daemon=free_port(), cores=os.cpu_count(), memory=memory * 9 // 10,
    ))  # fmt: skip
    munge = ["munged", "--foreground", "--force", *(
        f"--{key}={folder}/munge.{key.removesuffix('-file')}"
        for key in ("socket", "key-file", "pid-file", "log-file", "seed-file")
    )]  # fmt: skip
    environment = os.environ | {"PATH": search_path()}
    started = []
    try:
        for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D"]):
            log = (folder / f"{command[0]}.out").open("wb")
            started.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            time.sleep(1)
        while asked("sinfo", "-h", "-o", "%T") != "idle":
            assert all(process.poll() is None for process in started), "a daemon has ended"
            time.sleep(0.5)
        yield
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
            process.wait()
        CONF.unlink()


def asked(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def wait_for(process: subprocess.Popen[str], so: Callable[[], bool]) -> None:
    while not so():
        if process.poll() is not None:
            pytest.fail(process.communicate()[0])
        time.sleep(0.2)


def scontrol(*arguments: str) -> None:
    subprocess.run(["scontrol", *arguments], check=True)


def facts_of(job: str) -> str:
    return asked("scontrol", "show", "job", job)


def job_at_the_gate() -> str:
    return asked("squeue", "-h", "-t", "R", "-o", "%i")


def undisturbed(tiny: Tiny, folder: Path) -> list[dict]:
    """What the same run gives on this machine, in one go."""
    path = folder / "run.parquet"
    cell = ("tiny", "windy", "qavg", "--seeds", "0-4", "--output", str(path))
    subprocess.run([sys.executable, "-m", "pfedrl", "run", *cell], cwd=tiny.root,
                   env=tiny.environment(), check=True)  # fmt: skip
    return read_table(path)[0].to_pylist()


def test_a_run_that_is_struck_three_times_goes_on_from_its_checkpoint(
    cluster: None, new_project: Tiny, tmp_path: Path
):
    """Requeued, then its node fails, then it is over its time: to the same artifact.

    It waits after its third round of four until it has been struck, so that no clock decides.
    """
    tiny = gated(new_project)
    process = tiny.start(*PROFILE, "--printshellcmds", "--", tiny.run())
    wait_for(process, lambda: tiny.rounds() == [1, 2, 3])
    first = job_at_the_gate()
    scontrol("requeue", first)
    wait_for(process, lambda: tiny.rounds() == [1, 2, 3, 3])
    assert job_at_the_gate() == first and " Restarts=1 " in facts_of(first)

    node = f"NodeName={asked('sinfo', '-h', '-o', '%n')}"
    scontrol("update", node, "State=DOWN", "Reason=test")
    scontrol("update", node, "State=RESUME")
    wait_for(process, lambda: tiny.rounds() == [1, 2, 3, 3, 3])
    assert job_at_the_gate() == first and " Restarts=2 " in facts_of(first)

    scontrol("update", f"JobId={first}", "TimeLimit=1")
    wait_for(process, lambda: tiny.rounds() == [1, 2, 3, 3, 3, 3])
    assert job_at_the_gate() != first and "JobState=TIMEOUT " in facts_of(first)

    tiny.open_gate()
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert tiny.rounds() == [1, 2, 3, 3, 3, 3, 4], "the first two rounds were run once"
    assert output.count("Trying to restart job") == 1, "Slurm requeues by itself"
    assert read_table(tiny.root / tiny.run())[0].to_pylist() == undisturbed(tiny, tmp_path)
    print(output)


def test_the_pipeline_goes_through_it(cluster: None, new_project: Tiny, finished: Tiny):
    done = new_project.snakemake(*PROFILE)
    assert done.returncode == 0, done.stdout
    for name in NUMBERS:
        assert (new_project.root / name).read_bytes() == (finished.root / name).read_bytes()
    print(done.stdout)


def smoke_project(folder: Path) -> Tiny:
    """This project, with nothing run."""
    for name in ("pfedrl", "snakemake_logger_plugin_pfedrl", "envs", "profiles", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy2(ROOT / "Snakefile", folder)
    return Tiny(folder)


def numbers(tiny: Tiny) -> dict[str, str]:
    """Of every run, and behind every table and figure, as text; but for the times in Table 3."""
    results = tiny.root / "results"
    runs = results.glob("runs/**/*.parquet")
    found = {path: str(read_table(path)[0].to_pylist()) for path in runs}
    for path in results.glob("smoke/paper_figures/**/*.csv"):
        table = pd.read_csv(path)
        times = [name for name in table if name.startswith("seconds_")]
        found[path] = table.drop(columns=times).to_csv()
    return {str(path.relative_to(results)): text for path, text in found.items()}


def test_the_smoke_scale_goes_through_it(cluster: None, tmp_path: Path):
    """Every paper and kind of environment, to the same numbers as on this machine without it."""
    through, here = (smoke_project(tmp_path / name) for name in ("through", "here"))
    done = through.snakemake(*PROFILE, "--config", "scale=smoke")
    assert done.returncode == 0, done.stdout
    print(done.stdout)
    here.make("--config", "scale=smoke")
    expected = numbers(here)
    assert len(expected) > 150 and numbers(through) == expected
