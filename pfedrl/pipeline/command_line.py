"""Snakemake's command line, checked before Snakemake reads it.

A profile calls `begin`, because that is the first code of ours that a `snakemake` command runs.
"""

import signal
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import NoReturn

from pfedrl.core.errors import PfedrlError

INTERRUPTED = 128 + signal.SIGINT  # the shell's code


def begin() -> None:
    """Say that the command has started, refuse misplaced targets, and end on Ctrl-C in one line."""
    signal.signal(signal.SIGINT, _interrupted)
    try:
        check(sys.argv[1:])
    except PfedrlError as error:
        print(f"pfedrl: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    print("Reading the experiments and looking for what is out of date.", file=sys.stderr)


def check(arguments: Sequence[str]) -> None:
    """Refuse a target after --config, which Snakemake would read as a setting."""
    for position, option in enumerate(arguments):
        if option not in ("--config", "-C"):
            continue
        given = list(takewhile(lambda word: not word.startswith("-"), arguments[position + 1 :]))
        targets = [word for word in given if "=" not in word]
        if targets:
            settings = [word for word in given if "=" in word]
            others = [*arguments[:position], *arguments[position + 1 + len(given) :]]
            command = " ".join(["snakemake", *targets, *others, "--config", *settings])
            raise PfedrlError(
                f"'{targets[0]}' stands after --config, where Snakemake expects settings. Put "
                f"targets before --config: {command}"
            )


def _interrupted(*_: object) -> NoReturn:
    print("Interrupted before the first job. Run the same command to resume.", file=sys.stderr)
    sys.exit(INTERRUPTED)
