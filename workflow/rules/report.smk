"""Verdicts on a paper's claims, and the page that shows everything."""


def claims_settings(wildcards):
    """What the verdicts depend on besides the summaries."""
    page = PROJECT.paper(wildcards.paper)
    claims = [item.model_dump_json() for item in (*page.claims, *page.readings)]
    printed = [p.model_dump_json() for a in page.artifacts.values() for p in a.printed]
    runs = experiments_of(wildcards.scale, wildcards.paper)
    cut = [cuts_of(PROJECT, wildcards.paper, [name], wildcards.scale) for name in runs]
    return [*claims, *printed, *cut, PROJECT.scale(wildcards.scale).verdicts]


def claims_summaries(wildcards):
    experiments = experiments_of(wildcards.scale, wildcards.paper)
    return summaries(wildcards.scale, wildcards.paper, experiments)


rule claims:
    input:
        summaries=claims_summaries,
    output:
        verdicts="results/{scale}/claims/{paper}.json",
    log:
        "results/{scale}/logs/claims/{paper}.log",
    benchmark:
        "results/{scale}/benchmarks/claims/{paper}.tsv"
    threads: 1
    resources:
        mem_mb=1000,
    params:
        settings=claims_settings,
        code=code_of("claims"),
    message:
        "Testing the claims of {wildcards.paper}"
    shell:
        "python -m pfedrl --log {log:q} claims {wildcards.paper:q} --scale {wildcards.scale:q} "
        "--output {output.verdicts:q}"


def report_pages(wildcards):
    """The papers' pages; a function, because their texts may have braces, which are no wildcards."""
    return [PROJECT.paper(paper).model_dump_json() for paper in PAPERS]


rule report:
    input:
        papers=[path for paper in PAPERS for path in paper_targets(paper)],
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
        code=fingerprint("pfedrl.analysis.report", "pfedrl.analysis.overview", words=True),
        scale=SCALE,
    message:
        "Writing the report"
    shell:
        "python -m pfedrl --log {log:q} report --scale {params.scale:q} --output {output.page:q}"
