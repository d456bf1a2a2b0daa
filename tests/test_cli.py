"""The command line: help worth reading, one line for a mistake, lean imports."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.main import get_command
from typer.testing import CliRunner

from pfedrl import __version__
from pfedrl.cli import app
from pfedrl.core.errors import USAGE, PfedrlError
from pfedrl.core.parquet import read_facts, read_table
from pfedrl.pipeline.listing import show_table
from tests.processes import call
from tests.tiny import ROOT, tiny_project

EXPERIMENT = ("qavg", "table1_random_mdps")
CELL = (*EXPERIMENT, "qavg_kappa=0.2")


def pfedrl(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    return call("pfedrl", *arguments, folder=folder, variables=variables)


def test_help_names_every_command():
    done = pfedrl("--help")
    assert done.returncode == 0
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert len(commands) >= 20
    assert all(f"  {command} " in done.stdout for command in commands)
    newcomers = [done.stdout.index(f"  {command} ") for command in ("list", "compare", "run")]
    others = [done.stdout.index(f"  {command} ") for command in commands]
    assert newcomers == sorted(others)[:3]


SEEDS = ("--seeds", "0-4")
MISTAKES = [
    (("run", *CELL, *SEEDS, "--scale", "laptpo"), "Did you mean 'laptop'?"),
    (("run", "qavgg", *CELL[1:], *SEEDS), "Did you mean 'qavg'?"),
    (("run", "qavg", "table1_random_mdp", "x", *SEEDS), "Did you mean 'table1_random"),
    (("run", *EXPERIMENT, "qavg_kappa=0.3", *SEEDS), "Did you mean 'qavg_kappa="),
    (("run", *CELL, "--seeds", "-4-2"), "neither may be negative"),
    (("run", *CELL, "--seeds", "4-2"), "must be larger"),
    (("run", *CELL, *SEEDS, "--scale", "record"), "and makes none"),
    (("build", *CELL, *SEEDS, "--scale", "record"), "and makes none"),
    (("verify", "--published", "qavg", "table1"), "unknown experiment 'table1'"),
    (("verify", "--published", "--write"), "which runs?"),
    (("draw", "qavg", "tabel1"), "unknown artifact 'tabel1'"),
    (("list", "paper"), "Did you mean 'papers'?"),
    (("list", "cells"), "pfedrl list cells PAPER EXPERIMENT"),
    (("list", "cells", "qvag"), "Did you mean 'qavg'?"),
    (("compare", "dqn", "dqn_agv", "--on", "cartpole"), "Did you mean 'dqn_avg'?"),
    (("benchmark", "nothing"), "unknown benchmark 'nothing'"),
    (("watch", "figure_eight", "--output", "x.xyz"), "the animation is a GIF"),
    (("watch", "figure_eight", "--acceleration", "nan"), "give a number"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_explained_in_one_line(arguments: tuple[str, ...], message: str, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(PfedrlError) as caught:
        app(arguments, standalone_mode=False)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert caught.value.exit_code == USAGE


def test_the_program_ends_with_that_line_and_exit_code_2(tmp_path: Path):
    done = pfedrl("list", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("pfedrl: ") and done.stderr.count("\n") == 1
    assert "Run the command from the folder that holds the Snakefile" in done.stderr


@pytest.mark.parametrize("arguments", [("runn",), ("run", "qavg"), ("run", *CELL, "--sed", "1")])
def test_usage_errors_exit_2_without_a_traceback(arguments: tuple[str, ...]):
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2 and "Usage" in done.stderr


def test_list_shows_what_there_is():
    done = pfedrl("list")
    assert done.returncode == 0
    for name in ["qavg", "table1_random_mdps", "soft_pavg", "windy_cliff"]:
        assert name in done.stdout
    assert "qavg_kappa=0.2" in pfedrl("list", "cells", *EXPERIMENT).stdout


@pytest.mark.parametrize("columns", ["40", "80"])
def test_names_of_a_list_are_whole_and_rows_are_lines_whatever_the_width(columns: str):
    variables = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": columns}
    said = call("pfedrl", "list", "experiments", folder=ROOT, variables=variables).stdout
    name = "control_cartpole_k_representation_steps"
    (line,) = (line for line in said.splitlines() if name in line)
    assert "K representation steps a round" in line


def test_names_of_a_list_are_whole_at_a_narrow_terminal(capsys: pytest.CaptureFixture[str]):
    rows = [("control_cartpole_k_representation_steps", "many words " * 20)]
    for width in (80, 120):
        console = Console(width=width, force_terminal=True)
        show_table(console, "Experiments", ("name", "title"), rows)
        assert rows[0][0] in capsys.readouterr().out


def test_compare_answers_in_one_sentence_without_simulators_or_torch():
    code = (
        "import sys\nfrom pfedrl.cli import app\n"
        "app(['compare', 'pfed_dqn_rep', 'FedDQN', '--on', 'cartpole'], standalone_mode=False)\n"
        "print(*sorted({'torch', 'matplotlib', 'mujoco', 'libsumo'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("PFedDQN-Rep is worse than FedDQN during training, by 23")
    assert "no clear difference after training" in first and last == "", done.stderr
    assert "dqn_avg" not in done.stdout, "printed names reach the reader"


def test_build_and_run_by_hand(tmp_path: Path):
    draws, output = tmp_path / "draws.npz", tmp_path / "run.parquet"
    assert pfedrl("build", *CELL, "--seeds", "5-9", "--output", str(draws)).returncode == 0
    done = pfedrl(
        "run", *CELL, "--seeds", "5-9", "--environments", str(draws), "--output", str(output)
    )
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == str(output)
    assert output.exists()


@pytest.mark.parametrize("content", [b"my notes", b"PK\x03\x04 half a file", b""])
def test_environments_that_are_none_are_named_and_never_to_be_removed(
    tmp_path: Path, content: bytes
):
    notes = tmp_path / "notes.npz"
    notes.write_bytes(content)
    done = pfedrl("run", *CELL, "--seeds", "0-4", "--environments", str(notes))
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    assert str(notes) in done.stderr and "`pfedrl build`" in done.stderr
    assert "rm " not in done.stderr


def test_the_version_is_shown():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"pfedrl {__version__}\n"


def test_the_cost_of_a_scale_is_in_core_hours_memory_disk_and_nodes(tmp_path: Path):
    tiny_project(tmp_path, published=True)
    command = ("cost", "--scale", "paper", "--hours", "24", "--cores", "16")
    said = pfedrl(*command, folder=tmp_path).stdout
    number = r"[\d.,e+]+"
    for paper in ("fedkl", "pfedrl_rep", "qavg", "theory"):
        assert re.search(rf"^{paper} +[\d,]+ +{number} (min|h) ", said, re.MULTILINE)
    assert re.search(r"^deprl +[\d,]+ ", said, re.MULTILINE)  # by the data that are here
    total = rf"^\d+ runs take about {number} h of core time, {number} h on 16 core"
    assert re.search(total, said, re.MULTILINE)
    assert re.search(rf"Up to {number} MB of memory per job, {number} MB of disk\.\n", said)
    assert re.search(rf"^Nodes of 16 cores needed to finish within {number} h: \d+\.$", said, re.M)


def test_a_log_takes_the_output_and_the_error(tmp_path: Path):
    log = tmp_path / "logs" / "list.log"
    done = pfedrl("--log", str(log), "list", "nothing")
    assert (done.stdout, done.stderr) == ("", "")
    assert log.read_text().startswith("pfedrl: unknown list 'nothing'")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("arguments", [("list", "nothing"), ("list",)])
def test_where_the_log_is_full_the_console_gets_the_error(arguments: tuple[str, ...]):
    done = pfedrl("--log", "/dev/full", *arguments)
    assert done.returncode != 0
    assert done.stderr.startswith("pfedrl: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("number", "command", "resumes"),
    [(signal.SIGTERM, "run", True), (signal.SIGINT, "open", False)],
)
def test_a_signal_ends_it_with_one_line_that_promises_no_more_than_is_kept(
    number: signal.Signals, command: str, resumes: bool
):
    code = (
        "import os, sys, time\nfrom pfedrl.cli import program\n"
        f"sys.argv = ['pfedrl', {command!r}]\n"
        f"program.app = lambda: (os.kill(os.getpid(), {number:d}), time.sleep(600))\n"
        "program.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 128 + number
    assert done.stderr.startswith("pfedrl: interrupted.") and done.stderr.count("\n") == 1
    assert ("resume" in done.stderr) == resumes


def test_watch_says_at_once_what_it_does_and_writes_below_results(tmp_path: Path):
    tiny_project(tmp_path)
    done = pfedrl("watch", "hopper", "--acting", "sleeping", folder=tmp_path)
    assert "Recording an episode of hopper to results/watch/hopper.gif" in done.stderr
    assert done.returncode == 2 and "unknown way of acting 'sleeping'" in done.stderr
    assert not list(tmp_path.glob("*.gif"))


def test_open_reads_the_verdicts_that_are_there_and_is_short_unless_all_is_asked_for():
    judged = ROOT / "paper_figures/qavg/claims.json"
    before = judged.stat().st_mtime_ns
    done = pfedrl("open")
    assert done.returncode == 0 and len(done.stdout.splitlines()) <= 25
    assert "claims are open" in done.stdout and "pfedrl open --all" in done.stdout
    assert judged.stat().st_mtime_ns == before, "no verdict was made again"
    assert len(pfedrl("open", "--all").stdout.splitlines()) > 50


def test_a_finished_run_is_shown_and_not_computed_again(tmp_path: Path):
    output = tmp_path / "run.parquet"
    command = ("run", *CELL, "--seeds", "0-4", "--output", str(output))
    first = pfedrl(*command).stdout.splitlines()
    written = output.stat()
    again = pfedrl(*command).stdout.splitlines()
    assert output.stat().st_ino == written.st_ino, "the file was written anew"
    assert again[-1] == first[-1] == str(output)
    rows = [row for row in read_table(output)[0].to_pylist() if row["metric"] == "centre_value"]
    mean = sum(row["value"] for row in rows) / len(rows)
    (line,) = (line for line in first if line.strip().startswith("discounted return in the centre"))
    assert f"{mean:,.5g} ±" in line and line in again
    other = pfedrl(*command[:-3], "0-5", "--output", str(output))
    assert other.returncode == 0 and output.stat().st_ino != written.st_ino, "other seeds"


def test_a_broken_run_is_computed_anew(tmp_path: Path):
    output = tmp_path / "run.parquet"
    output.write_bytes(b"PAR1 half a file")
    assert pfedrl("run", *CELL, "--seeds", "0-4", "--output", str(output)).returncode == 0
    assert read_facts(output)["seeds"] == [0, 4]


def test_environments_of_other_seeds_are_refused(tmp_path: Path):
    draws = tmp_path / "draws.npz"
    assert pfedrl("build", *CELL, "--seeds", "0-4", "--output", str(draws)).returncode == 0
    done = pfedrl("run", *CELL, "--seeds", "0-8", "--environments", str(draws))
    assert done.returncode == 2
    assert "seeds 0-4; this run needs" in done.stderr and done.stderr.count("\n") == 1


def test_a_tabular_job_imports_neither_torch_nor_pandas(tmp_path: Path):
    log, output = str(tmp_path / "job.log"), str(tmp_path / "r.parquet")
    code = (
        "import sys\nfrom pfedrl.cli import app\n"
        f"app({['--log', log, 'run', *CELL, '--seeds', '0-2', '--output', output]}, "
        "standalone_mode=False)\n"
        "print(*sorted({'torch', 'pandas', 'matplotlib', 'snakemake'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    assert Path(log).read_text().splitlines() == [output, ""]
