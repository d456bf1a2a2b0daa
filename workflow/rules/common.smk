"""What the rules ask of the settings. Everything is read and checked before anything runs."""

import os
import re
import sys
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from shlex import quote

from snakemake.cli import get_argument_parser

from pfedrl.analysis.check import check_paper
from pfedrl.analysis.cuts import cuts_of
from pfedrl.analysis.style import listed_styles
from pfedrl.cli.program import available_cores, scale_to_run
from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.envs.data.data_sets import FACTS, path_of
from pfedrl.envs.mujoco.walkers import WalkerFamily
from pfedrl.pipeline.absent import absent
from pfedrl.pipeline.cells import cells, draws_path, run_path
from pfedrl.pipeline.console import take_over
from pfedrl.pipeline.costs import (
    START_UP,
    UNKNOWN_MINUTES,
    expected,
    is_short,
    megabytes,
    minutes,
)
from pfedrl.pipeline.fingerprint import build_code, fingerprint, run_code
from pfedrl.pipeline.paper import SUFFIXES
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scheduling import mend_scheduler
from pfedrl.pipeline.twins import runs_with, twin_of

# importing pfedrl has said that a job is one thread, and which instructions it may use;
# `python` is the one that runs Snakemake
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def give_up(error):
    """One line and an exit code, as the command line does; no job has started."""
    print(f"pfedrl: {error}", file=sys.stderr)
    sys.exit(error.exit_code)


def check_settings():
    """--config knows one setting; a misspelt one would run everything at the default scale."""
    for key in config:
        if key != "scale":
            raise unknown("setting", key, ["scale"], where="--config")


@cache
def cells_of(scale, paper, experiment):
    """The cells of an experiment, by name; none where the scale leaves it out."""
    if PROJECT.budget(PROJECT.scale(scale), paper, experiment) is None:
        return {}
    found = cells(PROJECT, paper, experiment, scale)
    return {cell.name: cell for cell in found if cell.skip() is None}


def experiments_of(scale, paper):
    """The paper's experiments that the scale runs."""
    return [name for name in PROJECT.paper(paper).experiments if cells_of(scale, paper, name)]


def artifacts_of(scale, paper):
    """The paper's tables and figures whose experiments all run at the scale."""
    runs = experiments_of(scale, paper)
    artifacts = PROJECT.paper(paper).artifacts
    return {name: artifact for name, artifact in artifacts.items() if artifact.drawable(runs)}


def say_what_is_skipped():
    """Experiments of the scale without a cell that can run here, each with its reason."""
    for paper, page in PROJECT.papers.items():
        for name in sorted(set(page.experiments) - set(experiments_of(SCALE, paper))):
            if PROJECT.budget(PROJECT.scale(SCALE), paper, name) is not None:
                reason = absent(PROJECT, paper, name, SCALE)
                print(f"pfedrl: {paper}/{name} is skipped: {reason}", file=sys.stderr)


try:
    check_settings()
    PROJECT = Project.here(Path(workflow.basedir))
    SCALE = scale_to_run(str(config.get("scale", "laptop")))
    FIGURES = PROJECT.scale(SCALE).figures
    PAPERS = [paper for paper in PROJECT.papers if experiments_of(SCALE, paper)]
    say_what_is_skipped()
    listed_styles(PROJECT)
    for paper in PROJECT.papers:
        check_paper(PROJECT, paper)
except PfedrlError as error:
    give_up(error)

STYLE = "workflow/style.yaml"


def price(rule, wildcards):
    """What a run should cost; the other rules take seconds."""
    paper, experiment, cell = (wildcards[key] for key in ("paper", "experiment", "cell"))
    found = cells_of(wildcards["scale"], paper, experiment)[cell]
    return expected(PROJECT, found, wildcards["scale"], wildcards["block"])


mend_scheduler(take_over(workflow, Path(FIGURES, "index.html"), price, available_cores()))


def names_of(kind):
    """A pattern of the names of all tables, of all figures, or of all comparisons."""
    pages = [PROJECT.paper(paper).artifacts for paper in PAPERS]
    names = {name for page in pages for name, artifact in page.items() if artifact.kind == kind}
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def outputs_of(kind):
    """What a table or a figure is written to, by suffix; Snakemake's own report shows one."""
    made = {suffix: f"{FIGURES}/{{paper}}/{{artifact}}.{suffix}" for suffix in SUFFIXES[kind]}
    shown = "csv" if kind == "table" else "png"
    made[shown] = report(made[shown], caption="../report/artifact.rst", category="{paper}")
    return made


def described(scale, paper):
    """Pages on members that were built, a folder each: of every family of models, first seeds."""
    named = [cells_of(scale, paper, experiment) for experiment in experiments_of(scale, paper)]
    found = [cell for cells in named for cell in cells.values()]
    built = [cell for cell in found if isinstance(cell.family, WalkerFamily)]
    return sorted({str(draws_path(scale, c, c.blocks()[0]).with_suffix("")) for c in built})


def paper_targets(paper):
    """A paper's tables, figures and verdicts, and what its built members are."""
    made = [
        f"{FIGURES}/{paper}/{name}.{suffix}"
        for name, artifact in artifacts_of(SCALE, paper).items()
        for suffix in SUFFIXES[artifact.kind]
    ]
    return [*made, f"results/{SCALE}/claims/{paper}.json", *described(SCALE, paper)]


def check_targets():
    """A target that no rule makes is an error before anything runs, with the nearest that is."""
    # Snakemake does not tell a Snakefile its targets, so its own parser is asked again
    targets = get_argument_parser().parse_args(sys.argv[1:]).targets or []
    rules_by_name = {rule.name for rule in workflow.rules}
    for target in targets:
        made = target in rules_by_name or any(r.is_producer(target) for r in workflow.rules)
        if not made:
            files = [f"{FIGURES}/index.html"]
            files += [path for paper in PAPERS for path in paper_targets(paper)]
            nearest = get_close_matches(target, files, n=1, cutoff=0.5)
            give_up(unknown("target", target, ["all", *PAPERS, *nearest]))


@cache
def code_of(module):
    """The fingerprint of what summarises, draws, judges or reports: its words count."""
    return fingerprint(f"pfedrl.analysis.{module}", words=True)


def summaries(scale, paper, experiments):
    """Both summary files of each experiment."""
    stems = [f"results/{scale}/summaries/{paper}/{experiment}" for experiment in experiments]
    return [f"{s}.{kind}.parquet" for s in stems for kind in ("statistics", "finals")]
