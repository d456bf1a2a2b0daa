"""To see what there is, and to measure it."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from pfedrl.cli.program import Cores, ScaleName, app, available_cores
from pfedrl.core.errors import PfedrlError, unknown

WATCHED = ("figure_eight", "half_cheetah", "hopper")


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


@app.command()
def demo() -> None:
    """Run one table and one learning curve in a minute, and compare both with the record."""
    from rich.console import Console

    from pfedrl.pipeline.project import Project

    project, console = Project.here(), Console(highlight=False, soft_wrap=True)
    console.print("Loading (a few seconds; longer the first time, when kernels are compiled).")
    from pfedrl.analysis.demo import demo

    demo(project, console)


@app.command()
def compare(
    first: Annotated[str, typer.Argument(help="An algorithm: pfed_dqn_rep, or PFedDQN-Rep.")],
    second: Annotated[str, typer.Argument(help="The algorithm to compare it with.")],
    on: Annotated[str, typer.Option(help="A family, as in cartpole, or one experiment.")],
) -> None:
    """Compare two algorithms on a family, by the published runs: who is better, by how much.

    Shows every metric that both have, with its 95% interval, seeds won and lost, the training
    budget, and the same comparison under each reading of what the paper leaves open.

    Example: pfedrl compare pfed_dqn_rep dqn_avg --on cartpole
    """
    from rich.console import Console

    from pfedrl.analysis import compare_words as words
    from pfedrl.analysis.compare import compare, differences, main, readings
    from pfedrl.pipeline.listing import show_table
    from pfedrl.pipeline.project import Project

    project = Project.here()
    fullest, *others = compare(project, first, second, on)
    found = differences(project, fullest)
    chosen = main(project, fullest, [one.metric for one in found])
    typer.echo(f"{words.sentence(fullest, found[: len(chosen)] or found[:1])}\n")
    typer.echo(f"{words.place(fullest)}.")
    columns = tuple(
        {"first": fullest.first, "second": fullest.second}.get(c, c) for c in words.COLUMNS
    )
    show_table(Console(), "", columns, [words.row(one) for one in found])
    typer.echo(f"{words.INTERVALS} {words.CENSORED}")
    for line in words.lines_of_readings(
        readings(project, fullest, found[0].metric), found[0].words
    ):
        typer.echo(line)
    if others:
        typer.echo("Other experiments that have both:")
    for other in others:
        of = differences(project, other)
        count = len(main(project, other, [one.metric for one in of])) or 1
        typer.echo(f"  {words.place(other)}: {words.sentence(other, of[:count])}")


@app.command()
def watch(
    family: Annotated[
        str, typer.Argument(help="The family to watch: figure_eight, hopper or half_cheetah.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            help="The animation (.gif) or, of walkers, a strip of pictures (.png). "
            "Default: results/watch/FAMILY.gif."
        ),
    ] = None,
    acceleration: Annotated[
        float | None,
        typer.Option(help="Figure eight, of the agents; without it all drive like humans."),
    ] = None,
    placement: Annotated[
        str | None, typer.Option(help="Figure eight: humans h and agents r in order.")
    ] = None,
    acting: Annotated[
        str, typer.Option(help="Walkers: random_policy, zero_action, or ddpg, trained first.")
    ] = "random_policy",
    frames: Annotated[
        int, typer.Option(min=1, help="Walkers: how long ddpg trains; 20,000 take two minutes.")
    ] = 20000,
    member: Annotated[
        list[float] | None,
        typer.Option(help="Walkers: sizes to see; by default the smallest and the largest."),
    ] = None,
    seed: int = 0,
    live: Annotated[
        bool, typer.Option("--live", help="Figure eight: SUMO's own window instead.")
    ] = False,
) -> None:
    """Record an episode as an animated picture, or show it in the simulator's window."""
    if family not in WATCHED:
        raise unknown("family to watch", family, WATCHED)
    output = output or Path("results", "watch", f"{family}.gif")
    if family == "figure_eight":
        if output.suffix.lower() != ".gif":
            raise PfedrlError(f"--output {output}: the animation is a GIF; give a name with .gif.")
        if acceleration is not None and not math.isfinite(acceleration):
            raise PfedrlError(f"--acceleration {acceleration}: give a number, in m/s^2.")
    if not live:
        typer.echo(f"Recording an episode of {family} to {output} ...", err=True)
    from pfedrl.core.progress import progress_bar

    output.parent.mkdir(parents=True, exist_ok=True)
    if family != "figure_eight":
        from pfedrl.analysis.watching import watch_walkers

        with progress_bar(f"{family}, frames of training") as progress:
            watch_walkers(family, output, acting, member or [], frames, seed, progress)
        typer.echo(output)
        return
    from pfedrl.analysis.style import paper_style
    from pfedrl.envs.views.traffic import watch, watch_live

    settings = {} if placement is None else {"placement": placement}
    if live:
        watch_live(settings, acceleration, seed)
        return
    with paper_style(), progress_bar(f"{family}, pictures") as progress:
        watch(output, settings, acceleration, seed, progress=progress)
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

    known = [module.name for module in iter_modules(benchmarks.__path__)]
    if name is not None and name not in known:
        raise unknown("benchmark", name, known)
    for chosen in known if name is None else [name]:
        import_module(f"pfedrl.benchmarks.{chosen}").main()


