"""The pipeline through a real Slurm, set up on this machine for the time of the test."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pfedrl.pipeline.artifact import read_facts, read_run
from tests.workflow.conftest import PAPER, Tiny, copy_of

CONF = Path("/etc/slurm/slurm.conf")  # Slurm's own folder: its daemons look nowhere else
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")
PROFILE = ("--workflow-profile", "profiles/slurm", "--slurm-no-account", "--latency-wait", "5",
           "--slurm-init-seconds-before-status-checks", "2",
           "--seconds-between-status-checks", "2")  # fmt: skip
NUMBERS = ("paper_figures/tiny/figure1.csv", "paper_figures/tiny/table1.csv")
RUN = "results/laptop/runs/tiny/windy/qavg/0-4.parquet"
ROUNDS, PAUSE = 500, 0.3  # of a run that takes longer than it may, without keeping a core busy
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
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One node, this one; its folder."""
    folder = tmp_path_factory.mktemp("slurm")
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
        yield folder
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
            process.wait()
        CONF.unlink()


def asked(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def slow(new_project: Tiny) -> Tiny:
    """The project with a run that takes two minutes and a half, and keeps a checkpoint often."""
    windy = PAPER["experiments"]["windy"]
    qavg = {**windy["variants"]["qavg"], "iterations": 4 * ROUNDS}
    experiments = {**PAPER["experiments"], "windy": {**windy, "variants": {"qavg": qavg}}}
    new_project.write("workflow/papers/tiny/experiments.yaml", experiments)
    line = "        control.progress(done, rounds or done)\n"
    pause = f'        __import__("time").sleep({PAUSE})\n'
    new_project.replace("pfedrl/stack/loop.py", line, line + pause)
    return Tiny(new_project.root, {"PFEDRL_CHECKPOINT_SECONDS": "2"})


def undisturbed(tiny: Tiny, folder: Path) -> list[dict]:
    """What the same run gives on this machine, in one go and without its pauses."""
    fast = copy_of(tiny, folder)
    pause = f'        __import__("time").sleep({PAUSE})\n'
    fast.replace("pfedrl/stack/loop.py", pause, "")
    fast.make(RUN)
    return read_run(fast.root / RUN)[0].to_pylist()


def test_the_pipeline_goes_through_it(cluster: Path, new_project: Tiny, finished: Tiny):
    done = new_project.snakemake(*PROFILE)
    assert done.returncode == 0, done.stdout
    for name in NUMBERS:
        assert (new_project.root / name).read_bytes() == (finished.root / name).read_bytes()
    print(done.stdout)


def test_a_job_over_its_time_goes_on_from_its_checkpoint(
    cluster: Path, new_project: Tiny, tmp_path: Path
):
    tiny = slow(new_project)
    done = tiny.snakemake(*PROFILE, "--printshellcmds", "--set-resources", "run:runtime=2",
                          "--", RUN)  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "Trying to restart job" in done.stdout
    rows = read_run(tiny.root / RUN)[0].to_pylist()
    assert rows == undisturbed(tiny, tmp_path / "again")
    assert read_facts(tiny.root / RUN)["wall_seconds"] >= ROUNDS * PAUSE * 0.9
    print(done.stdout)


def test_a_requeued_job_goes_on_from_its_checkpoint(
    cluster: Path, new_project: Tiny, tmp_path: Path
):
    tiny = slow(new_project)
    process = subprocess.Popen(
        tiny.command(*PROFILE, "--", RUN), cwd=tiny.root, env=tiny.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    checkpoint = (tiny.root / RUN).with_suffix(".checkpoint")
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.2)
    job = asked("squeue", "-h", "-t", "R", "-o", "%i")
    subprocess.run(["scontrol", "requeue", job], check=True)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    assert read_run(tiny.root / RUN)[0].to_pylist() == undisturbed(tiny, tmp_path / "again")
    assert "starts over" not in output
