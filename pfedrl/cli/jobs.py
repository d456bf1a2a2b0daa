"""The pipeline's own steps: each is a rule, and may be called by hand."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pfedrl.cli.program import (
    CONSOLE,
    CellName,
    Code,
    Experiment,
    MadeFrom,
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
    output = output or draws_path(found, f"{block.start}-{block.stop}")
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
    environments = draws_path(found, f"{block.start}-{block.stop}")
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
    output: if it is interrupted, the same command resumes it and ends in the same numbers.

    Example: pfedrl run qavg table1_random_mdps qavg_kappa=0.2 --seeds 0-100
    """
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.cells import find_cell, parse_block
    from pfedrl.pipeline.execute import run
    from pfedrl.pipeline.fingerprint import check_code, run_code
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.store import Part, Store, block_name, run_path

    project, block = Project.here(), parse_block(seeds)
    found = find_cell(project, paper, experiment, cell, scale)
    check_code(code, run_code(found))
    output = output or run_path(found, block_name(block))
    part = Part("local", output, block, block)
    store = Store(project.root)
    if environments is None and store.holds(found, part):
        typer.echo("Finished before, with the same settings, seeds and code. Nothing to compute.")
    else:
        with progress_bar(f"{experiment}/{cell}") as progress:
            run(found, block, output, environments, progress, checkpoint_seconds)
    if not CONSOLE:  # a job of the pipeline logs, and has no one to show them to
        show_finals(*store.read(found, [part]))
    typer.echo(output)


def show_finals(values: Any, facts: Any) -> None:
    """The main metrics of a run (all where it has none of those), and what it took."""
    import numpy as np

    from pfedrl.analysis.summarise import final_values
    from pfedrl.core.durations import span
    from pfedrl.core.metrics import MAIN, words_of

    finals = final_values(values)
    ((first, last),) = (one["seeds"] for one in facts)
    typer.echo(f"Final values, mean ± standard deviation over {last - first:,} seeds:")
    for metric in [name for name in MAIN if name in finals] or sorted(finals):
        own = finals[metric][np.isfinite(finals[metric])]
        mean = own.mean() if len(own) else float("nan")
        spread = f" ± {own.std(ddof=1):.3g}" if len(own) > 1 else ""
        short = "" if len(own) == last - first else f" ({len(own):,} seeds with a value)"
        typer.echo(f"  {words_of(metric)}: {mean:,.5g}{spread}{short}")
    (took,) = facts
    typer.echo(f"Took {span(took['wall_seconds'])} ({span(took['cpu_seconds'])} of core time).")


@app.command()
def summarise(paper: Paper, experiment: Experiment, scale: ScaleName = "laptop") -> None:
    """Turn an experiment's runs into statistics and final values, one file each.

    A cell without all of its seeds at the scale is left out, with the reason.
    """
    from pfedrl.analysis.summarise import summarise
    from pfedrl.pipeline.project import Project

    summarise(Project.here(), paper, experiment, scale)


@app.command()
def draw(
    paper: Paper,
    artifact: Annotated[str, typer.Argument(help="A table or figure of the paper: table1.")],
    scale: ScaleName = "laptop",
    output: Annotated[
        Path | None, typer.Option(help="A folder. Default: the scale's, then the paper's name.")
    ] = None,
    made_from: MadeFrom = "",
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
    draw(project, paper, artifact, scale, summaries_folder(scale), output, made_from)


@app.command()
def claims(
    paper: Paper, scale: ScaleName = "laptop", output: Output = None, made_from: MadeFrom = ""
) -> None:
    """Test the paper's claims and its printed numbers against ours, and give verdicts."""
    from pfedrl.analysis.claims import evaluate
    from pfedrl.pipeline.project import Project

    project = Project.here()
    project.paper(paper)
    output = output or project.scale(scale).verdicts_of(paper)
    evaluate(project, paper, scale, summaries_folder(scale), output, made_from)


@app.command()
def report(scale: ScaleName = "laptop", output: Output = None, made_from: MadeFrom = "") -> None:
    """Write the pages: every table and figure, ours beside the paper's, with the verdicts."""
    from pfedrl.analysis.pages.site import Site
    from pfedrl.pipeline.project import Project

    Site(Project.here(), scale, output, made_from).write()
