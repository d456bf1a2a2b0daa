"""Runs: a cell on a block of seeds; and the summary of an experiment's runs."""


def cell_of(wildcards):
    return cells_of(wildcards.scale, wildcards.paper, wildcards.experiment)[wildcards.cell]


def twin_runs(wildcards):
    """Runs of an earlier cell with the same settings, where there is one: nothing runs twice."""
    twin = twin_of(PROJECT, cell_of(wildcards), wildcards.scale)
    return [] if twin is None else runs_with(wildcards.scale, twin, wildcards.block)


def run_environments(wildcards):
    cell = cell_of(wildcards)
    if cell.family is None or twin_runs(wildcards):
        return []
    return draws_path(wildcards.scale, cell, wildcards.block)


def run_data(wildcards):
    return [] if twin_runs(wildcards) else data_of(cell_of(wildcards))


def environments_option(wildcards, input):
    return f"--environments {quote(input.environments)}" if input.environments else ""


def twin_option(wildcards):
    return " ".join(f"--from {quote(str(path))}" for path in twin_runs(wildcards))


def run_minutes(wildcards, attempt):
    return minutes(price("run", wildcards), attempt)


def run_memory(wildcards, attempt):
    return megabytes(price("run", wildcards), attempt)


@cache
def cheap_first(scale, paper, experiment):
    """A priority: cheap experiments go first, one after the other, so that tables come early.

    All other rules have priority 0, above every run.
    """
    found = cells_of(scale, paper, experiment).values()
    costs = [expected(PROJECT, cell, scale, block) for cell in found for block in cell.blocks()]
    never_run = 3600 * UNKNOWN_MINUTES / 60  # seconds
    return -sum(START_UP + (cost.seconds if cost else never_run) for cost in costs)


def run_priority(wildcards):
    return cheap_first(wildcards.scale, wildcards.paper, wildcards.experiment)


def run_group(wildcards):
    """On a cluster, runs of seconds are submitted together; here a group would hide its jobs.

    What waits for another run goes with the summaries, which wait as well.
    """
    if not workflow.non_local_exec or not is_short(price("run", wildcards)):
        return None
    return "pages" if twin_runs(wildcards) else "runs"


def cell_code(wildcards):
    return run_code(cell_of(wildcards))


def cell_key(wildcards):
    return cell_of(wildcards).key()


def experiment_runs(wildcards):
    found = cells_of(wildcards.scale, wildcards.paper, wildcards.experiment).values()
    return [run_path(wildcards.scale, cell, block) for cell in found for block in cell.blocks()]


rule run:
    input:
        environments=run_environments,
        data=run_data,
        twin=twin_runs,
    output:
        run="results/{scale}/runs/{paper}/{experiment}/{cell}/{block}.parquet",
    log:
        "results/{scale}/logs/runs/{paper}/{experiment}/{cell}/{block}.log",
    cache: "omit-software"  # hence no `benchmark`; time and memory are in the artifact
    priority: run_priority
    group:
        run_group
    threads: 1
    resources:
        mem_mb=run_memory,
        runtime=run_minutes,
    params:
        cell="{paper} {experiment} {cell}",
        seeds="{block}",
        key=cell_key,
        code=cell_code,
        environments=environments_option,
        twin=twin_option,
    message:
        "Running {wildcards.paper}/{wildcards.experiment}/{wildcards.cell}, seeds {wildcards.block}"
    shell:
        "python -m pfedrl --log {log:q} run {wildcards.paper:q} {wildcards.experiment:q} "
        "{wildcards.cell:q} --seeds {params.seeds:q} --scale {wildcards.scale:q} "
        "{params.environments} {params.twin} --output {output.run:q} --code {params.code:q}"


rule summarise:
    input:
        runs=experiment_runs,
    output:
        statistics="results/{scale}/summaries/{paper}/{experiment}.statistics.parquet",
        finals="results/{scale}/summaries/{paper}/{experiment}.finals.parquet",
    log:
        "results/{scale}/logs/summaries/{paper}/{experiment}.log",
    benchmark:
        "results/{scale}/benchmarks/summaries/{paper}/{experiment}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
    params:
        code=code_of("summarise"),
    message:
        "Summarising {wildcards.paper}/{wildcards.experiment}"
    shell:
        "python -m pfedrl --log {log:q} summarise {wildcards.paper:q} {wildcards.experiment:q} "
        "--scale {wildcards.scale:q}"
