"""The README and docs/: every command works, every link leads somewhere.

Commands are the lines of `sh` blocks. Each is executed in a copy of the project in which a reader
has followed the pages, unless ONLY_CHECKED says why not; then its words are checked by the
program's own parser. Targets of Snakemake that take minutes are planned, in one dry run.
`pytest -v tests/test_docs.py` lists which test takes which command.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
import yaml

import pfedrl
from pfedrl.cli import app
from pfedrl.pipeline.project import Project
from tests.processes import call, copy_tree, once
from tests.tiny import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = typer.main.get_command(app)

# commands that are not executed here, by how they begin: why, and what executes them instead
ONLY_CHECKED = {
    "pfedrl bench dqn:": "ten core-minutes; the suite of tables goes the same way",
    "pfedrl bench tabular:mean_median.py": "a minute; docs/benchmark.md is followed to its end",
    "pfedrl benchmark": "minutes; tests/benchmarks checks that both sides give the same results",
    "pfedrl calibrate": "two minutes; tests/envs/traffic plays one episode of its cases",
    "pfedrl crate": "needs rocrate; tests/pipeline/test_crate.py writes one where it is there",
    "pfedrl data fetch": "needs the network; tests/envs/data/test_fetch.py has packages of its own",
    "pfedrl level": "half a minute; tests/analysis/test_evidence.py simulates the same test",
    "pfedrl verify --published --write": "hours",
    "pfedrl verify --write": "a minute; short runs are covered by tests/test_same_numbers.py",
    "pfedrl verify": "a minute; short runs are covered by tests/test_same_numbers.py",
    "pfedrl watch": "minutes; tests/envs/views records shorter episodes",
    "snakemake --cache": "hours; tests/workflow/test_cache.py shares runs of a small project",
    "snakemake --report": "of a finished pipeline; tests/workflow/test_report.py has a small one",
    "snakemake --workflow-profile": "needs a cluster; tests/workflow/test_slurm.py makes one",
    "snakemake qavg --config scale=paper": "days",
    "make": "minutes to hours, and would install; `make -n` finds the target",
    "docker": "not installed where tests run; tests/test_installing.py compares the pins",
    "python -m pytest": "minutes; the files exist",
    "export": "a setting of the shell",
    ". .venv/bin/activate": "what `make install` makes",
}
EXECUTED_AFTER_ALL = {"make help", "pfedrl verify qavg"}


class Command(NamedTuple):
    """A line that a reader may type."""

    page: str
    line: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line)

    @property
    def reason(self) -> str | None:
        """Why it is not executed here."""
        if self.line in EXECUTED_AFTER_ALL:
            return None
        found = [start for start in ONLY_CHECKED if _begins(self.line, start)]
        return ONLY_CHECKED[max(found, key=len)] if found else None

    @property
    def is_long(self) -> bool:
        """Whether it asks Snakemake for targets that take minutes; one dry run plans them all."""
        quick = {"--dry-run", "--unlock"} & {*self.words} or " mine_" in self.line
        return self.words[0] == "snakemake" and not quick


def _begins(line: str, start: str) -> bool:
    """Whether a line begins with these words; `pfedrl verify` with names is another command."""
    if start == "pfedrl verify":
        return line == start
    return line == start or line.startswith((f"{start} ", *[start] * start.endswith(":")))


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def commands() -> list[Command]:
    """Every line of every block of commands, once."""
    found = {}
    for page in PAGES:
        for line in "".join(blocks(page, "sh")).splitlines():
            if text := line.split(" #")[0].strip():
                found.setdefault(text, Command(str(page.relative_to(ROOT)), text))
    return list(found.values())


def mentioned(program: str) -> Iterator[str]:
    """Commands inside a sentence, in the help and in the profiles' comments."""
    texts = [page.read_text() for page in PAGES]
    for text in texts:
        yield from re.findall(rf"`({program} [^`]+)`", text)
    profiles = [path.read_text() for path in (ROOT / "profiles").glob("*/config.yaml")]
    helps = [command.help or "" for command in COMMANDS.commands.values()]
    for text in (*profiles, *helps):
        yield from re.findall(rf"(?:#   |Example: )({program} .+)", text)


