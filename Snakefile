# The whole pipeline at a glance:
#   envs/ + workflow/papers/ -> build -> run -> summarise -> draw / claims -> report
#
# snakemake --cores all                        everything, at the laptop scale
# snakemake --cores all qavg                   one paper
# snakemake --cores all --config scale=paper   the papers' own settings
# snakemake --cores all results/laptop/paper_figures/qavg/table1.md   one table
# A scale writes below results/<scale>/; only `make figures` writes paper_figures/.
# Scales are files in workflow/scales, papers are folders in workflow/papers.

from snakemake.utils import min_version

min_version("9.0")


include: "workflow/rules/common.smk"


wildcard_constraints:
    scale=r"(?!published\b)\w+",  # which `pfedrl publish` writes
    paper="|".join(map(re.escape, PROJECT.papers)),
    experiment=r"[^/]+",
    cell=r"[^/]+",
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


include: "workflow/rules/environments.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


check_targets()
