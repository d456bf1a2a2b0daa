"""Runs: a cell on a block of seeds; and the summary of an experiment's runs."""


rule run:
    input:
        environments=run_environments,
        data=run_data,
    output:
        run="results/runs/{run}/{block}.parquet",
    log:
        "results/logs/runs/{run}/{block}.log",
    cache: "omit-software"  # hence no `benchmark`; time and memory are in the run file
    priority: run_priority
    group:
        run_group
    threads: 1
    resources:
        mem_mb=run_memory,
        runtime=run_minutes,
        cpu_s=run_seconds,
    params:
        settings=run_settings,
        data=run_data_digest,
        seeds="{block}",
        code=cell_code,
        cell=label,
        environments=environments_option,
        scale=lambda wildcards, output: SCALE,
    message:
        "Running {params.cell[0]}/{params.cell[1]}/{params.cell[2]}, seeds {wildcards.block}"
    shell:
        "python -m pfedrl --log {log:q} run {params.cell:q} --seeds {params.seeds:q} "
        "--scale {params.scale:q} {params.environments} --output {output.run:q} "
        "--code {params.code:q}"


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
        labels=experiment_labels,
        code=code_of("summarise"),
    message:
        "Summarising {wildcards.paper}/{wildcards.experiment}"
    shell:
        "python -m pfedrl --log {log:q} summarise {wildcards.paper:q} {wildcards.experiment:q} "
        "--scale {wildcards.scale:q}"
