"""Every registered algorithm holds the contract, and what breaks it is found."""

from pathlib import Path

import pytest

from pfedrl.core.registry import components, is_control
from pfedrl.pipeline.contract import CONTRACT, check
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.verify import in_place_of, of_experiments
from tests.tiny import ROOT

ELSEWHERE = {  # on every family
    "a seed alone is the seed in a block",  # tests/test_same_numbers.py
    "it records what it declares",  # tests/algorithms/test_metrics.py
}
pytestmark = pytest.mark.usefixtures("runs_made_once")
CELLS = list(of_experiments(Project.here(ROOT)))
LEARNERS = [name for name in components("algorithms") if not is_control(name)]


@pytest.mark.parametrize("algorithm", LEARNERS)
def test_every_algorithm_holds_the_contract(algorithm: str):
    cell = in_place_of(CELLS, algorithm)
    for name in CONTRACT.keys() - ELSEWHERE:
        assert not list(CONTRACT[name](cell)), name


HEAD = """
from typing import ClassVar
import numpy as np
from pfedrl.algorithms.dqn.deep_value import DeepValue
from pfedrl.stack.exchange import Exchange, bytes_each, stack_shape
"""
COPY = """
class {name}(DeepValue):
    label: ClassVar[str] = "Mine"
    shares: ClassVar[tuple[str, ...]] = ("body", "head")
"""
MOMENTUM = """
class Momentum(Exchange):
    def __init__(self, steps):
        super().__init__(steps)
        self.velocity = {{}}

    def __call__(self, parts, round):
        for name, part in parts.items():
            part = np.asarray(part)
            mean = part.mean({axes}, keepdims=True)
            velocity = 0.5 * self.velocity.get(name, 0 * mean) + mean
            self.velocity[name] = velocity
            part[...] = 0.5 * velocity
        return {sent}

    def state(self):
        return {state}

    def restore(self, state):
        self.velocity = state.get("velocity", {{}})


class {name}(DeepValue):
    label: ClassVar[str] = "Mine"
    shares: ClassVar[tuple[str, ...]] = ("body", "head")

    def exchange(self, task, seeds):
        return Momentum(self.local_steps)
"""
SOUND = {
    "axes": "1", "sent": "np.full(stack_shape(parts), float(bytes_each(parts, parts)))",
    "state": '{"velocity": self.velocity}',
}  # fmt: skip
BROKEN = {
    "meet": ({"axes": "(0, 1)"}, "seeds never meet", "seeds meet"),
    "uncounted": (
        {"sent": "np.zeros(stack_shape(parts))"}, "bytes are counted as sent", "0 are counted"
    ),
    "forgetful": ({"state": "{}"}, "killed and resumed", "state() lacks something"),
    "shapeless": ({"sent": "np.zeros(3)"}, "shapes of parts and bytes", "bytes that each agent"),
}  # fmt: skip


def failing(path: Path, text: str) -> dict[str, list[str]]:
    path.write_text(HEAD + text)
    found = check(Project.here(ROOT), str(path))
    return {name: faults for name, faults, _ in found if faults}


def test_a_copy_under_another_name_is_refused(tmp_path: Path, outside: None):
    found = failing(tmp_path / "copy_of_fed_dqn.py", COPY.format(name="CopyOfFedDQN"))
    assert found.keys() == {"it is no copy of another"}
    assert found["it is no copy of another"] == [
        "it is DQNAvg (dqn_avg): it records and learns the same numbers"
    ]


def test_a_sound_exchange_passes(tmp_path: Path, outside: None):
    assert not failing(tmp_path / "sound.py", MOMENTUM.format(name="Sound", **SOUND))


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_exchange_is_found(tmp_path: Path, outside: None, kind: str):
    change, name, fault = BROKEN[kind]
    text = MOMENTUM.format(name="Broken", **(SOUND | change))
    found = failing(tmp_path / f"broken_{kind}.py", text)
    assert any(fault in one for one in found[name]), found
