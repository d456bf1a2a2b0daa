"""What reruns, and what does not, on a real DAG."""

import shutil
import subprocess

import pytest

from pfedrl.analysis.summaries import Summary, read_summary
from tests.workflow.conftest import AVERAGING, FIGURES, PAPER, Tiny, scale

BLOCKS = ("0-4", "4-8")
TABLE, FIGURE = "Drawing tiny/table1", "Drawing tiny/figure1"
COMPARISON = "Drawing tiny/comparison_random"
CLAIMS, REPORT = "Testing the claims of tiny", "Writing the pages"
COMPARED = "Comparing the runs with the record's"


def runs(*cells: str, blocks: tuple[str, ...] = BLOCKS) -> set[str]:
    return {f"Running tiny/{cell}, seeds {block}" for cell in cells for block in blocks}


def after(*experiments: str) -> set[str]:
    """What follows from new runs of experiments."""
    artifacts = {"random": {TABLE, COMPARISON}, "windy": {FIGURE}}
    summaries = {f"Summarising tiny/{name}" for name in experiments}
    return summaries.union(*(artifacts[name] for name in experiments)) | {CLAIMS, REPORT, COMPARED}


def summary(project: Tiny, experiment: str) -> Summary:
    return read_summary(project.root / "results/laptop/summaries", "tiny", experiment)


RANDOM_QAVG = ("random/qavg_kappa=0", "random/qavg_kappa=0.5")
RANDOM_CONTROL = ("random/random_policy_kappa=0", "random/random_policy_kappa=0.5")
WINDY = ("windy/qavg",)


def test_everything_is_made(finished: Tiny):
    made = {path.removeprefix(f"{FIGURES}/") for path in finished.files(FIGURES)}
    table = {f"tiny/table1.{suffix}" for suffix in ("csv", "md", "tex", "json")}
    figure = {f"tiny/figure1.{suffix}" for suffix in ("pdf", "png", "csv", "json")}
    beside = {f"tiny/comparison_random.{suffix}" for suffix in ("csv", "md", "pdf", "png", "json")}
    pages = {f"tiny/{name}.html" for name in ("index", "table1", "figure1", "comparison_random")}
    pages |= {f"{name}.html" for name in ("index", "algorithms", "environments", "appendix")}
    shared = {"tiny/claims.json", "README.md", "site.css", "site.js"}
    catalogue = {path for path in made if path.startswith(("algorithms/", "environments/"))}
    assert {"algorithms/qavg.html", "environments/windycliffs.html"} < catalogue
    pages |= catalogue
    assert made == table | figure | beside | pages | shared
    assert len(finished.files("results/runs")) == 5 * len(BLOCKS)
    assert all(finished.files("results/logs/runs").values()), "what each run printed"


def test_a_second_run_has_nothing_to_do(project: Tiny):
    assert "Nothing to be done" in project.make()
    assert project.planned() == set()


EVERY = (*RANDOM_QAVG, *RANDOM_CONTROL, *WINDY)


@pytest.mark.parametrize(
    ("file", "planned"),
    [
        ("algorithms/controls/fixed_tabular", runs(*RANDOM_CONTROL) | after("random")),
        ("algorithms/tabular/qavg", runs(*RANDOM_QAVG, *WINDY) | after("random", "windy")),
        ("stack/loop", runs(*EVERY) | after("random", "windy")),
        ("analysis/figures/tiny_figure", {FIGURE, REPORT}),
    ],
)
def test_editing_code_reruns_only_what_imports_it(project: Tiny, file: str, planned: set[str]):
    project.append(f"pfedrl/{file}.py")
    assert project.planned() == planned


def windy(**settings: object) -> dict:
    """The experiments, with other settings in one."""
    spec = PAPER["experiments"]["windy"]
    return {**PAPER["experiments"], "windy": {**spec, "variants": {"qavg": AVERAGING | settings}}}


CAPTION = {**PAPER["artifacts"]["table1"], "caption": "Other words."}


@pytest.mark.parametrize(
    ("file", "values", "planned"),
    [
        ("papers/tiny/experiments", windy(decay=0.5), runs(*WINDY) | after("windy")),
        ("papers/tiny/artifacts", PAPER["artifacts"] | {"table1": CAPTION}, {TABLE, REPORT}),
        ("style", "algorithms: {qavg: {colour: '#123456'}}", {FIGURE, COMPARISON, REPORT}),
    ],
)
def test_editing_settings_reruns_only_what_depends_on_them(
    project: Tiny, file: str, values: dict | str, planned: set[str]
):
    project.write(f"workflow/{file}.yaml", values)
    assert project.planned() == planned


def test_editing_a_family_draws_it_again(project: Tiny):
    project.append("pfedrl/envs/tabular/windy_cliff.py")
    planned = project.planned()
    assert len([job for job in planned if job.startswith("Drawing windy_cliff-")]) == len(BLOCKS)
    planned = {job for job in planned if not job.startswith("Drawing windy_cliff-")}
    assert planned == runs(*WINDY) | after("windy")


def test_editing_what_calls_and_stores_runs_makes_none_again(project: Tiny):
    for name in ("cli/jobs", "pipeline/execute", "pipeline/run_file", "pipeline/cells"):
        project.append(f"pfedrl/{name}.py")
    project.append("workflow/papers/tiny/experiments.yaml", "\n# edited\n")
    assert not [job for job in project.planned() if job.startswith("Running")]


