"""The pipeline's own steps: each is a rule, and may be called by hand."""

from pathlib import Path
from typing import Annotated

import typer

from pfedrl.cli.program import (
    CONSOLE,
    CellName,
    Code,
    Experiment,
    Output,
    Paper,
    RunScale,
    ScaleName,
    Seeds,
    app,
    summaries_folder,
)
from pfedrl.core.errors import PfedrlError


@app.command()
def build(
    paper: Paper,
    experiment: Experiment,
    cell: CellName,
    seeds: Seeds,
    scale: RunScale = "laptop",
    output: Output = None,
    code: Code = None,
) -> None:
    """Draw the environments of a cell's family and keep them in a file.

    Cells whose families differ only in what is done after drawing share one file.
    """
    from pfedrl.pipeline.cells import draws_path, find_cell, parse_block
    from pfedrl.pipeline.environments import build
    from pfedrl.pipeline.fingerprint import build_code, check_code
    from pfedrl.pipeline.project import Project

    block = parse_block(seeds)
    found = find_cell(Project.here(), paper, experiment, cell, scale)
    if found.family is None:
        raise PfedrlError(f"{paper}/{experiment}/{cell} names no family: nothing to build.")
    check_code(code, build_code(found))
    output = output or draws_path(scale, found, f"{block.start}-{block.stop}")
    build(found, block, output)
    typer.echo(output)


@app.command()
def describe(
    paper: Paper,
    experiment: Experiment,
    cell: CellName,
    seeds: Seeds,
    scale: RunScale = "laptop",
    output: Output = None,
) -> None:
    """Describe members that were built: a table of their sizes and masses, and a picture.

    Of families whose members are models of MuJoCo; they are read from what `pfedrl build` wrote.
    """
    from pfedrl.envs.mujoco.walkers import WalkerFamily
    from pfedrl.envs.views.walkers import describe
    from pfedrl.pipeline.cells import draws_path, find_cell, parse_block
    from pfedrl.pipeline.environments import read_draws
    from pfedrl.pipeline.project import Project

    block = parse_block(seeds)
    found = find_cell(Project.here(), paper, experiment, cell, scale)
    if not isinstance(found.family, WalkerFamily):
        raise PfedrlError(f"{paper}/{experiment}: its members are not MuJoCo models.")
    environments = draws_path(scale, found, f"{block.start}-{block.stop}")
    output = output or environments.with_suffix("")
    describe(found.family, read_draws(environments, found, block), block, output)
    typer.echo(output / "members.md")


@app.command()
def run(
    paper: Paper,
    experiment: Experiment,
    cell: CellName,
    seeds: Seeds,
    scale: RunScale = "laptop",
    environments: Annotated[
        Path | None,
        typer.Option(help="A file of `pfedrl build`. Default: draw the environments anew."),
    ] = None,
    output: Output = None,
    code: Code = None,
    taken: Annotated[
        list[Path] | None,
        typer.Option("--from", help="Reuse these runs of a cell with identical settings."),
    ] = None,
    checkpoint_seconds: Annotated[
        float,
        typer.Option(
            min=0, envvar="PFEDRL_CHECKPOINT_SECONDS", help="Seconds between two checkpoints."
        ),
    ] = 60.0,
) -> None:
    """Run a cell on a block of seeds; write a Parquet file and print the final values.

    A run that is finished already, with the same settings, seeds and code, is shown and not
    computed again; remove its file to compute it anew. A long run keeps a checkpoint beside its
    output: if it is interrupted, the same command resumes it and ends in the same numbers. If an
    earlier experiment has an identical cell, its results can be reused (--from).

    Example: pfedrl run qavg table1_random_mdps qavg_kappa=0.2 --seeds 0-100
    """
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.cells import find_cell, parse_block, run_path
    from pfedrl.pipeline.execute import run
    from pfedrl.pipeline.finals import finished
    from pfedrl.pipeline.fingerprint import check_code, run_code
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.twins import take_rows

    block = parse_block(seeds)
    found = find_cell(Project.here(), paper, experiment, cell, scale)
    check_code(code, run_code(found))
    output = output or run_path(scale, found, f"{block.start}-{block.stop}")
    if taken:
        take_rows(found, block, taken, output)
        typer.echo(output)
        return
    if environments is None and finished(found, block, output):
        typer.echo("Finished before, with the same settings, seeds and code. Nothing to compute.")
    else:
        with progress_bar(f"{experiment}/{cell}") as progress:
            run(found, block, output, environments, progress, checkpoint_seconds)
    if not CONSOLE:  # a job of the pipeline logs, and has no one to show them to
        show_finals(output)
    typer.echo(output)


