"""Verdicts on a paper's claims, and the pages that show everything."""

@cache
def claims_sources(paper):
    """All that verdicts are made from, as one digest; their file keeps it."""
    page, runs = PROJECT.paper(paper), experiments_of(SCALE, paper)
    claims = [item.model_dump_json() for item in (*page.claims, *page.readings)]
    printed = [p.model_dump_json() for a in page.artifacts.values() for p in a.printed]
    cut = [cuts_of(PROJECT, paper, [name], SCALE) for name in runs]
    sources = [labels_of(SCALE, paper, name) for name in runs]
    told = [*claims, *printed, *cut, PROJECT.scale(SCALE).verdicts]
    return digest_of(sources, told, code_of("claims"))


def claims_stamp(wildcards):
    output, sources = f"{FIGURES}/{wildcards.paper}/claims.json", claims_sources(wildcards.paper)
    return stamp(f"{wildcards.paper}/claims", output, sources)


def claims_summaries(wildcards):
    experiments = experiments_of(SCALE, wildcards.paper)
    return summaries(SCALE, wildcards.paper, experiments)


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


def report_sources():
    """All that the page is made from, as one digest; its head keeps it."""
    pages = [PROJECT.paper(paper).model_dump_json() for paper in PAPERS]
    beside = [artifact_sources(p, name) for p in PAPERS for name in artifacts_of(SCALE, p)]
    beside += [claims_sources(paper) for paper in PAPERS]
    beside += [board_sources(Path(path).parent.name) for path in boards()]
    quoted = [labels_of(scale, paper, name) for paper, name, scale in QUOTED]
    compared = STORE.manifest if SCALE == RECORD else {}  # it has what was rerun
    texts = sorted(Path(workflow.basedir).glob("workflow/papers/*/page.yaml"))
    texts += sorted(TEMPLATES.iterdir())
    told = [path.read_text(encoding="utf-8") for path in texts]
    return digest_of(pages, beside, quoted, compared, told, code_of("pages.site"))


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


def report_papers():
    """All tables, figures and verdicts; times of committed ones that are current do not count.

    They do where rules are forced: Snakemake does not look at what is behind ancient files alone.
    """
    forced = workflow.dag_settings.forcerun or workflow.dag_settings.forceall
    for paper in PAPERS:
        made = {"claims": ([f"{FIGURES}/{paper}/claims.json"], claims_sources(paper))}
        for name in artifacts_of(SCALE, paper):
            made[name] = files_of(paper, name), artifact_sources(paper, name)
        for name, (paths, sources) in made.items():
            old = is_current(f"{FIGURES}/{paper}/{name}.json", sources) and not forced
            yield from (ancient(path) if old else path for path in paths)
        yield from described(SCALE, paper)


# summaries at other scales, which findings quote beside the record's
QUOTED = asked_at_other_scales(PROJECT) if SCALE == RECORD else []


rule report:
    input:
        papers=lambda wildcards: list(report_papers()),
        quoted=[path for p, name, scale in QUOTED for path in summaries(scale, p, [name])],
        boards=boards(),
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