ALL = commands()
PARSED = [command for command in ALL if command.reason is not None]
PLANNED = [command for command in ALL if command.reason is None and command.is_long]
FOLLOWED = [command for command in ALL
            if command.page == "docs/benchmark.md" and command.reason is None]  # fmt: skip
RUN = [command for command in ALL if command not in PARSED + PLANNED + FOLLOWED]


def name(command: Command) -> str:
    return f"{command.page}: {command.line}"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose reader wrote the algorithms of the README and of add-an-algorithm.md, and the
    paper of add-a-paper.md."""
    return once(tmp_path_factory, "reader", make_copy)


def make_copy(folder: Path) -> None:
    parts = ("pfedrl", "snakemake_logger_plugin_pfedrl", "envs", "profiles", "workflow")
    for part in (*parts, "paper_figures", "results/published"):
        copy_tree(ROOT / part, folder / part, "*.png", "*.pdf")
    for file in ("Snakefile", "Makefile"):
        shutil.copy2(ROOT / file, folder)
    for page in (ROOT / "README.md", ROOT / "docs" / "add-an-algorithm.md"):
        (algorithm,) = blocks(page, "python")
        (place,) = re.findall(r"write `(\S+\.py)`", page.read_text())
        (folder / place).write_text(algorithm)
    text = (ROOT / "docs" / "add-an-algorithm.md").read_text()
    ((line, below, file),) = re.findall(r"Add `([^`]+)` below `([^`]+)` in `([^`]+)`", text)
    add_below(folder / file, f"    {below}\n", f"    {line}\n")
    page = ROOT / "docs" / "add-a-paper.md"
    *files, seeds = blocks(page, "yaml")
    places = re.findall(r"^`(workflow/papers/mine/\S+)`", page.read_text(), re.MULTILINE)
    (folder / "workflow/papers/mine").mkdir()
    for place, text in zip(places, files, strict=True):
        (folder / place).write_text(text)
    add_below(folder / "workflow/scales/laptop.yaml", "papers:\n", seeds)


def add_below(path: Path, line: str, added: str) -> None:
    """Add text below the first such line."""
    before, after = path.read_text().split(line, 1)
    path.write_text(before + line + added + after)


def typed(
    command: list[str], folder: Path, code: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A command of pfedrl or Snakemake, in a folder and with the code that is there, or other."""
    variables = os.environ | {"PYTHONPATH": str(code or folder), "COLUMNS": "200"}
    return call(*command, folder=folder, variables=variables, together=True)


@pytest.mark.parametrize("command", RUN, ids=name)
def test_a_command_is_executed(command: Command, copy: Path):
    words = command.words
    if words[0] == "make":
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    else:
        cores = ["--cores", "1"] if words[0] == "snakemake" else []
        done = typed([*words, *cores], copy)
    assert done.returncode == 0, done.stdout + str(done.stderr)


def test_the_benchmark_is_followed_from_beginning_to_end(copy: Path, tmp_path: Path):
    """In a folder outside the project; nobody else is run."""
    said = ""
    for command in FOLLOWED:
        done = typed(command.words, tmp_path, copy)
        assert done.returncode == 0, f"{command.line}: {done.stdout}"
        said += done.stdout
        if command.words[1] == "bench":
            runs = {path.name for path in (copy / "results" / "runs").iterdir()}
            own = {name for name in runs if name.startswith("tabular.my_algo-")}
            others = ("tabular.", "soft_pavg", "proj_pavg")  # no other command here runs these
            assert len(own) == 10 and not any(name.startswith(others) for name in runs - own)
    assert [command.words[1] for command in FOLLOWED] == [
        "new", "check", "bench", "board", "tune", "submit", "board"
    ]  # fmt: skip
    assert said.count("same bits") == 2 and "differs" not in said
    assert (tmp_path / "bench" / "tabular" / "index.html").exists()


def test_targets_that_take_long_are_planned(copy: Path):
    words = [word for command in PLANNED for word in command.words[1:]]
    targets = [word for word in words if not word.startswith("-")]
    assert len(targets) >= 5
    done = typed(["snakemake", *targets, "--dry-run", "--cores", "1"], copy)
    assert done.returncode == 0, f"{targets}: {done.stdout}"


