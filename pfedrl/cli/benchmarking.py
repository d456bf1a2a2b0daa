"""The benchmark: run an algorithm on a suite, tune it, and set it beside all others."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pfedrl.cli.program import Cores, app, available_cores
from pfedrl.core.errors import PfedrlError

SuiteName = Annotated[str, typer.Option("--suite", help="A file in workflow/suites.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="A setting of the algorithm, as in beta=0.5.")
]
Given = Annotated[
    str, typer.Argument(help="A file, as in my_algo.py or dqn:my_exchange.py, or a name.")
]


def value(text: str) -> Any:
    """A number, a word or a list, as YAML reads it."""
    import yaml

    return yaml.safe_load(text)


def pairs(given: list[str] | None) -> dict[str, Any]:
    """beta=0.5 as a setting and its value."""
    found = {}
    for one in given or ():
        name, is_pair, text = one.partition("=")
        if not is_pair:
            raise PfedrlError(f"--set {one}: give a setting and its value, as in beta=0.5.")
        found[name] = value(text)
    return found


def make(root: Path, title: str, jobs: list[Any], cores: int | None) -> None:
    """Run what is missing."""
    from pfedrl.core.progress import progress_bar
    from pfedrl.suites.runs import make_all

    seeds = sum(len(job.seeds) for job in jobs)
    typer.echo(f"{title}: {seeds:,} seeds to run, in {len(jobs)} jobs.")
    with progress_bar(title) as progress:
        make_all(root, jobs, cores or available_cores(), progress)


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
    settings: Set = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder of the page and table. Default: bench/SUITE.")
    ] = None,
    cores: Cores = None,
) -> None:
    """Run an algorithm on a suite and compare it with the committed runs of all others.

    Nobody else is run again. Interrupted, the same command resumes.

    Example: pfedrl bench dqn:my_exchange.py --suite quick --set beta=0.5
    """
    from pfedrl.analysis.pages.suite import write_page
    from pfedrl.pipeline.project import Project
    from pfedrl.suites.board import board
    from pfedrl.suites.runs import LAYERS, missing
    from pfedrl.suites.submission import with_submissions
    from pfedrl.suites.suite import read_suite
    from pfedrl.suites.writing import write_board

    project = Project.here_or_own()
    chosen, own = read_suite(project, suite), None
    if algorithm is not None:
        own, chosen = chosen.with_algorithm(algorithm, pairs(settings))
    make(project.root, chosen.title, list(missing(project, chosen, own)), cores)
    found = board(project, *with_submissions(project, chosen), LAYERS)
    folder = output or Path("bench", suite)
    write_board(project, found, folder)
    page = write_page(folder)
    show(found.plain()["table"], own and found.label(own), alone=found.label(chosen.alone))
    typer.echo(f"{page}   (everybody, figures, and {folder}/leaderboard.csv)")


def show(table: dict[str, Any], own: str | None = None, alone: str | None = None) -> None:
    """A leaderboard in the terminal; of one's own algorithm its rows and those around it."""
    from rich.console import Console

    from pfedrl.pipeline.listing import show_table

    rows = [row for section in table["sections"] for row in section["rows"]]
    if own is not None and rows:
        place = table["columns"].index("algorithm")
        mine = next((number for number, row in enumerate(rows) if row[place] == own), 0)
        near = {0, 1, 2, mine - 1, mine, mine + 1}
        rows = [row for number, row in enumerate(rows) if number in near or row[place] == alone]
        rows = [["> " + cell if cell == own else cell for cell in row] for row in rows]
    if rows:
        show_table(Console(), "", tuple(table["columns"]), rows)
    for note in table["notes"]:
        typer.echo(note)


@app.command("board")
def board_(
    suite: Annotated[str, typer.Argument(help="A file in workflow/suites.")] = "quick",
    verify: Annotated[
        str | None, typer.Option(help="A submission, or its folder: rerun seeds, score new ones.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Write the tables and figures to this folder.")
    ] = None,
    made_from: Annotated[str, typer.Option(help="A digest of its sources, kept in it.")] = "",
    cores: Cores = None,
) -> None:
    """Print the leaderboard of a suite, or verify a submission.

    --verify reruns a random scored seed of each task and says whether it has the same bits. It then
    scores the algorithm on seeds that are drawn from the digest of the submission, which its author
    could not have tuned on.
    """
    from pfedrl.pipeline.project import Project
    from pfedrl.suites.board import board
    from pfedrl.suites.submission import with_submissions
    from pfedrl.suites.suite import read_suite
    from pfedrl.suites.writing import write_board

    project = Project.here_or_own()
    if verify is not None:
        check_submission(project, verify, cores)
        return
    found = board(project, *with_submissions(project, read_suite(project, suite)))
    if output is not None:
        write_board(project, found, output, made_from)
    show(found.plain()["table"])


