"""Errors a person can act on: one message that says what is wrong, where, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches

USAGE = 2  # what was asked for does not exist or is not allowed
BROKEN_ARTIFACT = 3  # a file on disk cannot be trusted
NO_SPACE = 4  # the disk is full or may not be written to; nothing was lost

MOST_NAMES = 30  # of the known ones, in a message


class PfedrlError(Exception):
    """An error whose message is meant for the person at the keyboard."""

    def __init__(self, message: str, exit_code: int = USAGE):
        super().__init__(message)
        self.exit_code = exit_code


def unknown(kind: str, name: str, known: Iterable[str], where: str = "") -> PfedrlError:
    """The error for a name that is not among the known ones, with the nearest that is."""
    names = sorted(known)
    shown = names if len(names) <= MOST_NAMES else [*names[:MOST_NAMES], f"{len(names)} in all"]
    nearest = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"Did you mean '{nearest[0]}'? " if nearest else ""
    place = f"{where}: " if where else ""
    return PfedrlError(
        f"{place}unknown {kind} '{name}'. {hint}Known: {', '.join(shown) or 'none'}."
    )
