"""Options of drawings are checked before anything runs, without importing matplotlib."""

import subprocess
import sys
from pathlib import Path

import pytest

from pfedrl.analysis.check import Measured, check_options
from pfedrl.analysis.options import options_of
from pfedrl.core.errors import PfedrlError
from pfedrl.pipeline.paper import Artifact
from pfedrl.pipeline.project import Project

ROOT = Path(__file__).parents[2]
LINE = {"cell": "fed_kl", "metric": "return"}


def figure(draw, options, experiments=("figure6",)):
    return Artifact(kind="figure", title="t", caption="c", draw=draw,
                    experiments=list(experiments), options=options)  # fmt: skip


def curves(**changed):
    return figure("curve_panels", {"panels": [{"title": "t", "lines": [LINE], **changed}]})


@pytest.mark.parametrize(
    ("artifact", "message"),
    [
        (curves(titel="t"), r"here, panels\.0: unknown key 'titel'\. Did you mean 'title'"),
        (curves(limits=[0]), r"here, panels\.0\.limits"),
        (curves(lines=[{"cell": "fed_kl"}]), r"panels\.0: 'fed_kl' has no metric"),
        (curves(lines=[]), r"panels\.0 has no lines"),
        (figure("fedkl_figure5", {"limits": [-60, -20]}), "here: unknown key 'limits'"),
        (figure("curve_panel", {}), "here: unknown drawing 'curve_panel'. Did you mean 'curve_p"),
        (figure("speedup_figure", {"variant": "a", "along": "agents"}), "here, marks: Field"),
    ],
)
def test_a_wrong_option_is_named_with_the_nearest(artifact, message):
    with pytest.raises(PfedrlError, match=message):
        options_of(artifact, "here")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lines": [{**LINE, "cell": "fed_lk"}]}, "unknown cell 'fed_lk'. Did you mean 'fed_kl'"),
        ({"experiment": "figure7"}, "unknown experiment of the artifact 'figure7'"),
        ({"lines": [{**LINE, "metric": "retrun"}]}, "unknown metric 'retrun'. Did you mean 'ret"),
    ],
)
def test_a_name_that_no_run_will_have_is_found_before_it_runs(changed, message):
    measured = Measured(Project.here(ROOT), "fedkl")
    check_options(measured, curves(), "here")
    with pytest.raises(PfedrlError, match=message):
        check_options(measured, curves(**changed), "here")


OPTIONS = """
from pfedrl.analysis.options import options_of
for page in project.papers.values():
    for name, artifact in page.artifacts.items():
        options_of(artifact, name)
"""
TABLE = """
from pfedrl.analysis.drawing import cuts_of, listed_styles, module_of
artifact = project.paper("pfedrl_rep").artifacts["table3"]
module_of(artifact)
cuts_of(project, "pfedrl_rep", artifact.experiments, "published")
listed_styles(project)
"""


@pytest.mark.parametrize(
    ("code", "unwanted"),
    [
        (OPTIONS, ["matplotlib", "seaborn", "pandas", "pyarrow", "scipy"]),
        (TABLE, ["matplotlib", "pfedrl.theory", "pfedrl.envs.traffic", "pfedrl.algorithms.td"]),
    ],
)
def test_nothing_is_imported_that_is_not_needed(code, unwanted):
    start = "import sys; from pfedrl.pipeline.project import Project; project = Project.here()"
    end = f"sys.exit(', '.join(sys.modules.keys() & {unwanted}) or 0)"
    script = "\n".join([start, code, end])
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0
