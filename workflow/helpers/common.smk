"""What the rules ask of the settings. Everything is read and checked before anything runs."""

import hashlib
import json
import os
import re
import sys
from difflib import get_close_matches
from functools import cache
from math import ceil
from pathlib import Path
from shlex import quote

from pfedrl.analysis.check import check_paper
from pfedrl.analysis.cuts import cuts_of
from pfedrl.analysis.findings import asked_at_other_scales
from pfedrl.analysis.pages import TEMPLATES
from pfedrl.analysis.style import listed_styles
from pfedrl.core.errors import PfedrlError, unknown
from pfedrl.envs.data.data_sets import FACTS, path_of
from pfedrl.envs.mujoco.walkers import WalkerFamily
from pfedrl.pipeline.cells import cells, draws_path, parse_block
from pfedrl.pipeline.costs import START_UP, UNKNOWN_MINUTES, Known, is_short, megabytes, minutes
from pfedrl.pipeline.fingerprint import build_code, fingerprint, run_code
from pfedrl.pipeline.paper import SUFFIXES, UNASKED
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import RECORD
from pfedrl.pipeline.served import absent, served, skipped
from pfedrl.pipeline.store import LOCAL, Store, block_name
from pfedrl.suites.submission import with_submissions
from pfedrl.suites.suite import cells_of, read_suite, suites
from snakemake_logger_plugin_pfedrl.console import Handed, announce, hand_over
from snakemake_logger_plugin_pfedrl.mend import mend_scheduler

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
def runs_of(scale, paper, experiment):
    """The run files behind each cell of an experiment: those to make, or those that are there.

    A cell that cannot run, or that the scale does not make and nobody has run, is left out.
    """
    chosen = PROJECT.scale(scale)
    if PROJECT.budget(chosen, paper, experiment) is None:
        return {}
    if not chosen.makes:
        found = [one for one in served(PROJECT, paper, experiment, scale) if one.why_not is None]
        return {one.cell: [part.path for part in one.parts] for one in found}
    runnable = [c for c in cells(PROJECT, paper, experiment, scale) if c.why_not() is None]
    return {cell: planned(cell) for cell in runnable}


def planned(cell):
    """The files that are to hold a cell's seeds; cells that share a run share its blocks."""
    seeds, size = needed()[cell.folder]
    blocks = STORE.plan(cell.folder, range(seeds), size)
    return [
        LOCAL / cell.folder / f"{block_name(block)}.parquet"
        for block in blocks
        if block.start < cell.seeds.stop
    ]


@cache
def needed():
    """By folder of the store, the most seeds and the largest block that any cell asks for."""
    found = {}
    for paper, experiment in PROJECT.experiments_at(SCALE):
        for cell in cells(PROJECT, paper, experiment, SCALE):
            seeds, size = found.get(cell.folder, (0, 0))
            found[cell.folder] = max(seeds, cell.budget.seeds), max(size, cell.budget.block)
    return found


@cache
def cells_by_run():
    """By folder of the store, a cell that it serves; which one does not matter to the run."""
    every = [runs_of(SCALE, *place) for place in reversed(PROJECT.experiments_at(SCALE))]
    return {cell.folder: cell for found in every for cell in found}


def experiments_of(scale, paper):
    """The paper's experiments that have runs at the scale."""
    return [name for name in PROJECT.paper(paper).experiments if runs_of(scale, paper, name)]


def artifacts_of(scale, paper):
    """The paper's tables and figures whose experiments all have runs at the scale."""
    runs = experiments_of(scale, paper)
    artifacts = PROJECT.paper(paper).artifacts
    return {name: artifact for name, artifact in artifacts.items() if artifact.drawable(runs)}


def what_is_skipped(targets):
    """A line on the experiments of the targets' papers without a cell that can run here."""
    wanted = {*PROJECT.papers} if {*targets} <= {"all"} else {*targets}
    names = {
        paper: [name for name in page.experiments if is_skipped(paper, name)]
        for paper, page in PROJECT.papers.items()
        if paper in wanted
    }
    return skipped(PROJECT, names)


def is_skipped(paper, experiment):
    """Whether the scale has an experiment of which no cell can run here."""
    budget = PROJECT.budget(PROJECT.scale(SCALE), paper, experiment)
    return budget is not None and not runs_of(SCALE, paper, experiment)


try:
    check_settings()
    PROJECT = Project.here(Path(workflow.basedir))
    STORE, KNOWN = Store(PROJECT.root), Known(PROJECT.root)
    SCALE = str(config.get("scale", "laptop"))
    FIGURES = PROJECT.scale(SCALE).figures
    PAPERS = [paper for paper in PROJECT.papers if experiments_of(SCALE, paper)]
    for paper in PROJECT.papers:
        check_paper(PROJECT, paper)
    STYLES = {name: style.model_dump() for name, style in listed_styles(PROJECT).items()}
except PfedrlError as error:
    give_up(error)

RERUNS = [f"results/{SCALE}/reruns.json"] if PROJECT.scale(SCALE).makes else []