def test_comments_docstrings_annotations_errors_and_times_rerun_nothing(project: Tiny):
    learner = "pfedrl/algorithms/tabular/learner.py"
    project.append(learner, "\n# a comment\n")
    project.replace(learner, '"""Q tables, updated by expected backups."""', '"""Other words."""')
    project.replace("pfedrl/stack/exchange.py", "nothing to share: ", "there is nothing to share: ")
    project.replace("pfedrl/core/recorder.py", "state(self) -> list[Any]", "state(self) -> Any")
    project.append("pfedrl/core/errors.py")
    project.append("pfedrl/analysis/figures/tiny_figure.py", "\n# a comment\n")
    (project.root / "pfedrl/algorithms/controls/fixed_tabular.py").touch()
    assert project.planned() == set()


def test_another_label_redraws_and_retrains_nothing(project: Tiny):
    project.replace("pfedrl/algorithms/controls/random_policy.py", '"Random policy"', '"Random"')
    assert project.planned() == {TABLE, COMPARISON, REPORT}


def test_a_relative_import_is_seen(project: Tiny):
    project.write("pfedrl/algorithms/tabular/sizes.py", "SIZE = 1\n")
    project.append("pfedrl/algorithms/controls/fixed_tabular.py", "\nfrom ..tabular import sizes\n")
    target = project.run(RANDOM_CONTROL[0])
    project.make(target)
    assert project.planned(target) == set()
    project.write("pfedrl/algorithms/tabular/sizes.py", "SIZE = 2\n")
    assert project.planned(target) == runs(RANDOM_CONTROL[0], blocks=BLOCKS[:1])


def test_more_seeds_run_only_the_new_blocks(project: Tiny):
    before = project.files("results/runs")
    project.write("workflow/scales/laptop.yaml", scale(seeds=12))
    planned = project.planned("tiny")
    new = {job for job in planned if "seeds 8-12" in job and not job.startswith("Drawing")}
    assert new == runs(*EVERY, blocks=("8-12",))
    assert not [job for job in planned if "0-4" in job or "4-8" in job]
    project.make("results/laptop/summaries/tiny/windy.finals.parquet")
    assert before.items() <= project.files("results/runs").items()


def test_another_size_of_blocks_takes_the_files_that_are_there(project: Tiny):
    other = {"tiny": {"default": {"seeds": 10, "block": 6}}}
    project.write("workflow/scales/laptop.yaml", scale(papers=other))
    planned = {job for job in project.planned("tiny") if job.startswith("Running")}
    assert planned == runs(*EVERY, blocks=("8-10",))
    fewer = {"tiny": {"default": {"seeds": 3, "block": 3}}}
    project.write("workflow/scales/laptop.yaml", scale(papers=fewer))
    assert project.planned("tiny_figure1") == {"Summarising tiny/windy", FIGURE}
    project.make("tiny_figure1")
    seeds = set(summary(project, "windy").finals["seed"])
    assert seeds == {0, 1, 2}, "of a file of four"


def test_one_target_makes_only_what_it_needs(new_project: Tiny):
    planned = new_project.planned("tiny_table1")
    assert planned == new_project.planned(f"{FIGURES}/tiny/table1.md"), "by its name or its file"
    assert {job for job in planned if not job.startswith("Drawing random_mdp-")} == (
        runs(*RANDOM_QAVG, *RANDOM_CONTROL) | {"Summarising tiny/random", TABLE}
    )
    assert REPORT not in new_project.planned("tiny")


def test_no_scale_changes_a_committed_file(project: Tiny):
    """Not even where the record is worse, or older, than what the scale makes."""
    for name in ("tiny/table1.md", "tiny/figure1.csv", "index.html", "README.md"):
        project.write(f"paper_figures/{name}", "of the record\n")
    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for arguments in (("init", "-q"), ("add", "."), (*author, "commit", "-qm", "all")):
        subprocess.run(("git", *arguments), cwd=project.root, check=True)
    shutil.rmtree(project.root / FIGURES)
    for name in ("laptop", "smoke"):
        said = project.make("--config", f"scale={name}").splitlines()
        report = f"results/{name}/paper_figures/index.html"
        assert (project.root / report).exists() and said[-1] == f"The report is {report}"
    status = ("git", "status", "--porcelain")
    assert subprocess.check_output(status, cwd=project.root, text=True) == ""


def test_labels_with_one_key_share_one_run(project: Tiny):
    before = project.files("results/runs")
    windy = PAPER["experiments"]["windy"]
    again = {**windy, "title": "Again", "variants": {"mine": {**AVERAGING, "algorithm": "qavg"}}}
    project.write(
        "workflow/papers/tiny/experiments.yaml", {**PAPER["experiments"], "windy_again": again}
    )
    target = "results/laptop/summaries/tiny/windy_again.finals.parquet"
    assert project.planned(target) == {"Summarising tiny/windy_again"}
    project.make(target)
    assert project.files("results/runs") == before
    same, own = (summary(project, name) for name in ("windy_again", "windy"))
    assert same.final("mine", "objective").tolist() == own.final("qavg", "objective").tolist()


def test_a_scale_takes_the_runs_that_another_scale_made(project: Tiny):
    planned = project.planned("tiny", "--config", "scale=smoke")
    assert planned == {"Summarising tiny/windy", FIGURE, CLAIMS}
