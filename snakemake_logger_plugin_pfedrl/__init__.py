"""A Snakemake logger plugin: what a person sees of the pipeline (`logger: pfedrl` in a profile).

Snakemake imports this package at the start of every command, whichever workflow it runs. So nothing
of pfedrl is imported before a profile asks for this logger: importing pfedrl limits the threads and
the instruction sets of the whole process.
"""

import atexit
import logging

from snakemake_interface_logger_plugins.base import LogHandlerBase

from snakemake_logger_plugin_pfedrl import mend


class LogHandler(LogHandlerBase):
    """Passes Snakemake's events on to our console.

    With --printshellcmds or --verbose it writes nothing, and Snakemake adds a console of its own.
    """

    def __post_init__(self) -> None:
        from snakemake_logger_plugin_pfedrl.console import JobConsole

        given = self.common_settings
        self.ours = not (given.printshellcmds or given.verbose)
        self.closed = False
        atexit.register(self.close)  # Ctrl-C may come before Snakemake knows this handler
        mend.end_on_interrupt()
        quiet = frozenset(item.name for item in given.quiet or ())
        self.console = JobConsole(given.dryrun, quiet)
        self.console.begin()

    def emit(self, record: logging.LogRecord) -> None:
        if self.ours:
            try:
                self.console.show(record)
            except Exception:
                self.handleError(record)  # else Snakemake's thread of handlers would end

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            if self.ours:
                self.console.end()
            super().close()

    @property
    def writes_to_stream(self) -> bool:
        return self.ours

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return True  # failures are shown however quiet Snakemake is to be

    @property
    def has_formatter(self) -> bool:
        return True

    @property
    def needs_rulegraph(self) -> bool:
        return False