def show_finals(run: Path) -> None:
    """The main metrics of a run, and what it took."""
    from pfedrl.core.metrics import words_of
    from pfedrl.core.progress import span
    from pfedrl.pipeline.finals import finals

    found, facts = finals(run)
    first, last = facts["seeds"]
    typer.echo(f"Final values, mean ± standard deviation over {last - first:,} seeds:")
    for metric, mean, deviation, seeds in found:
        spread = "" if deviation != deviation else f" ± {deviation:.3g}"
        short = "" if seeds == last - first else f" ({seeds:,} seeds with a value)"
        typer.echo(f"  {words_of(metric)}: {mean:,.5g}{spread}{short}")
    typer.echo(f"Took {span(facts['wall_seconds'])} ({span(facts['cpu_seconds'])} of core time).")


@app.command()
def summarise(paper: Paper, experiment: Experiment, scale: RunScale = "laptop") -> None:
    """Turn an experiment's runs into statistics and final values, one file each.

    Reads every block of every cell at the scale; a missing or broken one is named.
    """
    from pfedrl.analysis.summarise import summarise
    from pfedrl.pipeline.cells import cells, run_path
    from pfedrl.pipeline.project import Project

    runs = [
        run_path(scale, cell, block)
        for cell in cells(Project.here(), paper, experiment, scale)
        if cell.skip() is None
        for block in cell.blocks()
    ]
    stem = summaries_folder(scale) / paper / experiment
    summarise(runs, stem.with_suffix(".statistics.parquet"), stem.with_suffix(".finals.parquet"))


@app.command()
def draw(
    paper: Paper,
    artifact: Annotated[str, typer.Argument(help="A table or figure of the paper: table1.")],
    scale: ScaleName = "laptop",
    output: Annotated[
        Path | None, typer.Option(help="A folder. Default: the scale's, then the paper's name.")
    ] = None,
) -> None:
    """Draw a table (csv, md, tex) or a figure (pdf, png, csv), with its provenance (json)."""
    from pfedrl.analysis.drawing import draw
    from pfedrl.core.errors import unknown
    from pfedrl.pipeline.project import Project

    project = Project.here()
    artifacts = project.paper(paper).artifacts
    if artifact not in artifacts:
        raise unknown(
            "artifact", artifact, artifacts, where=f"workflow/papers/{paper}/artifacts.yaml"
        )
    output = output or Path(project.scale(scale).figures, paper)
    draw(project, paper, artifact, scale, summaries_folder(scale), output)


@app.command()
def claims(paper: Paper, scale: ScaleName = "laptop", output: Output = None) -> None:
    """Test the paper's claims and its printed numbers against ours, and give verdicts."""
    from pfedrl.analysis.claims import evaluate
    from pfedrl.pipeline.project import Project

    project = Project.here()
    project.paper(paper)
    project.scale(scale)
    output = output or Path("results", scale, "claims", f"{paper}.json")
    evaluate(project, paper, scale, summaries_folder(scale), output)


@app.command()
def report(scale: ScaleName = "laptop", output: Output = None) -> None:
    """Write index.html: every table and figure, ours beside the paper's, with the verdicts."""
    from pfedrl.analysis.overview import overview
    from pfedrl.analysis.report import report
    from pfedrl.pipeline.project import Project

    project = Project.here()
    figures = Path(project.scale(scale).figures)
    claims = Path("results", scale, "claims")
    report(project, figures, claims, output or figures / "index.html", scale=scale)
    overview(project, figures, claims)
