"""Environments: what is random about a family's members, drawn once for all cells that share it."""


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
