"""A small project and summaries of made-up runs, for looking at what is drawn."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.style import every_style
from pfedrl.analysis.summaries import Summary, paths, read_summary
from pfedrl.analysis.summarise import Read, write_summary
from pfedrl.core.recorder import ALL_AGENTS
from pfedrl.core.settings import Settings
from pfedrl.pipeline.cells import Cell
from pfedrl.pipeline.paper import Artifact, Experiment, Paper
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.scale import Budget
from pfedrl.pipeline.served import Served
from pfedrl.pipeline.store import Part, Point, block_name, run_path
from tests.projects import write_paper, write_scale

KAPPAS = [0, 0.2, 0.4, 0.6, 0.8]
STEPS = [1, 2, 4, 8, 16, 32, float("inf")]
ALGORITHMS = ("qavg", "soft_pavg", "proj_pavg")
CONTROLS = ("random_policy", "optimal_policy")
LABELS = {
    "qavg": "QAvg", "soft_pavg": "SoftPAvg", "proj_pavg": "ProjPAvg",
    "random_policy": "random", "optimal_policy": "optimal", "lemma1": "Lemma 1",
    "theorem1": "Theorem 1",
}  # fmt: skip


class Stub(Settings):
    """Stands in for an algorithm or a statement of the registry."""

    label: ClassVar[str]

    def instance(self, seed: int) -> dict[str, Any]:
        return {"seed": seed, "transitions": [[0.5, 0.5], [1.0, 0.0]], "discount": 0.9}


def stub(name: str) -> Any:
    return type(name, (Stub,), {"label": LABELS[name]})


FACTS: dict[str, Any] = {
    "commit": "0123456789ab", "processor": "AMD EPYC",
    "versions": {"python": "3.11.0", "numpy": "2.4.0"}, "wall_seconds": 1.5, "cpu_seconds": 1.25,
    "peak_memory_mb": 80.0,
}  # fmt: skip
Measured = dict[tuple[str, int, str], np.ndarray]  # (axis, at, metric) to [seed] or [seed, agent]


def cell(
    experiment: str,
    variant: str,
    sweep: dict[str, float],
    seeds: int,
    measured: Measured,
    blocks: int = 2,
    **algorithm: Any,
) -> Read:
    """A made-up cell; its algorithm is called as its variant unless a name is given."""
    name = algorithm.pop("name", variant)
    label = "_".join([variant, *(f"{key}={value:g}" for key, value in sweep.items())])
    runnable, family = SimpleNamespace(said=lambda: algorithm), SimpleNamespace(said=dict)
    made = Cell(
        "qavg", experiment, label, variant, name, sweep, runnable, family, "made_up", 1,
        Budget(seeds=seeds, block=seeds),
    )  # fmt: skip
    return read(made, measured, blocks)


def read(made: Cell, measured: Measured, blocks: int = 1) -> Read:
    """A cell as if its values had been read from files of so many blocks of seeds."""
    parts = []
    for part in np.array_split(made.seeds, min(blocks, len(made.seeds))):
        seeds = range(int(part[0]), int(part[-1]) + 1)
        parts.append(Part("local", run_path(made, block_name(seeds)), seeds, seeds))
    values: dict[Point, np.ndarray] = {}
    for (axis, at, metric), column in measured.items():
        column = np.asarray(column, float)
        if column.ndim == 1:
            values[metric, axis, ALL_AGENTS, at] = column
        else:
            values |= {(metric, axis, i, at): own for i, own in enumerate(column.T)}
    return Read(Served(made, parts, 0), values, [FACTS] * len(parts))


def summary(folder: Path, paper: str, *found: Read) -> Summary:
    """The summary of an experiment's cells, written to a folder of summaries and read again."""
    experiment = found[0].served.cell.experiment
    sweeps = sorted({key for one in found for key in one.served.cell.sweep})
    write_summary(paths(folder, paper, experiment), found, sweeps, {})
    return read_summary(folder, paper, experiment)


def context(
    experiments: dict[str, Experiment],
    artifact: Artifact,
    summaries: dict[str, Summary],
    **page: Any,
) -> Context:
    """What a module in figures/ draws an artifact from, of a paper with these experiments."""
    head = {"paper": "pfedrl_rep", "short": "T", "title": "t", "reference": "r"}
    paper = Paper(**head, experiments=experiments, **page)
    return Context(paper, "a", artifact, "laptop", summaries, every_style({}))


def figure(experiment: str, options: dict[str, Any]) -> Artifact:
    return Artifact(
        kind="figure", title="t", draw="d", experiments=[experiment], caption="c", options=options
    )


