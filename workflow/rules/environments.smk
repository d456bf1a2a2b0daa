"""Environments: what is random about a family's members, drawn once for all cells that share it."""


def data_of(cell):
    """The data set's file that a cell reads; cells without theirs are skipped before.

    No rule makes it: Snakemake removes what it is to make anew, and some data cannot be fetched.
    """
    name = getattr(cell.family, "data", None)
    return [path_of(name)] if name in FACTS else []


@cache
def cells_by_draws():
    """By name of the draws, a cell that uses them; which one does not matter to them."""
    every = reversed(cells_by_run().values())
    return {cell.draws_name(): cell for cell in every if cell.family is not None}


def cell_with_draws(wildcards):
    return cells_by_draws()[wildcards.draws]


def family_code(wildcards):
    return build_code(cell_with_draws(wildcards))


def draw_settings(wildcards):
    return cell_with_draws(wildcards).family.draw_settings()


def drawing_cell(wildcards, output):
    # a function of the output is not compared between runs: another cell draws the same
    cell = cell_with_draws(wildcards)
    return [cell.paper, cell.experiment, cell.name]


def build_priority(wildcards):
    cell = cell_with_draws(wildcards)
    return cheap_first(cell.paper, cell.experiment)


def drawn_data(wildcards):
    return data_of(cell_with_draws(wildcards))


rule build:
    input:
        data=drawn_data,
    output:
        environments="results/envs/{draws}/{block}.npz",
    log:
        "results/logs/envs/{draws}/{block}.log",
    cache: "omit-software"  # the fingerprint has the versions that matter
    priority: build_priority
    threads: 1
    resources:
        mem_mb=2000,
    params:
        # all that the draws depend on: Snakemake's cache knows a job by its parameters, not by its
        # wildcards
        seeds="{block}",
        settings=draw_settings,
        code=family_code,
        cell=drawing_cell,
        scale=lambda wildcards, output: SCALE,
    message:
        "Drawing {wildcards.draws}, seeds {wildcards.block}"
    shell:
        "python -m pfedrl --log {log:q} build {params.cell:q} --seeds {params.seeds:q} "
        "--scale {params.scale:q} --output {output.environments:q} --code {params.code:q}"


rule describe:
    input:
        environments="results/envs/{draws}/{block}.npz",
    output:
        page=directory("results/envs/{draws}/{block}"),
    log:
        "results/logs/envs/{draws}/{block}.description.log",
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=fingerprint("pfedrl.envs.views.walkers", words=True),
        cell=drawing_cell,
        scale=lambda wildcards, output: SCALE,
    message:
        "Describing {wildcards.draws}, seeds {wildcards.block}"
    shell:
        "python -m pfedrl --log {log:q} describe {params.cell:q} --seeds {wildcards.block:q} "
        "--scale {params.scale:q} --output {output.page:q}"