@pytest.mark.parametrize("command", PARSED, ids=lambda one: f"{name(one)} ({one.reason})")
def test_a_command_is_checked(command: Command):
    check(command.line)


@pytest.mark.parametrize("line", sorted({*mentioned("pfedrl"), *mentioned("snakemake")}))
def test_a_command_in_a_sentence_is_checked(line: str):
    check(line)


def check(line: str) -> None:
    """The program knows these words; capital letters stand for what the reader gives."""
    program, *words = shlex.split(line)
    if program == "pfedrl":
        command: object = COMMANDS
        given = [word for word in words if not re.fullmatch(r"[A-Z]+|<\w+>", word)]
        while isinstance(command, typer.core.TyperGroup) and given and given[0][0] != "-":
            known, command, given = command.resolve_command(typer.Context(command), given)
            assert command is not None
        if isinstance(command, typer.core.TyperCommand) and given:  # or else it is only named
            command.make_context(known, given)
    elif program == "snakemake":
        from snakemake.cli import get_argument_parser

        found = get_argument_parser(profiles=[]).parse_args(words)
        project = Project.here(ROOT)
        for setting in found.config or []:
            if setting.startswith("scale="):
                project.scale(setting.removeprefix("scale="))
        named = {f"{p}_{name}" for p, page in project.papers.items() for name in page.artifacts}
        assert {*(found.targets or [])} - {"TARGET"} <= {*project.papers} | named
        assert (ROOT / (found.workflow_profile or "profiles/default") / "config.yaml").exists()
    elif program == "make":
        done = subprocess.run(
            ["make", "-n", "-o", ".venv/installed", *words],
            cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    elif line.startswith("python -m pytest"):
        assert all((ROOT / file).exists() for file in words[2:] if file[0] != "-")


def test_most_commands_are_executed_and_every_reason_is_needed():
    assert len(RUN) + len(PLANNED) >= 20
    assert {command.words[0] for command in RUN} >= {"pfedrl", "snakemake", "make"}
    unused = [
        start for start in ONLY_CHECKED if not any(_begins(one.line, start) for one in PARSED)
    ]
    assert not unused


@pytest.mark.parametrize("page", PAGES[2:], ids=lambda page: page.name)
def test_a_page_begins_with_a_command(page: Path):
    assert re.match(r"# .+\n\n```sh\n", page.read_text())


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


def test_the_readme_is_read_in_four_minutes():
    assert len((ROOT / "README.md").read_text().split()) <= 1000


def test_the_readme_counts_the_points_of_its_picture():
    readme = (ROOT / "README.md").read_text()
    ((shown, printed),) = re.findall(r"(\d+) of (\d+) printed numbers;", readme)
    tables = (ROOT / "workflow/papers").glob("*/printed/*.csv")
    assert int(printed) == sum(len(table.read_text().splitlines()) - 1 for table in tables)
    drawn = (ROOT / "paper_figures/printed.csv").read_text().splitlines()
    assert int(shown) == len(drawn) - 1


def test_the_calibration_table_is_the_one_that_calibration_wrote():
    table = (ROOT / "paper_figures/fedkl/calibration.md").read_text().strip()
    assert len(table.splitlines()) == 9
    assert table in (ROOT / "docs/figure-eight.md").read_text()


def test_logs_are_where_the_page_says():
    rules = "\n".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    logs = re.findall(r'log:\n\s+f?"(\S+)"', rules)
    shared, of_scale = "results/logs/", ("results/{scale}/logs/", "results/{SCALE}/logs/")
    assert len(logs) > 5 and all(log.startswith((shared, *of_scale)) for log in logs)
    page = (ROOT / "docs/run.md").read_text()
    assert "`results/<scale>/logs/`" in page and f"`{shared}`" in page


def test_the_citation_has_the_packages_version_and_every_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0" and citation["license"] == "MIT"
    described = json.loads((ROOT / "codemeta.json").read_text())
    assert citation["version"] == described["version"] == pfedrl.__version__
    titles = {reference["title"] for reference in citation["references"]}
    papers = {page.title for paper, page in Project.here(ROOT).papers.items() if paper != "theory"}
    assert titles == papers == {one["name"] for one in described["referencePublication"]}
