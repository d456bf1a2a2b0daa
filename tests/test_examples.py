"""Every example in the README and in the help works: short ones are run, long ones are parsed."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import typer

from pfedrl.cli import app
from pfedrl.pipeline.paper import SUFFIXES
from pfedrl.pipeline.project import Project
from tests.test_cli import pfedrl
from tests.tiny import ROOT

PROJECT = Project.here(ROOT)
COMMANDS = typer.main.get_command(app)
QUICK = ("list", "run", "build", "--help", "--version")  # seconds


def help_texts() -> str:
    return "\n".join(command.help or "" for command in COMMANDS.commands.values())


def examples(program: str) -> list[str]:
    """The lines of the README's blocks and the examples of the help that call a program."""
    readme = (ROOT / "README.md").read_text() + (ROOT / "Dockerfile").read_text()
    found = sorted((ROOT / "profiles").glob("*/config.yaml"))
    profiles = "".join(path.read_text() for path in found)
    blocks = re.findall(r"```\n(.*?)```", readme, re.DOTALL) + re.findall(r"#   (.+)", profiles)
    inline = re.findall(rf"`({program} [^`]+)`", readme)
    given = re.findall(r"Example: (.+)", help_texts())
    lines = [line.split(" #")[0].strip() for block in (*blocks, *inline, *given)
             for line in block.splitlines()]  # fmt: skip
    wanted = [line for line in lines if line.startswith(program + " ")]
    whole = [line for line in wanted if "..." not in line and "TARGET" not in line]
    return list(dict.fromkeys(whole))


@pytest.mark.parametrize("line", examples("pfedrl"))
def test_an_example_of_the_command_line(line: str, tmp_path: Path):
    arguments = shlex.split(line)[1:]
    if arguments[0] in QUICK:
        for name in ("workflow", "envs"):
            (tmp_path / name).symlink_to(ROOT / name)
        done = pfedrl(*arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return
    if not arguments[0].isupper():  # `pfedrl verify PAPER`: words for what to give
        name, command, rest = COMMANDS.resolve_command(typer.Context(COMMANDS), arguments)
        assert command is not None
        command.make_context(name, [word for word in rest if not word.isupper()])


@pytest.mark.parametrize("line", examples("snakemake"))
def test_an_example_of_snakemake(line: str):
    from snakemake.cli import get_argument_parser

    given = get_argument_parser(profiles=[]).parse_args(shlex.split(line)[1:])
    files = {
        f"{PROJECT.scale('laptop').figures}/{paper}/{name}.{suffix}"
        for paper, page in PROJECT.papers.items()
        for name, artifact in page.artifacts.items()
        for suffix in SUFFIXES[artifact.kind]
    }
    assert set(given.targets or []) <= {*PROJECT.papers, *files}
    for setting in given.config or []:
        PROJECT.scale(setting.removeprefix("scale="))
    if given.workflow_profile:
        assert (ROOT / given.workflow_profile / "config.yaml").exists()


@pytest.mark.parametrize("line", examples("make"))
def test_an_example_of_make(line: str):
    words = [word for word in shlex.split(line)[1:] if "[" not in word]
    done = subprocess.run(
        ["make", "-n", "-o", ".venv/installed", *words], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_there_are_examples_of_each():
    assert len(examples("pfedrl")) >= 8
    assert len(examples("snakemake")) >= 6
    assert len(examples("make")) >= 4
    assert any("pfedrl run" in line for line in examples("pfedrl"))
