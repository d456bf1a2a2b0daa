"""Names that would be commands or paths."""

from pathlib import Path

import pytest

from pfedrl.core.errors import USAGE, PfedrlError
from pfedrl.pipeline.cells import cells
from pfedrl.pipeline.project import Project
from tests.faults.conftest import times
from tests.projects import write_paper, write_scale
from tests.workflow.conftest import PAPER, ROOT, Tiny, scale

HOSTILE = (
    "a$(touch x)", "a`touch x`", "a;touch x", "a|b", "a&b", "a>b", "a b", "a\nb", "a'b", 'a"b',
    "../a", "a/b", "-a", "--help", ".hidden", "=a", "", "fig(", "a*", "a?", "{a}", "~", "a\\b",
    "ü", "a\u202eb", "a\x00b",
)  # fmt: skip


def renamed(place: str, name: str) -> dict:
    """The paper of the tests, with one thing in it called so."""
    page = {key: dict(part) if isinstance(part, dict) else part for key, part in PAPER.items()}
    if place == "variant":
        windy = page["experiments"]["windy"]
        variant = {"algorithm": "qavg", **windy["variants"]["qavg"]}
        page["experiments"]["windy"] = {**windy, "variants": {name: variant}}
    elif place == "sweep":  # its keys are in the names of cells
        random = page["experiments"]["random"]
        page["experiments"]["random"] = {**random, "sweep": {f"family.{name}": [0, 0.5]}}
    else:
        old = {"experiment": "windy", "artifact": "table1"}[place]
        page[f"{place}s"][name] = page[f"{place}s"].pop(old)
    return page


@pytest.mark.parametrize("place", ["experiment", "variant", "artifact", "sweep"])
def test_a_hostile_name_is_one_line(place: str, tmp_path: Path, fault):
    for number, name in enumerate(HOSTILE):
        with fault("hostile name"):
            root = tmp_path / str(number)
            write_paper(root, "tiny", renamed(place, name))
            write_scale(root, "laptop", scale())
            for folder in ("envs", "workflow/style.yaml"):
                (root / folder).symlink_to(ROOT / folder)
            before = set(root.rglob("*"))
            with pytest.raises(PfedrlError) as caught:
                project = Project.here(root)
                _ = [
                    list(cells(project, "tiny", e, "laptop"))
                    for e in project.paper("tiny").experiments
                ]
            assert caught.value.exit_code == USAGE
            assert "\n" not in str(caught.value)
            assert set(root.rglob("*")) == before


@pytest.mark.parametrize(
    ("paper", "page", "message"),
    [
        ("tiny", renamed("variant", "a$(touch x)"), "a name has letters, digits"),
        ("tiny", renamed("artifact", "fig("), "a name has letters, digits"),
        ("all", PAPER, "'all' is the name of a Snakemake rule"),
    ][: times(1, 3)],
)
def test_so_it_is_for_snakemake(new_project: Tiny, paper: str, page: dict, message: str, fault):
    with fault("hostile name"):
        write_paper(new_project.root, paper, page)
        done = new_project.snakemake()
        lines = [line for line in done.stdout.splitlines() if line.startswith("pfedrl: ")]
        assert done.returncode == USAGE, done.stdout
        assert len(lines) == 1 and message in lines[0]
        assert not (new_project.root / "x").exists()
        assert not (new_project.root / "results").exists()


@pytest.mark.parametrize("name", ["windy-cliffs", "windy.cliffs", "windy=cliffs"][: times(1, 3)])
def test_a_plain_name_with_a_mark_in_it_works(new_project: Tiny, name: str):
    page = renamed("experiment", name)
    page["artifacts"]["figure1"] = {**page["artifacts"]["figure1"], "experiments": [name]}
    write_paper(new_project.root, "tiny", page)
    assert f"Summarising tiny/{name}" in new_project.planned("tiny")