class Made:
    """Numbers that look a little like the paper's, on common draws per seed."""

    def __init__(self, seeds: int):
        self.seeds = seeds
        self.random = np.random.default_rng(0)

    def around(self, level: float, spread: float) -> np.ndarray:
        return level + spread * self.random.normal(size=self.seeds)

    def table1(self, level: float) -> Iterable[tuple[str, dict[str, float], dict[Any, Any]]]:
        common = self.around(0, 1.0)
        for kappa in KAPPAS:
            for i, variant in enumerate((*ALGORITHMS, *CONTROLS)):
                offset = (0, -0.3, -0.4, -20, 1)[i] - 2 * kappa**2
                values = level + offset + common + self.around(0, 0.1)
                yield variant, {"kappa": kappa}, {("iteration", 100, "centre_value"): values}

    def figure2(self, variant: str) -> Iterable[tuple[str, dict[str, float], dict[Any, Any]]]:
        common = self.around(0, 10.0)
        for steps in STEPS:
            every = 1 if np.isinf(steps) else int(steps)
            level = 129.5 - (40 if np.isinf(steps) and variant == "proj_pavg" else every / 8)
            yield variant, {"local_steps": steps}, {
                ("iteration", at, "objective"): level - 150 * np.exp(-at / (30 + 4 * every))
                + common + self.around(0, 0.2)
                for at in range(0, 640, max(every, 16))
            }  # fmt: skip
        yield "optimal_policy", {}, {("iteration", 0, "objective"): 132 + common}

    def generalisation(self) -> Iterable[tuple[str, dict[str, float], dict[Any, Any]]]:
        for variant in ALGORITHMS:
            for steps in (4, float("inf")):
                measured = {
                    ("iteration", 0, metric): self.around(129 + gap, 8.0)
                    for metric, gap in [("objective", 0), ("held_out_objective", -3)]
                }
                if np.isinf(steps):
                    measured |= {
                        ("iteration", 0, f"baseline_{metric}"): self.around(120 + gap, 8.0)
                        for metric, gap in [("objective", 0), ("held_out_objective", -1)]
                    }
                yield variant, {"local_steps": steps}, measured
        for variant, level in zip(CONTROLS, (20, 135), strict=True):
            yield variant, {}, {
                ("iteration", 0, metric): self.around(level, 8.0)
                for metric in ("objective", "held_out_objective")
            }  # fmt: skip

    def speedup(self) -> Iterable[tuple[str, dict[str, float], dict[Any, Any]]]:
        for agents in (2.0, 4.0, 8.0):
            times = 80 / agents * np.exp(self.around(0, 0.1))
            yield "qavg", {"agents": agents}, {
                ("iteration", 0, "time"): times,
                ("iteration", 0, "reached"): (times < 60).astype(float),
            }  # fmt: skip

    def theory(self) -> Iterable[tuple[str, dict[str, float], dict[Any, Any]]]:
        sizes = self.random.integers(2, 6, self.seeds).astype(float)
        for variant, level in (("lemma1", -0.1), ("theorem1", 4.0)):
            yield variant, {}, {
                ("instance", 0, "margin"): self.around(level, 0.3),
                ("instance", 0, "size"): sizes,
            }  # fmt: skip


def printed(experiment: str, variant: str, metric: str, along: str, at: list[float], level: float):
    return [
        {"experiment": experiment, "variant": variant, "metric": metric, "along": along,
         "at": point, "value": f"{level - i * 0.31:.2f}", "error": "0.05"}
        for i, point in enumerate(at)
    ]  # fmt: skip


