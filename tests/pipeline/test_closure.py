"""Code as an input: what a module imports within pfedrl, and nothing else."""

from pathlib import Path

from pfedrl.pipeline import closure as closure_module
from pfedrl.pipeline.closure import closure


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / "pfedrl" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_follows_imports_of_every_form(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(closure_module, "ROOT", tmp_path)
    closure_module._imports.cache_clear()
    write(
        tmp_path,
        {
            "__init__.py": "",
            "top.py": "import numpy\nimport pfedrl.plain\nfrom pfedrl.room import part",
            "plain.py": "def f():\n    from pfedrl.late import something",
            "late.py": "import pfedrl.top",
            "room/__init__.py": "",
            "room/part.py": "",
            "room/other.py": "import torch",
        },
    )
    expected = ["late", "plain", "room/part", "top"]
    assert closure("pfedrl.top") == [f"pfedrl/{name}.py" for name in expected]
    assert closure("pfedrl.room.part") == ["pfedrl/room/part.py"]
    closure_module._imports.cache_clear()


def test_an_algorithm_depends_on_its_learner_but_not_on_others():
    qavg = closure("pfedrl.algorithms.tabular.qavg")
    assert "pfedrl/algorithms/tabular/qavg.py" in qavg
    assert "pfedrl/algorithms/tabular/learner.py" in qavg
    assert "pfedrl/stack/mixing.py" in qavg
    assert "pfedrl/algorithms/tabular/soft_pavg.py" not in qavg
    assert not [name for name in qavg if name.startswith(("pfedrl/analysis", "pfedrl/cli"))]
