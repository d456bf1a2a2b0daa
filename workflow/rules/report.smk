"""Verdicts on a paper's claims, and the pages that show everything."""


report: "../report/workflow.rst"


config |= {"scale": SCALE, "left_out": left_out()}  # the report's text shows them


rule claims:
    input:
        summaries=claims_summaries,
        stamp=claims_stamp,
    output:
        verdicts=f"{FIGURES}/{{paper}}/claims.json",
    log:
        f"results/{SCALE}/logs/claims/{{paper}}.log",
    benchmark:
        f"results/{SCALE}/benchmarks/claims/{{paper}}.tsv"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        made_from=lambda wildcards: claims_sources(wildcards.paper),
        scale=SCALE,
    message:
        "Testing the claims of {wildcards.paper}"
    shell:
        "python -m pfedrl --log {log:q} claims {wildcards.paper:q} --scale {params.scale:q} "
        "--output {output.verdicts:q} --made-from {params.made_from:q}"


rule reruns:
    input:
        runs=lambda wildcards: scale_runs(),
    output:
        answers=f"results/{SCALE}/reruns.json",
    log:
        f"results/{SCALE}/logs/reruns.log",
    threads: 1
    resources:
        mem_mb=1000,
    params:
        scale=SCALE,
        record=digest_of(STORE.manifest),
    message:
        "Comparing the runs with the record's"
    shell:
        "python -m pfedrl --log {log:q} reruns --scale {params.scale:q} --output {output.answers:q}"


# summaries at other scales, which findings quote beside the record's
QUOTED = asked_at_other_scales(PROJECT) if SCALE == RECORD else []


rule report:
    input:
        papers=lambda wildcards: list(report_papers()),
        quoted=[path for p, name, scale in QUOTED for path in summaries(scale, p, [name])],
        stamp=stamp("report", f"{FIGURES}/index.html", report_sources()),
        reruns=RERUNS,
    output:
        page=f"{FIGURES}/index.html",
        overview=f"{FIGURES}/README.md",
        shared=[f"{FIGURES}/site.{end}" for end in ("css", "js")],
        papers=[f"{FIGURES}/{paper}/index.html" for paper in PROJECT.papers],
    log:
        f"results/{SCALE}/logs/report.log",
    benchmark:
        f"results/{SCALE}/benchmarks/report.tsv"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        made_from=report_sources(),
        scale=SCALE,
    message:
        "Writing the pages"
    shell:
        "python -m pfedrl --log {log:q} report --scale {params.scale:q} --output {output.page:q} "
        "--made-from {params.made_from:q}"
