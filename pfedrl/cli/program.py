"""What all commands share: the program, its arguments, and how it ends."""

import errno
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from pfedrl import __version__
from pfedrl.core.errors import NO_SPACE, PfedrlError

FIRST = ("list", "compare", "run")  # what a newcomer asks for


class Commands(TyperGroup):
    """The commands as the help lists them."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return [*FIRST, *(name for name in names if name not in FIRST)]


app = typer.Typer(
    name="pfedrl",
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="""Federated and personalised RL, reproduced and compared.

    `pfedrl list` shows what can be named, `pfedrl compare` answers which of two algorithms is
    better, and `pfedrl run` runs one cell. The pipeline is build -> run -> summarise -> draw /
    claims -> report; `snakemake --cores all` calls these commands. Called by hand in the project's
    folder, each does one step of it and reads and writes the same files.""",
)

Paper = Annotated[str, typer.Argument(help="A folder in workflow/papers, as in `qavg`.")]
Experiment = Annotated[str, typer.Argument(help="One of the paper's experiments.")]
CellName = Annotated[
    str, typer.Argument(metavar="CELL", help="See `pfedrl list cells PAPER EXPERIMENT`.")
]
Seeds = Annotated[
    str, typer.Option(help="The first seed and one past the last: 0-100 is seeds 0 to 99.")
]
SCALE = "A file in workflow/scales: seeds and budgets."
ScaleName = Annotated[str, typer.Option("--scale", help=SCALE)]


def scale_to_run(scale: str) -> str:
    """The scale, unless it is only to be looked at."""
    if scale.startswith("record"):
        raise PfedrlError(
            f"the scale '{scale}' is drawn from committed runs and makes none. Name another one, "
            "and add its runs with: pfedrl publish"
        )
    return scale


RunScale = Annotated[str, typer.Option("--scale", help=SCALE, callback=scale_to_run)]
Output = Annotated[Path | None, typer.Option(help="Default: where the pipeline would write.")]
Cores = Annotated[
    int | None,
    typer.Option(min=1, help="Number of parallel processes. Default: one per processor."),
]
MadeFrom = Annotated[str, typer.Option(help="A digest of its sources, kept in the output.")]
Code = Annotated[str | None, typer.Option(help="Fail unless the code has this fingerprint.")]

OF_THE_DISK = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM
)  # fmt: skip
CONSOLE: list[int] = []  # the standard error of a command whose output goes to a log


def version(asked: bool) -> None:
    if asked:
        typer.echo(f"pfedrl {__version__}")
        raise typer.Exit


def log_to(path: Path | None) -> None:
    """All output to a file; only where that is full does an error go to the console instead."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    except OSError as error:
        raise PfedrlError(f"{path}: the log cannot be written ({error.strerror}).") from None
    CONSOLE.append(os.dup(sys.stderr.fileno()))
    for stream in (sys.stdout, sys.stderr):
        os.dup2(file, stream.fileno())


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=version, is_eager=True),
    ] = False,
    log: Annotated[
        Path | None, typer.Option(help="Write all output to this file.", callback=log_to)
    ] = None,
) -> None:
    """What stands before a command."""


def say(message: str) -> None:
    """An error, where it will be seen: a log on a full disk would lose it."""
    line = f"pfedrl: {message}\n"
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except OSError:
        for console in CONSOLE:
            os.write(console, line.encode())


def summaries_folder(scale: str) -> Path:
    return Path("results", scale, "summaries")


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


RESUMES = (
    "run",
    "data",
    "bench",
    "tune",
)  # commands that keep finished work when they are interrupted


def stopped(number: int, *_: object) -> NoReturn:
    """A batch system's or a person's polite end: one line, and the shell's code for the signal."""
    resumes = any(argument in RESUMES for argument in sys.argv[1:4])  # behind --log FILE
    say("interrupted." + (" Run the same command to resume." if resumes else ""))
    sys.exit(128 + number)


def main() -> NoReturn:
    """Run the command; an error meant for the person is one line and an exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stopped)
    try:
        app()
    except PfedrlError as error:
        say(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        if error.errno not in OF_THE_DISK:
            raise
        where = f"{error.filename}: " if error.filename else ""
        say(f"{where}{error.strerror}. Finished work is kept. Make room and run the same command.")
        sys.exit(NO_SPACE)
    sys.exit(0)
