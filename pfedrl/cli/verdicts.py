"""What the runs say together: published, judged, planned, verified."""

from pathlib import Path
from typing import Annotated

import typer

from pfedrl.cli.program import Cores, ScaleName, app, available_cores


@app.command()
def publish(
    papers: Annotated[
        list[str] | None, typer.Argument(help="Papers; all of them by default.")
    ] = None,
    scale: ScaleName = "laptop",
) -> None:
    """Add finished runs to results/published, from which tables, figures and verdicts are made.

    A seed counts only once every variant of its experiment has run it; seeds that wait are listed.
    """
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.published import publish, waiting

    project = Project.here()
    named = papers or list(project.papers)
    for path in publish(project, scale, named):
        typer.echo(path.relative_to(project.root))
    for words in waiting(project, scale, named):
        typer.echo(words)


@app.command()
def figures(
    output: Annotated[Path, typer.Option(help="Output folder.")] = Path("paper_figures"),
    cores: Cores = None,
) -> None:
    """Draw every table and figure again, with the verdicts, from results/published alone."""
    from pfedrl.analysis.redraw import redraw
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.published import FOLDER

    project = Project.here()
    with progress_bar("figures") as progress:
        redraw(project, output, project.root / FOLDER, cores or available_cores(), progress)
    typer.echo(output / "index.html")


@app.command()
def plan(
    scale: ScaleName = "published",
    cores: Cores = None,
    json: Annotated[Path | None, typer.Option(help="A file for all tables as JSON.")] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show all tables, not only the cheapest claims.")
    ] = False,
) -> None:
    """List the claims that are open: the seeds they need, and the core-hours that those cost.

    Prices come from what the runs behind the verdicts took. The verdicts are those in
    results/SCALE/claims: of published runs `pfedrl figures` writes them, of others `pfedrl claims`.
    """
    from pfedrl.analysis.output import write_json
    from pfedrl.analysis.plan import read_ledger
    from pfedrl.analysis.plan_tables import as_json, show
    from pfedrl.pipeline.project import Project

    typer.echo(
        f"Reading the verdicts in results/{scale}/claims and the runs behind them ...", err=True
    )
    ledger = read_ledger(Project.here(), scale)
    show(ledger, cores or available_cores(), every)
    if json is not None:
        write_json(json, as_json(ledger, cores or available_cores()))


@app.command()
def decide(
    hours: Annotated[float, typer.Option(min=0, help="Time limit in hours.")],
    cores: Cores = None,
) -> None:
    """Add seeds to the published runs where an hour decides most claims, and stop in time."""
    from pfedrl.analysis.decide import decide
    from pfedrl.pipeline.project import Project

    decide(Project.here(), hours, cores or available_cores(), typer.echo)


@app.command()
def level(
    output: Annotated[Path, typer.Option(help="Output folder.")] = Path(
        "paper_figures", "evidence"
    ),
) -> None:
    """Simulate how often a verdict is wrong, and write the table and figure (half a minute)."""
    from pfedrl.analysis.level import write_level

    write_level(output)


@app.command()
def rejudged(
    output: Annotated[Path, typer.Option(help="Output folder.")] = Path(
        "paper_figures", "evidence"
    ),
) -> None:
    """Set the ledger of before beside the verdicts of now: which changed, and why."""
    from pfedrl.analysis.rejudged import write_rejudged
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.published import FOLDER

    project = Project.here()
    write_rejudged(project, project.root / FOLDER / "claims", output)


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Algorithms or statements; with --published: PAPER [EXPERIMENT [CELL]]."
        ),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Store the results.")] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Check published runs; without names, list them.")
    ] = False,
) -> None:
    """Run again what is stored and say: same bits, same to rounding, or differs.

    Stored are digests of a short run of every algorithm and statement on every family, half a
    core-minute in all. With --published a seed of a published run is made again at its full budget:
    of a cell, of an experiment's quickest one, or of every cell of a paper whose code is not the
    code here. With --write as well, those with the same bits are recorded as confirmed.
    """
    import os

    from pfedrl.core.errors import PfedrlError
    from pfedrl.core.processor import flags
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline import verify
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.verify_published import listed, verify_published

    project, given = Project.here(), names or []
    if published and not given:
        if write:
            raise PfedrlError("which runs? pfedrl verify --published --write PAPER.")
        for line in listed(project):
            typer.echo(line)
        return
    if published and len(given) > 3:
        raise PfedrlError("--published takes PAPER [EXPERIMENT [CELL]], not more.")
    if write and not published:
        for name in verify.write(project, given):
            typer.echo(name)
        return
    answers = []
    with progress_bar("core-seconds") as progress:
        if published:
            compared = verify_published(project, *given, write=write, progress=progress)
        else:
            compared = verify.verify(project, given)
        for name, answer, remark in compared:
            typer.echo(f"{answer:16s} {name}" + (f" ({remark})" if remark else ""))
            answers.append(answer)
    if not answers:
        typer.echo("every published cell is of the code here, or confirmed by it.")
        return
    typer.echo(verify.summary(answers, verify.why_other_bits(os.environ, flags())))
    if "differs" in answers:
        raise typer.Exit(1)