def check_submission(project: Any, name: str, cores: int | None) -> None:
    """What `pfedrl board --verify` prints."""
    from pfedrl.suites.scores import learners, overall, read_entries
    from pfedrl.suites.submission import read_submission, rerun_one_of_each, unseen_jobs

    one = read_submission(project, name)
    failed = False
    for answer in rerun_one_of_each(project, one):
        failed |= answer.answer == "differs"
        typer.echo(f"{answer.name}: {answer.answer}" + f" ({answer.remark})" * bool(answer.remark))
    make(project.root, "Unseen seeds", unseen_jobs(project, one), cores)
    stores = {one.variant: one.store}
    for told, where, seeds in (
        ("submitted", stores, list(range(one.suite.seeds))), ("unseen", {}, one.unseen())
    ):  # fmt: skip
        found, _ = read_entries(project, one.suite, where, sorted(seeds))
        own = [entry for entry in learners(found) if entry.name == one.variant]
        for entry in own:
            spread = entry.by_seed.std(ddof=1)
            typer.echo(f"{told}: score {overall(entry):.3f}, {len(seeds)} seeds, s.d. {spread:.3f}")
    if failed:
        raise PfedrlError(f"{name} does not come out as it was submitted.", exit_code=1)


@app.command()
def tune(
    algorithm: Given,
    grid: Annotated[
        list[str] | None, typer.Option("--grid", help="Values to try, as in beta=0.1,0.5.")
    ] = None,
    suite: SuiteName = "quick",
    trials: Annotated[int, typer.Option(min=1, help="Points of the grid, at most.")] = 8,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds of each trial, from 1000 on.")] = 3,
    output: Annotated[Path | None, typer.Option(help="A file for the outcome as JSON.")] = None,
    cores: Cores = None,
) -> None:
    """Try settings of an algorithm on a suite, on seeds that are never scored.

    The committed baselines had the same number of trials, or say `defaults`.

    Example: pfedrl tune dqn:my_exchange.py --grid beta=0.1,0.3,0.5,0.9
    """
    from pfedrl.analysis.output import write_json
    from pfedrl.pipeline.project import Project
    from pfedrl.suites import tuning
    from pfedrl.suites.suite import read_suite

    project = Project.here_or_own()
    chosen, values = read_suite(project, suite), tuning.read_grid(grid or [], value)
    tried = tuning.trials(chosen, algorithm, values, trials)
    block = range(tuning.FIRST, tuning.FIRST + seeds)
    make(project.root, f"{len(tried)} trials", tuning.jobs(project, chosen, tried, block), cores)
    found = tuning.tuned(project, chosen, algorithm, values, tried, block)
    for settings, score in found.scores:
        typer.echo(f"{score:8.4f}  " + ", ".join(f"{key} {one}" for key, one in settings.items()))
    if output is not None:
        write_json(output, found.model_dump(mode="json"))
    best = " ".join(f"--set {key}={one}" for key, one in found.best.items())
    typer.echo(f"The best of {len(tried)}: pfedrl bench {algorithm} --suite {suite} {best}")


@app.command()
def submit(
    algorithm: Given,
    name: Annotated[str, typer.Option(help="What the submission is called.")],
    suite: SuiteName = "quick",
    settings: Set = None,
    trials: Annotated[
        int | None, typer.Option(help="Settings that were tried in tuning; none: defaults.")
    ] = None,
    output: Annotated[Path, typer.Option(help="The folder that it is put in.")] = Path(
        "submissions"
    ),
) -> None:
    """Pack an algorithm that was benched: its file, settings, runs, and the code's fingerprint.

    Send the folder as a pull request; `pfedrl board --verify submissions/NAME` reruns seeds of it.
    """
    from pfedrl.pipeline.project import Project
    from pfedrl.suites.submission import submit
    from pfedrl.suites.suite import read_suite

    project = Project.here_or_own()
    chosen = read_suite(project, suite)
    typer.echo(submit(project, chosen, name, algorithm, pairs(settings), trials, output))