def names_of(kind):
    """A pattern of the names of all tables, of all figures, or of all comparisons."""
    pages = [PROJECT.paper(paper).artifacts for paper in PAPERS]
    names = {name for page in pages for name, artifact in page.items() if artifact.kind == kind}
    return "|".join(map(re.escape, sorted(names))) or "(?!)"


def outputs_of(kind):
    """What a table or a figure is written to, by suffix; Snakemake's own report shows one."""
    made = {suffix: f"{FIGURES}/{{paper}}/{{artifact}}.{suffix}" for suffix in SUFFIXES[kind]}
    shown = "csv" if kind == "table" else "png"
    made[shown] = report(
        made[shown],
        caption="../report/artifact.rst",
        category=lambda wildcards: PROJECT.paper(wildcards.paper).short,
        subcategory=lambda wildcards: subcategory_of(wildcards.paper, wildcards.artifact),
        labels=lambda wildcards: labels_in_report(wildcards.paper, wildcards.artifact),
    )
    return made


def described(scale, paper):
    """Pages on members that were built, a folder each: of every family of models, first seeds."""
    if not PROJECT.scale(scale).makes:
        return []
    every = [runs_of(scale, paper, experiment) for experiment in experiments_of(scale, paper)]
    first = {cell: runs[0].stem for found in every for cell, runs in found.items()}
    return sorted(
        {
            str(draws_path(cell, block).with_suffix(""))
            for cell, block in first.items()
            if isinstance(cell.family, WalkerFamily)
        }
    )


def paper_targets(paper):
    """A paper's tables, figures and verdicts, and what its built members are."""
    made = [path for name in artifacts_of(SCALE, paper) for path in files_of(paper, name)]
    return [*made, f"{FIGURES}/{paper}/claims.json", *described(SCALE, paper)]


def files_of(paper, artifact):
    """The files of one table or figure."""
    suffixes = SUFFIXES[PROJECT.paper(paper).artifacts[artifact].kind]
    return [f"{FIGURES}/{paper}/{artifact}.{suffix}" for suffix in suffixes]


def why_not(target):
    """Why no rule makes a target, and which names are near."""
    if target in PROJECT.papers:
        reason = what_is_skipped([target]) or f"The {SCALE} scale has none of its experiments."
        return f"nothing of '{target}' can run. {reason}"
    names = [f"{FIGURES}/index.html"]
    names += [path for paper in PAPERS for path in paper_targets(paper)]
    names += [f"{paper}_{name}" for paper in PAPERS for name in artifacts_of(SCALE, paper)]
    nearest = get_close_matches(target, names, n=1, cutoff=0.5)
    return str(unknown("target", target, ["all", *PAPERS, *nearest]))


SETTINGS = workflow.resource_settings
hand_over(
    Handed(
        page=Path(FIGURES, "index.html"),
        cores=SETTINGS.cores if SETTINGS.nodes is None else None,
        skipped=lambda: what_is_skipped(workflow.dag_settings.targets),
        why_not=why_not,
    )
)
mend_scheduler()


@cache
def price(run, block):
    """What a run should cost; None where nothing like it was measured."""
    return KNOWN.cost(cells_by_run()[run], len(parse_block(block)))


# code that shapes numbers is in the runs' own fingerprints
SHOWING = ("pfedrl/analysis/", "pfedrl/core/metrics.py", "pfedrl/envs/views/")


@cache
def code_of(module):
    """The fingerprint of what summarises, draws, judges or reports: its words count."""
    return fingerprint(f"pfedrl.analysis.{module}", words=True, only=SHOWING)


def digest_of(*parts):
    """A digest of plain values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:20]


@cache
def labels_of(scale, paper, experiment):
    """A digest of an experiment's cells: what they are called, their runs and seeds, and what is in
    these: the checksum of a committed file, or the code that alone may make a local one."""
    every = [
        [cell.name, cell.variant, cell.sweep, cell.folder, len(cell.seeds), cell.budget.called]
        + [STORE.checksum(path) or run_code(cell) for path in paths]
        for cell, paths in runs_of(scale, paper, experiment).items()
    ]
    return digest_of(*every)


def is_current(output, sources):
    """Whether a committed file was made from what there is: a json has a key, a page its head."""
    kept = Path(output)
    text = kept.read_text(encoding="utf-8") if SCALE == RECORD and kept.exists() else ""
    made_from = re.search(r'"made_from"(?:: | content=)"(\w+)"', text)
    return made_from is not None and made_from[1] == sources


def stamp(name, output, sources):
    """A file that is newer than a committed output only where that must be made again.

    A clone has no memory of what the output was made from, and times are those of the checkout.
    """
    if SCALE != RECORD:
        return []
    path = Path("results", SCALE, "stamps", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    if is_current(output, sources):
        os.utime(path, (1, 1))
    return str(path)


def summaries(scale, paper, experiments):
    """Both summary files of each experiment."""
    stems = [f"results/{scale}/summaries/{paper}/{experiment}" for experiment in experiments]
    return [f"{s}.{kind}.parquet" for s in stems for kind in ("statistics", "finals")]


onstart:
    announce(workflow.dag.needrun_jobs())
