"""What the rules on tables and figures ask: their experiments, sources, labels and captions."""


def experiments_run(paper, artifact):
    """Those of the artifact's that the scale runs here; it may be drawn without the others."""
    run = experiments_of(SCALE, paper)
    return [name for name in PROJECT.paper(paper).artifacts[artifact].experiments if name in run]


def artifact_context(paper, artifact):
    """What else a drawing shows: its experiments' titles and claims, and what the scale cuts."""
    page, named = PROJECT.paper(paper), experiments_run(paper, artifact)
    claims = [
        claim for claim in page.claims if any(test.experiment in named for test in claim.tests)
    ]
    titles = [page.experiments[name].title for name in named]
    cut = cuts_of(PROJECT, paper, named, SCALE)
    missing = [
        f"{name}: {absent(PROJECT, paper, name, SCALE)}"
        for name in page.artifacts[artifact].may_miss
        if name not in named
    ]
    return [*titles, *(claim.model_dump_json() for claim in claims), cut, *missing]


def artifact_labels(paper, artifact):
    """Names of algorithms, as the papers write them; no code of the drawing has them."""
    every = [runs_of(SCALE, paper, name) for name in experiments_run(paper, artifact)]
    return sorted({f"{cell.algorithm}: {cell.runnable.label}" for found in every for cell in found})


@cache
def artifact_sources(paper, artifact):
    """All that a drawing is made from, as one digest; its json keeps it."""
    chosen = PROJECT.paper(paper).artifacts[artifact]
    sources = [labels_of(SCALE, paper, name) for name in experiments_run(paper, artifact)]
    told = [artifact_context(paper, artifact), artifact_labels(paper, artifact)]
    styles = {} if chosen.kind == "table" else STYLES
    code = code_of(f"figures.{chosen.draw}")
    return digest_of(sources, chosen.model_dump(mode="json"), told, styles, code)


def artifact_made_from(wildcards):
    return artifact_sources(wildcards.paper, wildcards.artifact)


def artifact_stamp(wildcards):
    output = f"{FIGURES}/{wildcards.paper}/{wildcards.artifact}.json"
    return stamp(f"{wildcards.paper}/{wildcards.artifact}", output, artifact_made_from(wildcards))


def artifact_caption(wildcards, output):
    # a function of the output is not compared between runs; the digest of the sources has it
    return PROJECT.paper(wildcards.paper).artifacts[wildcards.artifact].caption.strip()


def artifact_folder(wildcards, output):
    return Path(output.json).parent


def artifact_summaries(wildcards):
    paper, artifact = wildcards.paper, wildcards.artifact
    return summaries(SCALE, paper, experiments_run(paper, artifact))
