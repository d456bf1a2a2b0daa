"""The figure of an experiment under every reading, from made-up runs."""

import numpy as np

from pfedrl.analysis.drawing import Context
from pfedrl.analysis.figures import readings_figure
from pfedrl.pipeline.paper import Experiment, readings_of, under
from pfedrl.pipeline.reading import Reading
from tests.analysis import fake

VARIANTS = {name: {} for name in ("dqn", "dqn_avg", "lfrl", "random_policy")}
SHARED = {"dqn": {}, "dqn_avg": {"local_steps": 1}, "random_policy": {}}
READINGS = [
    Reading(id="k_1", words="K = 1", experiments=["control"], variants=SHARED),
    Reading(id="k_10", words="K = 10", experiments=["control"], variants=SHARED),
    Reading(id="elsewhere", words="of another one", experiments=["other"], variants=SHARED),
]


def context(tmp_path, ran, variants=VARIANTS, readings=READINGS[:2]) -> Context:
    """An experiment with its readings; `ran` is experiment to seeds."""
    control = Experiment(title="t", family={"name": "made_up"}, variants=variants)
    made = {one.runs("control"): under(one, control) for one in readings}
    experiments = {"control": control, **made}
    summaries = {}
    for experiment, seeds in ran.items():
        cells = []
        for place, (variant, given) in enumerate(experiments[experiment].variants.items()):
            own = {"name": given.get("algorithm", variant)}
            values = np.arange(seeds, dtype=float) + 10 * place
            measured = {("episode", 9, "return_average"): values}
            cells.append(fake.cell(experiment, variant, {}, seeds, measured, **own))
        summaries[experiment] = fake.summary(tmp_path, "pfedrl_rep", *cells)
    artifact = readings_of("control", control, list(made))
    return fake.context(experiments, artifact, summaries, readings=READINGS)


def test_a_row_a_reading_with_the_algorithms_that_all_of_them_have(tmp_path):
    made = context(tmp_path, {"control": 5, "control_k_1": 3, "control_k_10": 4})
    drawn = readings_figure.draw(made)
    data = drawn.data
    assert set(data["cell"]) == {"dqn", "dqn_avg", "random_policy"}, "lfrl has no readings"
    assert list(data["reading"].unique()) == ["as the tables are run", "K = 1", "K = 10"]
    assert data.groupby("reading")["seeds"].first().to_dict() == {
        "as the tables are run": 5, "K = 1": 3, "K = 10": 4
    }  # fmt: skip
    row = data[(data["reading"] == "K = 1") & (data["cell"] == "dqn_avg")].iloc[0]
    assert (row["mean"], row["algorithm"]) == (11.0, "dqn_avg")
    (axis,) = drawn.figure.axes
    labels = [text.get_text() for text in axis.get_yticklabels()]
    assert labels[1] == "K = 1\n3 seeds"
    named = [text.get_text() for text in drawn.figure.legends[0].get_texts()]
    assert named == ["DQN", "DQNAvg", "Random policy"], "each once"


def test_rows_of_another_length_have_an_axis_of_their_own(tmp_path):
    made = context(tmp_path, {"control": 5, "control_k_1": 3, "control_k_10": 4})
    for name, episodes in {"control": 500, "control_k_1": 120, "control_k_10": 500}.items():
        for facts in made.summaries[name].facts["cells"].values():
            facts["settings"]["algorithm"]["episodes"] = episodes
    axes = readings_figure.draw(made).figure.axes
    assert [axis.get_title("left") for axis in axes] == [
        "(a) t, 500 episodes",
        "(b) t, 120 episodes",
    ]
    assert [len(axis.get_yticklabels()) for axis in axes] == [2, 1]


def test_readings_that_were_not_run_are_left_out(tmp_path):
    drawn = readings_figure.draw(context(tmp_path, {"control": 5, "control_k_10": 4}))
    assert list(drawn.data["reading"].unique()) == ["as the tables are run", "K = 10"]


def test_two_variants_of_one_algorithm_have_a_name_a_colour_and_a_place_each(tmp_path):
    pair = {f"dqn_avg_{k}": {"algorithm": "dqn_avg", "local_steps": k} for k in (48, 96)}
    rate = {name: {"learning_rate": 0.1} for name in pair}
    low = Reading(id="low", words="a low rate", experiments=["control"], variants=rate)
    made = context(tmp_path, {"control": 5, "control_low": 3}, pair, [low])
    (axis,) = readings_figure.draw(made).figure.axes
    handles, named = axis.get_legend_handles_labels()
    assert len(set(named)) == 2, named
    assert len({handle.get_color() for handle in handles}) == 2
    places = [float(handle.get_ydata()[0]) for handle in handles]
    assert places[0] != places[1]