@app.command()
def cost(
    scale: ScaleName = "paper",
    hours: Annotated[float, typer.Option(min=0.1, help="Time limit in hours.")] = 24.0,
    cores: Cores = None,
) -> None:
    """Estimate the cost of a scale: core-hours, memory, disk, and nodes for the time limit.

    Prices are those of earlier runs, and of short ones with a paper's own settings
    (results/published/rates.json). What is left to run: snakemake --dry-run.
    """
    from collections import Counter

    from rich.console import Console

    from pfedrl.pipeline.costs import bills, sentences, table
    from pfedrl.pipeline.project import Project

    found = bills(Project.here(), scale)
    Console(highlight=False, soft_wrap=True).print(table(found))
    known = [cost for bill in found.values() for cost in bill.costs]
    uncounted = sum((bill.uncounted for bill in found.values()), Counter())
    for sentence in sentences(known, uncounted, cores or available_cores(), hours):
        typer.echo(sentence)


@app.command()
def schema(
    output: Annotated[Path, typer.Option(help="The folder of the schemas.")] = Path(
        "workflow/schemas"
    ),
) -> None:
    """Write the JSON schemas of the YAML files, generated from the settings' models."""
    from pfedrl.analysis.schema import write_schemas

    for path in write_schemas(output):
        typer.echo(path)


@app.command()
def show(
    artifact: Annotated[str, typer.Argument(help="A table or figure, as in qavg/table1.")],
    scale: ScaleName = "record",
) -> None:
    """Print a table, or where a figure is, with the sentences that rest on it and its command."""
    paper, _, name = artifact.partition("/")
    folder = _figures(scale) / paper
    known, judged = (
        _result(folder / f"{name}.json", artifact),
        _result(folder / "claims.json", paper),
    )
    typer.echo(f"{known['title']}\n{known['caption']}\n")
    if known.get("table"):
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        rows = [line for line in text.splitlines() if line.startswith("|")]
        typer.echo("\n".join(rows))
    else:
        typer.echo(folder / f"{name}.png")
    typer.echo(f"\n{known['command']}   ({known['core_seconds']:,.0f} core-seconds of runs)")
    for claim in judged["claims"]:
        if set(claim["experiments"]) & set(known["seeds"]):
            typer.echo(f"  {claim['badge']:26s} {claim['words']}")


@app.command()
def ledger(
    paper: Annotated[str, typer.Argument(help="A paper, as in pfedrl_rep.")],
    badge: Annotated[str | None, typer.Option(help="Only this badge, as in contradicted.")] = None,
    scale: ScaleName = "record",
) -> None:
    """Print a paper's sentences with their badges and evidence; `claims` is what judges them."""
    judged = _result(_figures(scale) / paper / "claims.json", paper)
    if badge is not None and badge not in judged["counts"]:
        raise unknown("badge", badge, judged["counts"])
    for name in judged["counts"]:
        for claim in judged["claims"]:
            if claim["badge"] != name or badge not in (None, name):
                continue
            ours = " (a question of our own)" if claim["ours"] else ""
            typer.echo(
                f"{name}{' (post hoc)' if claim['post_hoc'] else ''}: {claim['words']}{ours}"
            )
            for one in claim["comparisons"][:1]:
                typer.echo(f"    {one['words']}")


def _figures(scale: str) -> Path:
    from pfedrl.pipeline.scale import FIGURES, RECORD

    return Path(FIGURES) if scale == RECORD else Path("results", scale, FIGURES)


def _result(path: Path, name: str) -> Any:
    """What was drawn or judged; without reading any settings, so that it is fast."""
    import json

    if not path.exists():
        known = sorted(
            str(p.relative_to(path.parent.parent).with_suffix(""))
            for p in path.parent.glob("*.json")
        )
        raise unknown("table, figure or paper", name, known)
    return json.loads(path.read_text(encoding="utf-8"))
