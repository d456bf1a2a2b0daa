"""The benchmark: run an algorithm on a suite, and set it beside all others."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pfedrl.cli.program import Cores, app, available_cores
from pfedrl.core.errors import PfedrlError

SuiteName = Annotated[str, typer.Option("--suite", help="A file in workflow/suites.")]


def pairs(given: list[str]) -> dict[str, Any]:
    """beta=0.5 as a setting and its value."""
    import yaml

    found = {}
    for one in given:
        name, is_pair, value = one.partition("=")
        if not is_pair:
            raise PfedrlError(f"--set {one}: give a setting and its value, as in beta=0.5.")
        found[name] = yaml.safe_load(value)
    return found


@app.command()
def bench(
    algorithm: Annotated[
        str | None,
        typer.Argument(
            help="A file, as in my_algo.py or dqn:my_exchange.py, or a name. "
            "Default: what the suite itself names and nobody has run."
        ),
    ] = None,
    suite: SuiteName = "quick",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the algorithm, as in beta=0.5.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the page and table. Default: bench/SUITE.")
    ] = None,
    cores: Cores = None,
) -> None:
    """Run an algorithm on a suite and compare it with the committed runs of all others.

    Nobody else is run again. Interrupted, the same command resumes.

    Example: pfedrl bench dqn:my_exchange.py --suite quick --set beta=0.5
    """
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.project import Project
    from pfedrl.suites.runs import make_all, missing
    from pfedrl.suites.suite import read_suite

    project = Project.here_or_own()
    chosen, own = read_suite(project, suite), None
    if algorithm is not None:
        own, chosen = chosen.with_algorithm(algorithm, pairs(settings or []))
    jobs = list(missing(project, chosen, own))
    seeds = sum(len(job.seeds) for job in jobs)
    typer.echo(f"{chosen.title}: {seeds:,} seeds to run, in {len(jobs)} jobs.")
    with progress_bar(chosen.suite) as progress:
        make_all(project.root, jobs, min(cores or available_cores(), len(jobs) or 1), progress)
