# The whole pipeline at a glance:
#   envs/ + workflow/papers/ -> build -> run -> summarise -> draw / claims -> report
#
# snakemake --cores all                        everything, at the laptop scale
# snakemake --cores all qavg                   one paper
# snakemake --cores all qavg_table1            one table
# snakemake --cores all --config scale=paper   the papers' own settings
# A scale writes below results/<scale>/; only the scale `record` writes paper_figures/.
# Scales are files in workflow/scales, papers are folders in workflow/papers.

from snakemake.utils import min_version

min_version("9.0")


include: "workflow/helpers/common.smk"
include: "workflow/helpers/environments.smk"
include: "workflow/helpers/runs.smk"
include: "workflow/helpers/figures.smk"
include: "workflow/helpers/benchmark.smk"
include: "workflow/helpers/report.smk"


wildcard_constraints:
    scale=r"\w+",
    paper="|".join(map(re.escape, PROJECT.papers)),
    experiment=r"[^/]+",
    run=r"[^/]+",
    draws=r"[^/]+",
    block=r"\d+-\d+",


rule all:
    default_target: True
    input:
        report=f"{FIGURES}/index.html",
        papers=[path for paper in PAPERS for path in paper_targets(paper)],


for paper in PAPERS:

    rule:
        name:
            paper
        input:
            paper_targets(paper),

    for artifact in artifacts_of(SCALE, paper):

        rule:
            name:
                f"{paper}_{artifact}"
            input:
                files_of(paper, artifact),


include: "workflow/rules/environments.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/benchmark.smk"
include: "workflow/rules/report.smk"


onsuccess:
    for path in map(Path, RERUNS):
        headline = (
            json.loads(path.read_text(encoding="utf-8"))["headline"] if path.exists() else ""
        )
        if headline:
            print(headline, file=sys.stderr)
