"""Tables and figures, each from its own module and its own experiments."""


rule draw_table:
    input:
        summaries=artifact_summaries,
        stamp=artifact_stamp,
    output:
        **outputs_of("table"),
    log:
        f"results/{SCALE}/logs/figures/{{paper}}/{{artifact}}.log",
    benchmark:
        f"results/{SCALE}/benchmarks/figures/{{paper}}/{{artifact}}.tsv"
    wildcard_constraints:
        artifact=names_of("table"),
    threads: 1
    resources:
        mem_mb=1000,
    params:
        made_from=artifact_made_from,
        scale=SCALE,
        folder=artifact_folder,
        caption=artifact_caption,  # of Snakemake's report
    message:
        "Drawing {wildcards.paper}/{wildcards.artifact}"
    shell:
        "python -m pfedrl --log {log:q} draw {wildcards.paper:q} {wildcards.artifact:q} "
        "--scale {params.scale:q} --output {params.folder:q} --made-from {params.made_from:q}"


use rule draw_table as draw_figure with:
    output:
        **outputs_of("figure"),
    wildcard_constraints:
        artifact=names_of("figure"),


use rule draw_figure as draw_comparison with:
    output:
        **outputs_of("comparison"),
    wildcard_constraints:
        artifact=names_of("comparison"),
