"""The command line. Every rule of the pipeline is one call of it, so whatever the pipeline does a
person can do by hand. Imports are lazy: a tabular run never waits for torch.

`program` is what all commands share; the other modules hold the commands, in the order of the help.
"""

from pfedrl.cli import benchmarking, data, jobs, looking, verdicts, writing
from pfedrl.cli.program import app, main

__all__ = ["app", "benchmarking", "data", "jobs", "looking", "main", "verdicts", "writing"]
