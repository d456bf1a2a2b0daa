"""Commands about evidence: publish and verify runs, draw them again, list open claims."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pfedrl.cli.program import ScaleName, app

if TYPE_CHECKING:
    from pfedrl.pipeline.cells import Cell
    from pfedrl.pipeline.store import Store


@app.command()
def publish(
    papers: Annotated[
        list[str] | None, typer.Argument(help="Papers; all of them by default.")
    ] = None,
    scale: ScaleName = "laptop",
    suite: Annotated[
        list[str] | None, typer.Option(help="Suites of the benchmark, in the place of papers.")
    ] = None,
) -> None:
    """Add finished runs of a scale, or of a suite, to results/published and its manifest.

    The record shows a scale's once workflow/scales/record.yaml asks for their budget and seeds.
    """
    from pfedrl.pipeline.cells import cells
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.store import Store
    from pfedrl.suites.suite import cells_of, read_suite

    project = Project.here()
    store = Store(project.root)
    if suite:
        for name in suite:
            add(store, cells_of(project, read_suite(project, name)))
        return
    for paper in papers or ():
        project.paper(paper)
    for paper, experiment in project.experiments_at(scale):
        if papers and paper not in papers:
            continue
        add(store, cells(project, paper, experiment, scale))


def add(store: "Store", of: Iterable["Cell"]) -> None:
    """Commit the seeds of cells that were run here."""
    for cell in of:
        for part in store.find(cell, cell.seeds, ["local"]).parts:
            if (added := store.add(cell, part)) is not None:
                typer.echo(added)


@app.command()
def reruns(
    scale: ScaleName = "laptop",
    output: Annotated[Path | None, typer.Option(help="A file for the answers as JSON.")] = None,
) -> None:
    """Compare the runs made here with the committed ones: same bits, same to rounding, or differs.

    A run that is shorter than a committed one is compared with its beginning.
    """
    from pfedrl.analysis.output import write_json
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline.project import Project
    from pfedrl.pipeline.reruns import headline, reruns

    found = []
    with progress_bar("runs compared") as progress:
        for one in reruns(Project.here(), scale):
            found.append(one)
            progress(len(found), len(found))
    if output is not None:
        write_json(output, {"headline": headline(found), "runs": [one._asdict() for one in found]})
    for one in found:
        if one.answer in ("differs", "same to rounding"):
            typer.echo(f"{one.answer:16s} {one.name} ({one.remark})")
    typer.echo(headline(found) or "The record has none of these runs.")


@app.command("open")
def open_(
    scale: ScaleName = "record",
    every: Annotated[
        bool, typer.Option("--all", help="Print every open claim, with its experiments and notes.")
    ] = False,
) -> None:
    """List the open claims: how many seeds should decide them, and their core time.

    The verdicts are those of the last `pfedrl claims`. The prices are those of earlier runs.
    """
    from pfedrl.analysis.open import lines, open_claims
    from pfedrl.pipeline.project import Project

    project = Project.here()
    of = sum(len(paper.claims) for paper in project.papers.values())
    for line in lines(open_claims(project, scale), of, every):
        typer.echo(line)


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
    core-minute in all. With --published a random seed of a committed run is made again at its full
    budget: of a cell, of an experiment's quickest one, or of every cell of a paper whose code is
    not the code here. With --write as well, the manifest records those with the same bits.
    """
    import os

    from pfedrl.core.errors import PfedrlError
    from pfedrl.core.processor import flags
    from pfedrl.core.progress import progress_bar
    from pfedrl.pipeline import reruns as again
    from pfedrl.pipeline import verify
    from pfedrl.pipeline.project import Project

    project, given = Project.here(), names or []
    if published and not given:
        if write:
            raise PfedrlError("which runs? pfedrl verify --published --write PAPER.")
        for (paper, experiment), words in again.code_behind(project, "record").items():
            typer.echo(f"{paper} {experiment}: {words}")
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
            compared = again.verify_committed(project, *given, write=write, progress=progress)
        else:
            compared = verify.verify(project, given)
        for name, answer, remark in compared:
            typer.echo(f"{answer:16s} {name}" + (f" ({remark})" if remark else ""))
            answers.append(answer)
    if not answers:
        typer.echo("every committed run is of the code here, or was compared with it.")
        return
    typer.echo(verify.summary(answers, verify.why_other_bits(os.environ, flags())))
    if "differs" in answers:
        raise typer.Exit(1)