def paper() -> dict[str, Any]:
    """The made-up project's paper, with every kind of claim."""
    table1 = ["table1_random_mdps", "table1_windy_cliffs"]
    figure2 = [f"figure2_{variant}" for variant in ALGORITHMS]
    generalisation = ["generalisation_random_mdps", "generalisation_windy_cliffs"]
    steps = [value for value in STEPS if value != 32]
    swept = {
        **{name: ({"family.kappa": KAPPAS}, (*ALGORITHMS, *CONTROLS)) for name in table1},
        **{f"figure2_{variant}": ({"algorithm.local_steps": STEPS}, (variant, "optimal_policy"))
           for variant in ALGORITHMS},
        **{name: ({"algorithm.local_steps": [4, float("inf")]}, (*ALGORITHMS, *CONTROLS))
           for name in generalisation},
        "speedup": ({"family.agents": [2, 4, 8]}, ("qavg",)),
    }  # fmt: skip
    experiments: dict[str, Any] = {
        name: {"title": name.replace("_", " "), "family": {"name": "made_up"}, "sweep": sweep,
               "variants": {variant: {} for variant in variants}}
        for name, (sweep, variants) in swept.items()
    }  # fmt: skip
    experiments["theory"] = {"title": "theory", "variants": {"lemma1": {}, "theorem1": {}}}
    claims = [
        {"kind": "trend", "experiment": table1[0], "variants": ["qavg"],
         "metric": "centre_value", "along": "family.kappa", "direction": "falls"},
        {"kind": "ahead", "experiment": table1[0], "metrics": ["centre_value"],
         "ahead": {"proj_pavg_kappa=0": ["qavg_kappa=0"]}},
        {"kind": "equal", "experiment": "figure2_qavg", "metric": "objective",
         "cells": ["qavg_local_steps=1", "qavg_local_steps=2"], "margin": 0.9},
        {"kind": "unlike", "experiment": "figure2_qavg", "metric": "objective",
         "cells": ["qavg_local_steps=1", "qavg_local_steps=2"], "margin": 0.9},
        {"kind": "near", "experiment": "theory", "cell": "theorem1", "metric": "margin",
         "value": 4.05, "margin": 2.0},
        {"kind": "slope", "experiment": "speedup", "variant": "qavg", "metric": "time",
         "along": "family.agents", "value": -1, "margin": 0.25},
        {"kind": "holds", "experiment": "theory", "variant": "lemma1", "metric": "margin"},
        {"kind": "exists", "experiment": "theory", "variant": "theorem1", "metric": "margin"},
    ]  # fmt: skip
    return {
        "title": "Federated Reinforcement Learning with Environment Heterogeneity",
        "reference": "AISTATS 2022",
        "theory": "qavg",
        "experiments": experiments,
        "artifacts": {
            "table1": {
                "kind": "table", "title": "Value in the noiseless centre", "draw": "qavg_table1",
                "experiments": table1, "caption": "Mean and standard error over seeds.",
            },
            "figure2": {
                "kind": "figure", "title": "How often to meet", "draw": "qavg_figure2",
                "experiments": figure2, "caption": "Objective over E.",
            },
            "generalisation": {
                "kind": "table", "title": "New environments", "draw": "generalisation_table",
                "experiments": generalisation, "caption": "Training and held-out objective.",
            },
            "sweep": {
                "kind": "figure", "title": "Heterogeneity", "draw": "sweep_panels",
                "experiments": table1[:1], "caption": "Value along kappa.",
                "options": {
                    "along": "kappa", "x": "kappa",
                    "panels": [{"title": "RandomMDPs", "experiment": table1[0],
                                "metric": "centre_value", "y": "value"}],
                },
            },
            "theory": {
                "kind": "table", "title": "Theory", "draw": "theory_table",
                "experiments": ["theory"], "caption": "Statements on drawn instances.",
            },
        },
        "printed": {
            "table1": [
                row
                for experiment, level in zip(table1, (35.4, 133.9), strict=True)
                for variant in ALGORITHMS
                for row in printed(experiment, variant, "centre_value", "kappa", KAPPAS, level)
            ],
            "figure2": [
                row
                for variant in ALGORITHMS
                for row in printed(f"figure2_{variant}", variant, "objective", "local_steps",
                                   steps, 129.5)
            ],
        },
        "claims": [
            {"id": f"C{i}", "words": f"a {test['kind']} claim", "where": "Section 5", "test": test}
            for i, test in enumerate(claims)
        ],
        "fidelity": [
            {"id": "F1", "paper": "N noisy copies", "code": "P0 and 4 mixtures",
             "ours": "as the code", "switch": "family.centre_included"},
        ],
    }  # fmt: skip


def project(root: Path) -> Project:
    """The project's folder with its paper and three scales, one of which leaves the paper out."""
    write_paper(root, "qavg", paper())
    all_of_it = {"qavg": {"default": {"seeds": 5, "block": 5}}}
    for name, verdicts, papers in (
        ("laptop", True, all_of_it), ("smoke", False, all_of_it), ("theory", True, {}),
    ):  # fmt: skip
        scale = {"scale": name, "description": name, "verdicts": verdicts,
                 "papers": papers}  # fmt: skip
        write_scale(root, name, scale)
    return Project(root)


def summaries(root: Path, seeds: int) -> Path:
    """Summaries of every experiment; their folder."""
    made = Made(seeds)
    experiments = {
        "table1_random_mdps": made.table1(35.0),
        "table1_windy_cliffs": made.table1(134.0),
        **{f"figure2_{variant}": made.figure2(variant) for variant in ALGORITHMS},
        "generalisation_random_mdps": made.generalisation(),
        "generalisation_windy_cliffs": made.generalisation(),
        "speedup": made.speedup(),
        "theory": made.theory(),
    }
    for experiment, cells in experiments.items():
        found = [cell(experiment, *one[:2], seeds, one[2]) for one in cells]
        summary(root / "summaries", "qavg", *found)
    return root / "summaries"
