"""Tables and figures, each from its own module and its own experiments."""


def artifact_of(wildcards):
    return PROJECT.paper(wildcards.paper).artifacts[wildcards.artifact]


def experiments_run(wildcards):
    """Those of the artifact's that the scale runs here; it may be drawn without the others."""
    run = experiments_of(SCALE, wildcards.paper)
    return [name for name in artifact_of(wildcards).experiments if name in run]


def artifact_settings(wildcards):
    return artifact_of(wildcards).model_dump(mode="json")


def artifact_context(wildcards):
    """What else a drawing shows: its experiments' titles and claims, and what the scale cuts."""
    page, named = PROJECT.paper(wildcards.paper), experiments_run(wildcards)
    claims = [
        claim
        for claim in page.claims
        if any(getattr(test, "experiment", None) in named for test in claim.tests)
    ]
    titles = [page.experiments[name].title for name in named]
    cut = cuts_of(PROJECT, wildcards.paper, named, SCALE)
    missing = [
        f"{name}: {absent(PROJECT, wildcards.paper, name, SCALE)}"
        for name in artifact_of(wildcards).may_miss
        if name not in named
    ]
    return [*titles, *(claim.model_dump_json() for claim in claims), cut, *missing]


def artifact_labels(wildcards):
    """Names of algorithms, as the papers write them; no code of the drawing has them."""
    every = [runs_of(SCALE, wildcards.paper, name) for name in experiments_run(wildcards)]
    return sorted({f"{cell.algorithm}: {cell.runnable.label}" for found in every for cell in found})


def artifact_sources(wildcards):
    """All that a drawing is made from, as one digest; its json keeps it."""
    sources = [labels_of(SCALE, wildcards.paper, name) for name in experiments_run(wildcards)]
    told = [artifact_settings(wildcards), artifact_context(wildcards), artifact_labels(wildcards)]
    return digest_of(sources, told, artifact_code(wildcards))


def artifact_stamp(wildcards):
    """A file that is newer than a committed drawing only where that must be drawn again.

    A clone has no memory of what the drawing was made from, and times are those of the checkout.
    The drawing's json says what it was made from.
    """
    if SCALE != RECORD:
        return []
    stamp = Path("results", SCALE, "stamps", wildcards.paper, wildcards.artifact)
    kept = Path(FIGURES, wildcards.paper, f"{wildcards.artifact}.json")
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()
    if known.get("made_from") == artifact_sources(wildcards):
        os.utime(stamp, (1, 1))
    return str(stamp)


def artifact_folder(wildcards, output):
    return Path(output.json).parent


def artifact_summaries(wildcards):
    return summaries(SCALE, wildcards.paper, experiments_run(wildcards))


def artifact_code(wildcards):
    return code_of(f"figures.{artifact_of(wildcards).draw}")


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
        made_from=artifact_sources,
        scale=SCALE,
        folder=artifact_folder,
    message:
        "Drawing {wildcards.paper}/{wildcards.artifact}"
    shell:
        "python -m pfedrl --log {log:q} draw {wildcards.paper:q} {wildcards.artifact:q} "
        "--scale {params.scale:q} --output {params.folder:q} --made-from {params.made_from:q}"


use rule draw_table as draw_figure with:
    input:
        summaries=artifact_summaries,
        stamp=artifact_stamp,
        style=local(STYLE),
    output:
        **outputs_of("figure"),
    wildcard_constraints:
        artifact=names_of("figure"),


use rule draw_figure as draw_comparison with:
    output:
        **outputs_of("comparison"),
    wildcard_constraints:
        artifact=names_of("comparison"),
