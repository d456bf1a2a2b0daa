"""One style for an algorithm, in every figure and for every reader."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from pfedrl.analysis.style import Style, every_style, file_name, free_styles, listed_styles
from pfedrl.core.errors import PfedrlError
from pfedrl.core.registry import components
from pfedrl.pipeline.project import Project
from tests.tiny import ROOT

# what a reader without green cones sees: Machado, Oliveira and Fernandes (2009), linear RGB
DEUTERANOPIA = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
TOLD_APART = 10  # a difference in CIE Lab that is seen at a glance; 2.3 is just seen


def seen(colour: str) -> np.ndarray:
    """A colour in CIE Lab, as a deuteranope sees it."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(DEUTERANOPIA @ linear, 0, 1) / (XYZ @ np.ones(3))
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def experiments() -> dict[str, set[str]]:
    """The algorithms of every experiment that has more than one."""
    found = {}
    for paper, page in Project.here(ROOT).papers.items():
        for name, spec in page.experiments.items():
            named = {given.get("algorithm", variant) for variant, given in spec.variants.items()}
            if spec.family is not None and len(named) > 1:
                found[f"{paper}/{name}"] = {file_name(algorithm) for algorithm in named}
    return found


@pytest.mark.parametrize("name", experiments())
def test_algorithms_that_share_a_figure_are_told_apart_without_green_and_red(name):
    styles = every_style(listed_styles(Project.here(ROOT)))
    for one, other in combinations(sorted(experiments()[name]), 2):
        first, second = styles.of(one), styles.of(other)
        apart = np.linalg.norm(seen(first.colour) - seen(second.colour))
        assert apart >= TOLD_APART or first.line != second.line, (one, other, apart)


def test_red_and_green_of_equal_lightness_are_not_told_apart():
    plain = np.linalg.norm(seen("#FF0000") - seen("#0000FF"))
    assert plain > TOLD_APART > np.linalg.norm(seen("#CC4422") - seen("#7F7F22"))


def test_an_algorithm_of_tables_and_of_nets_is_drawn_alike():
    styles = every_style(listed_styles(Project.here(ROOT)))
    assert styles.of("dqn/fedq_k") == styles.of("td/fedq_k")


def test_an_algorithm_that_is_not_listed_gets_a_free_style_the_same_each_time():
    listed = dict(listed_styles(Project.here(ROOT)))
    del listed["qavg"], listed["lfrl"]
    first, again = every_style(listed), every_style(listed)
    assert first == again
    chosen = [first.of("qavg"), first.of("lfrl")]
    taken = {(style.colour, style.line) for style in listed.values()}
    assert len({(s.colour, s.line) for s in chosen} | taken) == len(taken) + 2


def test_free_styles_are_distinct_and_serve_more_than_half_of_the_algorithms():
    free = list(free_styles([]))
    assert len({(style.colour, style.line) for style in free}) == len(free)
    assert len(free) > len(components("algorithms")) / 2


def test_every_listed_style_is_used_and_a_wrong_name_gets_the_nearest(tmp_path):
    (tmp_path / "workflow" / "papers").mkdir(parents=True)
    project = Project.here(tmp_path)
    assert listed_styles(project) == {}
    path = tmp_path / "workflow" / "style.yaml"
    path.write_text("algorithms: {qavgg: {colour: '#000000'}}")
    with pytest.raises(PfedrlError, match=r"style\.yaml.*Did you mean 'qavg'"):
        listed_styles(project)
    path.write_text("algorithms: {qavg: {color: '#000000'}}")
    with pytest.raises(PfedrlError, match=r"style\.yaml.*unknown key 'color'.*'colour'"):
        listed_styles(project)
    path.write_text("algorithms: {qavg: {colour: '#000000'}}")
    assert listed_styles(project) == {"qavg": Style(colour="#000000")}
