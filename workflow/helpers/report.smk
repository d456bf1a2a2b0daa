"""What the rules on verdicts and pages ask: what they are made from, and what is left out."""

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


def report_sources():
    """All that the page is made from, as one digest; its head keeps it."""
    pages = [PROJECT.paper(paper).model_dump_json() for paper in PAPERS]
    beside = [artifact_sources(p, name) for p in PAPERS for name in artifacts_of(SCALE, p)]
    beside += [claims_sources(paper) for paper in PAPERS]
    beside += [board_sources(suite) for suite in boards()]
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


def report_papers():
    """All tables, figures, verdicts and leaderboards; times of committed ones that are current do
    not count.

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
    for suite, path in boards().items():
        old = is_current(path, board_sources(suite)) and not forced
        yield ancient(path) if old else path


def subcategory_of(paper, artifact):
    """Where Snakemake's report lists a table or figure."""
    chosen = PROJECT.paper(paper).artifacts[artifact]
    if chosen.draw in UNASKED:
        return "Every variant, and readings"
    return "Tables" if chosen.kind == "table" else "Figures"


def labels_in_report(paper, artifact):
    """The columns of Snakemake's report.

    Seeds stand in the first one: of another with two values, each in half of the rows, the report
    makes a switch, and then fails on rows that are not in pairs.
    """
    page = PROJECT.paper(paper)
    every = [runs_of(SCALE, paper, name) for name in page.artifacts[artifact].experiments]
    counts = sorted({len(cell.seeds) for found in every for cell in found})
    seeds = " to ".join(f"{count:,}" for count in dict.fromkeys([counts[0], counts[-1]]))
    return {
        "artifact": f"{page.artifacts[artifact].title} ({seeds} seeds)",
        "paper": page.short,
        "scale": SCALE,
    }


def left_out():
    """Lines on the tables and figures that are not drawn at the scale: those with one reason."""
    found = {}
    for paper, page in PROJECT.papers.items():
        drawn = artifacts_of(SCALE, paper)
        for name, artifact in page.artifacts.items():
            if name in drawn or artifact.draw in UNASKED:
                continue
            absences = [absent(PROJECT, paper, one, SCALE) for one in artifact.experiments]
            why = "; ".join(dict.fromkeys(filter(None, absences)))
            found.setdefault((page.short, why), []).append(artifact.title.split(":")[0])
    return [f"{paper}: {', '.join(names)} ({why})." for (paper, why), names in found.items()]
