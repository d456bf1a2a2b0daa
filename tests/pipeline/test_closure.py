"""What runs when a module is used: its imports of every form within pfedrl, and nothing else."""

from pathlib import Path

from pfedrl.pipeline.closure import closure


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / "pfedrl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def files(*modules: str, root: Path) -> set[str]:
    return {name.removeprefix("pfedrl/") for name in closure(*modules, root=root)[0]}


def test_follows_imports_of_every_form(tmp_path: Path):
    write(
        tmp_path,
        {
            "__init__.py": "from pfedrl.pins import pin",
            "pins.py": "",
            "top.py": "import numpy\nimport pfedrl.plain\nfrom pfedrl.room import part",
            "plain.py": "def f():\n    from pfedrl.late import something",
            "late.py": "import pfedrl.top\nimport_module('pfedrl.named')\nimport_module('libsumo')",
            "named.py": "",
            "room/__init__.py": "",
            "room/part.py": "",
            "room/other.py": "import torch",
        },
    )
    always = {"__init__.py", "pins.py"}  # importing anything runs the package first
    top = {"late.py", "plain.py", "room/__init__.py", "room/part.py", "top.py", "named.py"}
    assert files("pfedrl.top", root=tmp_path) == always | top
    part = {"room/__init__.py", "room/part.py"}
    assert files("pfedrl.room.part", root=tmp_path) == always | part
    elsewhere = closure("pfedrl.top", root=tmp_path)[1]
    assert {"numpy", "libsumo"} <= elsewhere and "torch" not in elsewhere


def test_follows_relative_imports(tmp_path: Path):
    write(
        tmp_path,
        {
            "__init__.py": "",
            "floor.py": "",
            "room/__init__.py": "from .first import thing",
            "room/first.py": "from . import second\nfrom .. import floor",
            "room/second.py": "from ..hall.third import thing",
            "hall/__init__.py": "",
            "hall/third.py": "",
            "hall/fourth.py": "",
        },
    )
    room = {"room/__init__.py", "room/first.py", "room/second.py"}
    hall = {"hall/__init__.py", "hall/third.py"}
    assert files("pfedrl.room", root=tmp_path) == {"__init__.py", "floor.py"} | room | hall


def test_what_is_imported_for_types_only_does_not_run(tmp_path: Path):
    write(
        tmp_path,
        {
            "__init__.py": "",
            "top.py": "import typing\nfrom typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n    from pfedrl.types import Thing\n"
            "if typing.TYPE_CHECKING:\n    import pfedrl.types\nelse:\n    import pfedrl.run",
            "types.py": "",
            "run.py": "",
        },
    )
    assert files("pfedrl.top", root=tmp_path) == {"__init__.py", "run.py", "top.py"}


def test_an_algorithm_depends_on_its_learner_but_not_on_others():
    qavg, elsewhere = closure("pfedrl.algorithms.tabular.qavg", "pfedrl.pipeline.execute")
    tabular = ("algorithms/tabular/qavg", "algorithms/tabular/learner", "stack/mixing")
    for needed in (*tabular, "pipeline/execute", "pipeline/artifact", "core/recorder", "__init__"):
        assert f"pfedrl/{needed}.py" in qavg
    assert "pfedrl/algorithms/tabular/soft_pavg.py" not in qavg
    apart = ("pfedrl/analysis", "pfedrl/cli", "pfedrl/algorithms/dqn", "pfedrl/pipeline/paper")
    assert not [name for name in qavg if name.startswith(apart)]
    assert "numba" in elsewhere
