"""To write an algorithm of one's own: a file to start from, and whether it holds the contract."""

from pathlib import Path
from typing import Annotated

import typer

from pfedrl.cli.program import app
from pfedrl.core.errors import PfedrlError


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The file to write, as in my_algo.py or my_algo.")],
    on: Annotated[
        str, typer.Option(help="dqn, ddpg, ppo_kl, supervised, tabular, td, or exchange.")
    ] = "exchange",
) -> None:
    """Write a commented file of an algorithm, and a test beside it, in any folder.

    `exchange` is an exchange for every method; the others change one method's algorithm.

    Example: pfedrl new my_algo --on dqn
    """
    from pfedrl.pipeline.new_algorithm import write

    for written in write(path, on):
        typer.echo(written)


@app.command()
def check(
    component: Annotated[
        str,
        typer.Argument(
            metavar="ALGORITHM_OR_FAMILY",
            help="A file, as in my_algo.py or dqn:my_exchange.py, or the name of an algorithm or "
            "of a family of environments.",
        ),
    ],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the family, as in agents=3.")
    ] = None,
) -> None:
    """Check that an algorithm can be compared with others, or that a family's members differ.

    An algorithm: its parts and bytes have the right shapes, it records what it declares, seeds
    never meet, a seed alone is the seed in a block, bytes are counted as sent, a killed run resumes
    to the same numbers, and it is no copy of an algorithm that is there already. The runs are short
    ones of its nearest relative, whose settings it is given. Tables are compared with closed forms.

    A family: every parameter that differs between members changes an episode, the same start and
    actions lead to the same episode, and what is resumed goes on as it would have.

    Example: pfedrl check dqn:my_exchange.py
    """
    from pfedrl.cli.benchmarking import pairs
    from pfedrl.pipeline import contract, family_contract
    from pfedrl.pipeline.project import Project

    project, given = Project.here_or_own(), pairs(settings or [])
    family = family_contract.is_family(component)
    if given and not family:
        raise PfedrlError("--set is for families: an algorithm has its nearest relative's settings")
    found = (
        family_contract.check(project, component, given)
        if family
        else contract.check(project, component)
    )
    failed = False
    for name, faults, remark in found:
        failed |= bool(faults)
        typer.echo(f"{'FAILED' if faults else 'ok':6s} {name}" + (f": {remark}" if remark else ""))
        for fault in faults:
            typer.echo(f"       {fault}")
    if failed:
        raise PfedrlError(f"{component} does not hold the contract.", exit_code=1)
