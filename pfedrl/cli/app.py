"""What all commands share: the program, its arguments, and how it ends."""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pfedrl import __version__
from pfedrl.core.errors import PfedrlError

app = typer.Typer(
    name="pfedrl",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="""Federated and personalised RL, reproduced and compared.

    The pipeline is build -> run -> summarise -> draw / claims -> report. `snakemake --cores all`
    calls these commands for you; by hand they do one step of it, from the project's folder, and
    read and write the same files. `pfedrl list` shows what there is to name.""",
)

Paper = Annotated[str, typer.Argument(help="A folder in workflow/papers, as in `qavg`.")]
Experiment = Annotated[str, typer.Argument(help="One of the paper's experiments.")]
CellName = Annotated[
    str, typer.Argument(metavar="CELL", help="See `pfedrl list cells PAPER EXPERIMENT`.")
]
Seeds = Annotated[
    str, typer.Option(help="The first seed and one past the last: 0-100 is seeds 0 to 99.")
]
ScaleName = Annotated[
    str, typer.Option("--scale", help="A file in workflow/scales: seeds and budgets.")
]
Output = Annotated[Path | None, typer.Option(help="Default: where the pipeline would write.")]
Cores = Annotated[
    int | None, typer.Option(min=1, help="Processes at once; one a processor by default.")
]
Code = Annotated[
    str | None, typer.Option(help="The fingerprint that the code must have; any by default.")
]


def version(asked: bool) -> None:
    if asked:
        typer.echo(f"pfedrl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=version, is_eager=True),
    ] = False,
) -> None:
    """What stands before a command."""


def summaries_folder(scale: str) -> Path:
    return Path("results", scale, "summaries")


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stopped(number: int, *_: object) -> NoReturn:
    """A batch system's or a person's polite end: one line, and the shell's code for the signal."""
    name = signal.Signals(number).name
    print(f"pfedrl: stopped by {name}. The same command goes on from here.", file=sys.stderr)
    sys.exit(128 + number)


def main() -> NoReturn:
    """Run the command; an error meant for the person is one line and an exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stopped)
    try:
        app()
    except PfedrlError as error:
        print(f"pfedrl: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    sys.exit(0)
