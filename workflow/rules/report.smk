"""Verdicts on a paper's claims, and the page that shows everything."""


def claims_settings(wildcards):
    """What the verdicts depend on besides the summaries."""
    page = PROJECT.paper(wildcards.paper)
    claims = [item.model_dump_json() for item in (*page.claims, *page.readings)]
    printed = [p.model_dump_json() for a in page.artifacts.values() for p in a.printed]
    runs = experiments_of(SCALE, wildcards.paper)
    cut = [cuts_of(PROJECT, wildcards.paper, [name], SCALE) for name in runs]
    return [*claims, *printed, *cut, PROJECT.scale(SCALE).verdicts]


def claims_summaries(wildcards):
    experiments = experiments_of(SCALE, wildcards.paper)
    return summaries(SCALE, wildcards.paper, experiments)


rule claims:
    input:
        summaries=claims_summaries,
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
        settings=claims_settings,
        code=code_of("claims"),
        scale=SCALE,
    message:
        "Testing the claims of {wildcards.paper}"
    shell:
        "python -m pfedrl --log {log:q} claims {wildcards.paper:q} --scale {params.scale:q} "
        "--output {output.verdicts:q}"


def report_pages(wildcards):
    """The papers' pages; a function, because their texts may have braces, which are no wildcards."""
    return [PROJECT.paper(paper).model_dump_json() for paper in PAPERS]


def scale_runs():
    """All run files of the scale."""
    every = [runs_of(SCALE, *place).values() for place in PROJECT.experiments_at(SCALE)]
    return sorted({str(path) for found in every for paths in found for path in paths})


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


def quoted_summaries():
    """Summaries at other scales, which findings quote beside the record's."""
    if SCALE != RECORD:
        return []
    asked = asked_at_other_scales(PROJECT)
    return [path for paper, name, scale in asked for path in summaries(scale, paper, [name])]


rule report:
    input:
        papers=[path for paper in PAPERS for path in paper_targets(paper)],
        quoted=quoted_summaries(),
        reruns=RERUNS,
    output:
        page=f"{FIGURES}/index.html",
        overview=f"{FIGURES}/README.md",
    log:
        f"results/{SCALE}/logs/report.log",
    benchmark:
        f"results/{SCALE}/benchmarks/report.tsv"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        pages=report_pages,
        code=code_of("site"),
        scale=SCALE,
    message:
        "Writing the report"
    shell:
        "python -m pfedrl --log {log:q} report --scale {params.scale:q} --output {output.page:q}"
