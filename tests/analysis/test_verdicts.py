"""From comparisons to a verdict on a sentence."""

import numpy as np
import pytest
from pfedrl.analysis.ledger import beside
from pfedrl.analysis.verdicts import (
    AT_TOP,
    NOT_ABOVE_CONTROL,
    ONE_SEED,
    Verdict,
    at_budget,
    decide,
    expected_wrong,
    gated,
)

from pfedrl.analysis.claims import judge, readings
from pfedrl.analysis.evidence import next_look, seeds_needed
from pfedrl.analysis.outcomes import Apart, Contrast, Outcome, above, judged, within, without
from pfedrl.pipeline.claim import Claim
from pfedrl.pipeline.paper import Paper
from pfedrl.pipeline.reading import Reading
from tests.analysis import fake

GREATER = {
    "kind": "greater", "experiment": "e", "metric": "objective", "greater": "good",
    "smaller": "poor",
}  # fmt: skip


def claim(*tests, **rest) -> Claim:
    chosen = list(tests) or [GREATER]
    return Claim.model_validate({"id": "c", "words": "w", "where": "s", "test": chosen, **rest})


def outcome(p_for=1.0, p_against=1.0, p_for_without=None, p_against_without=None, **rest):
    return Outcome(
        "found", 20, p_for=p_for, p_against=p_against,
        p_for_without=p_for if p_for_without is None else p_for_without,
        p_against_without=p_against if p_against_without is None else p_against_without,
        **rest,
    )  # fmt: skip


def apart(distance: float) -> Outcome:
    return outcome(apart=Apart(distance, spread=1.0, seeds=20, ways=1))


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([outcome(p_for=0.001), outcome(p_for=0.009)], "reproduced"),  # all at the level each
        ([outcome(p_for=0.001), outcome(p_for=0.02)], "undecided"),
        ([outcome(p_for=0.001), outcome(p_against=0.004)], "contradicted"),
        ([outcome(p_for=0.001), outcome(p_against=0.006)], "undecided"),  # Holm: of two, 0.005
        ([outcome(p_for=0.001), Outcome("", 0, "not run")], "not run"),
        ([outcome(p_against=0.001), Outcome("", 0, "not run")], "contradicted"),
        ([Outcome("", 9, "outside its assumptions")], "outside its assumptions"),
        ([Outcome("", 9, "reproduced"), outcome(p_for=0.001)], "reproduced"),
        ([Outcome("", 9, "contradicted"), outcome(p_for=0.001)], "contradicted"),
    ],
)
def test_all_comparisons_must_hold_and_one_reversed_contradicts(outcomes, expected):
    assert decide(claim(), outcomes).verdict == expected


def test_a_claim_does_not_depend_on_its_neighbours():
    alone = decide(claim(), [outcome(p_for=0.008)])
    assert alone.verdict == "reproduced"  # whatever else the paper says


def test_a_verdict_that_one_seed_carries_is_not_given():
    for side in ("for", "against"):
        found = decide(claim(), [outcome(**{f"p_{side}": 0.001, f"p_{side}_without": 0.02})])
        assert found.verdict == "undecided"
        assert ONE_SEED in found.notes[0]
        assert found.needed == next_look(outcome().seeds)


def test_leaving_out_a_seed_is_tried_on_the_data():
    values = np.r_[np.full(19, 1.0), 3.0] + 0.9 * np.random.default_rng(5).normal(size=20)
    found = judged([Contrast("d", values)], above(-3.0))
    assert found.p_for_without > found.p_for


def test_an_undecided_claim_takes_the_seeds_until_all_hold_or_one_is_reversed():
    close, far = seeds_needed(0.2, 1.0, 20), seeds_needed(0.8, 1.0, 20)
    assert far < seeds_needed(-0.8, 1.0, 20, times=1000) < close
    assert decide(claim(), [apart(0.8), apart(0.2)]) == Verdict("undecided", [], close)
    assert decide(claim(), [apart(-0.8), apart(0.2)]).needed == seeds_needed(0.8, 1.0, 20, times=2)
    assert decide(claim(), [outcome(p_for=0.001), apart(0.8)]).needed == far
    none = decide(claim(), [apart(0.0)])
    assert none.needed is None and "no feasible number" in none.notes[0]


def test_seeds_that_cannot_speak_for_a_claim_are_not_asked_for():
    values = 1 + 0.1 * np.random.default_rng(0).normal(size=5)
    found = judged([Contrast("d", values)], above())
    assert found.seeds_to_hold() == 20
    assert without(found, p_for=True).seeds_to_hold() is None
    reversed_ = judged([Contrast("d", -values)], above())
    assert reversed_.seeds_to_fail(tests=1) == 20
    assert without(reversed_, p_against=True).seeds_to_fail(tests=1) is None


def test_seeds_are_said_to_decide_a_claim_or_to_decide_it_at_this_budget():
    open_, seeds = Verdict("undecided", needed=40), "about 40 similar seeds would decide this"
    budget = "reduced budget: 20 of 200 rounds"
    assert at_budget(claim(), open_, "").notes == [seeds]
    short = at_budget(claim(), open_, "20 of 200 rounds").notes
    assert short == [f"{seeds} at this budget", budget]
    free = at_budget(claim(budget_free="it is"), open_, "20 of 200 rounds").notes
    assert free == [seeds, budget, "it is"]


def test_evidence_counts_the_seeds_that_the_comparison_won_and_lost():
    differences = np.array([2.0, 1.0, 0.5, 0.0, 1e-12, -1.0])  # two ties, but for rounding
    for rule, counts in (
        (above(), "3 for, 1 against"),
        (above(1), "1 for, 4 against"),
        (within(0.9), "3 for, 3 against"),
    ):
        found = judged([Contrast("d", differences)], rule).evidence
        assert f"6 paired seeds ({counts})" in found


def test_a_printed_time_is_not_judged_in_a_shorter_training():
    time = {"kind": "near", "experiment": "e", "cell": "good", "metric": "t", "value": 110,
            "margin": 22}  # fmt: skip
    for verdict in (Verdict("contradicted"), Verdict("undecided", needed=40)):
        found = at_budget(claim(time | {"ends": "round"}), verdict, "20 of 200 rounds")
        assert found.verdict == "undecided"
        assert found.needed is None
        assert "the printed numbers are for the paper's full budget" in found.notes
    level = at_budget(claim(time), Verdict("contradicted"), "20 of 200 rounds")
    assert level.verdict == "leans against"  # no time


def test_a_cut_budget_leans():
    for verdict, leaning in (("reproduced", "leans for"), ("contradicted", "leans against")):
        found = at_budget(claim(), Verdict(verdict), "20 of 200 rounds")
        assert found == Verdict(leaning, ["reduced budget: 20 of 200 rounds"])
    assert at_budget(claim(), Verdict("reproduced"), "").verdict == "reproduced"
    free = at_budget(claim(budget_free="it is about the start"), Verdict("reproduced"), "20 of 200")
    assert free.verdict == "reproduced" and "it is about the start" in free.notes


def test_printed_numbers_of_a_longer_budget_are_not_judged():
    printed = claim({"kind": "agrees", "artifact": "table1"})
    assert at_budget(printed, Verdict("contradicted"), "20 of 200 rounds").verdict == "undecided"


@pytest.fixture
def summary(tmp_path):
    """Two algorithms and two controls, forty seeds, by the level of each."""

    def made(seeds=40, **levels):
        noise = np.random.default_rng(0).normal(size=(len(levels), seeds))
        cells = [
            fake.cell("e", variant, {}, seeds, {("iteration", 0, "objective"): level + row})
            for row, (variant, level) in zip(noise, levels.items(), strict=True)
        ]
        return fake.summary(tmp_path, "qavg", *cells)

    return made


PAPER = Paper(paper="qavg", short="T", title="t", reference="r", experiments={})


@pytest.mark.parametrize(
    ("zero", "best", "expected", "says"),
    [
        (0, 99, "reproduced", ""),
        (20, 99, "undecided", f"good {NOT_ABOVE_CONTROL} zero"),
        (10, 99, "undecided", f"good {NOT_ABOVE_CONTROL} zero"),
        (-990, 10.5, "undecided", f"{AT_TOP} best"),
    ],
)
def test_no_order_below_the_floor_or_at_the_ceiling(summary, zero, best, expected, says):
    data = {"e": summary(good=10, poor=5, zero=zero, best=best)}
    found = judge(claim(floor={"cell": "zero"}, ceiling={"cell": "best"}), PAPER, data)
    assert found["verdict"] == expected
    assert says in "; ".join(found["notes"])


def test_the_ceiling_may_be_of_another_experiment_which_must_have_been_run(summary):
    data = {"e": summary(good=10, poor=5, zero=-990)}
    gate = {"floor": {"cell": "zero"}, "ceiling": {"cell": "best", "experiment": "long"}}
    found = judge(claim(**gate), PAPER, data)
    assert found["verdict"] == "undecided"
    assert "the ceiling experiment long was not run" in found["notes"]
    data["long"] = summary(best=10.5)
    assert f"{AT_TOP} best" in judge(claim(**gate), PAPER, data)["notes"]
    data["long"] = summary(best=99)
    assert judge(claim(**gate), PAPER, data)["verdict"] == "reproduced"


def test_a_reversed_order_needs_its_own_winner_above_the_floor(summary):
    data = {"e": summary(good=5, poor=10, zero=7)}
    assert judge(claim(floor={"cell": "zero"}), PAPER, data)["verdict"] == "contradicted"
    data = {"e": summary(good=5, poor=10, zero=12)}
    assert judge(claim(floor={"cell": "zero"}), PAPER, data)["verdict"] == "undecided"


def test_a_gate_looks_at_verdicts_only(summary):
    data = {"e": summary(good=10, poor=5, zero=20)}
    open_ = Verdict("undecided", ["why"])
    assert gated(claim(floor={"cell": "zero"}), open_, [outcome()], data) == open_


def test_one_reversed_order_contradicts_whatever_the_others_are_worth(summary):
    both = [GREATER, GREATER | {"smaller": "useless"}]
    floor = {"cell": "zero"}
    found = judge(
        claim(*both, floor=floor), PAPER, {"e": summary(good=10, poor=20, useless=1, zero=5)}
    )
    assert found["verdict"] == "contradicted"
    found = judge(
        claim(*both, floor=floor), PAPER, {"e": summary(good=2, poor=4, useless=1, zero=5)}
    )
    assert found["verdict"] == "undecided"
    assert found["notes"] == [f"poor {NOT_ABOVE_CONTROL} zero (objective)"]


def test_all_orders_of_what_holds_need_a_winner_that_beats_the_control(summary):
    both = [GREATER, GREATER | {"greater": "fair", "smaller": "useless"}]
    data = summary(good=10, poor=1, fair=4, useless=1, zero=5)
    found = judge(claim(*both, floor={"cell": "zero"}), PAPER, {"e": data})
    assert found["verdict"] == "undecided"
    assert found["notes"] == [f"fair {NOT_ABOVE_CONTROL} zero (objective)"]


def test_the_one_expected_to_win_is_not_shielded_by_the_control_that_it_does_not_beat(summary):
    floor = {"cell": "zero", "winner": "good"}
    found = judge(claim(floor=floor), PAPER, {"e": summary(good=5, poor=20, zero=5)})
    assert found["verdict"] == "contradicted"  # by one that beats it
    found = judge(claim(floor=floor), PAPER, {"e": summary(good=2, poor=4, zero=5)})
    assert found["notes"] == [f"poor {NOT_ABOVE_CONTROL} zero (objective)"]


def test_what_contradicts_a_claim_stands_first(summary):
    reverse = GREATER | {"greater": "poor", "smaller": "good"}
    data = {"e": summary(good=10, poor=5)}
    for tests in ((GREATER, reverse), (reverse, GREATER)):
        result = judge(claim(*tests), PAPER, data)
        assert result["verdict"] == "contradicted"
        assert [words.split(" = ")[0] for words in result["evidence"]] == [
            "poor minus good", "good minus poor"
        ]  # fmt: skip


def test_that_one_is_near_a_number_counts_only_if_it_beats_the_control(summary):
    near = {"kind": "near", "experiment": "e", "cell": "good", "metric": "objective", "value": 0}
    floor = {"cell": "zero", "winner": "good"}
    small, large = (claim(near | {"margin": m, "side": "below"}, floor=floor) for m in (30, 1))
    found = judge(small, PAPER, {"e": summary(good=10, zero=20)})
    assert found["notes"] == [f"good {NOT_ABOVE_CONTROL} zero (objective)"]
    assert judge(small, PAPER, {"e": summary(good=10, zero=5)})["verdict"] == "reproduced"
    # that it is not is no praise
    assert judge(large, PAPER, {"e": summary(good=10, zero=20)})["verdict"] == "contradicted"


def test_a_winner_beats_the_control_whichever_seed_is_left_out(summary, monkeypatch):
    data = {"e": summary(good=10, poor=5, zero=1)}
    with_floor = claim(floor={"cell": "zero"})
    assert judge(with_floor, PAPER, data)["verdict"] == "reproduced"
    monkeypatch.setattr("pfedrl.analysis.verdicts.worst_without_one", lambda samples, p: 0.02)
    found = judge(with_floor, PAPER, data)
    assert found["notes"] == [f"good {NOT_ABOVE_CONTROL} zero (objective)"]


def test_few_seeds_decide_nothing_however_clear(summary):
    found = judge(claim(), PAPER, {"e": summary(seeds=10, good=50, poor=5)})
    assert found["verdict"] == "undecided"
    assert found["needed"] == 20


def test_readings_are_judged_apart_and_those_not_run_are_named(summary):
    data = summary(good=10, poor=5)
    page = Paper.model_construct(
        paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={}, claims=[],
        readings=[
            Reading(id="k1", words="K = 1", experiments=["e"], variants={"good": {"k": 1}}),
            Reading(id="k10", words="K = 10", experiments=["e"], variants={"good": {"k": 1}}),
            Reading(id="other", words="elsewhere", experiments=["f"], variants={"good": {"k": 1}}),
        ],
    )  # fmt: skip
    found = readings(claim(), page, {"e": data, "e_k1": data}, lambda tests: "")
    assert [(r["id"], r["verdict"]) for r in found] == [("k1", "reproduced"), ("k10", "not run")]
    said, each = beside({"verdict": "undecided", "notes": [], "ways": None, "readings": found})
    assert said == ["of 1 alternative reading we ran, 1 supports the claim", "not run: K = 10"]
    effect, low, high = (found[0][key] for key in ("effect", "low", "high"))
    assert low < effect < high
    assert each == [f"K = 1: reproduced, {effect:.3g} ({low:.3g} to {high:.3g})"]
    found = readings(claim(), page, {"e": data}, lambda tests: "")
    said, each = beside({"verdict": "undecided", "notes": [], "ways": None, "readings": found})
    assert len(said) == 1 and said[0].startswith("2 alternative readings declared, none run")
    assert not each


def test_a_reading_counts_only_where_it_can_change_what_is_compared(summary):
    data = summary(good=10, poor=5)
    reading = Reading(id="k1", words="K = 1", experiments=["e"], variants={"good": {"k": 1}})

    def counted(changes: str) -> int:
        """How many readings the claim has, if this one changes metrics that begin so."""
        page = Paper.model_construct(
            paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={},
            claims=[],
            readings=[reading.model_copy(update={"changes": changes})],
        )  # fmt: skip
        return len(readings(claim(), page, {"e": data, "e_k1": data}, lambda tests: ""))

    metric = GREATER["metric"]
    assert [counted(changes) for changes in ("", metric[:2], f"{metric}_late")] == [1, 1, 0]


def test_too_few_seeds_still_say_which_way_the_means_go(summary):
    reverse = GREATER | {"greater": "poor", "smaller": "good"}
    beyond = GREATER | {"margin": 7}
    data = summary(seeds=3, good=10, poor=5)
    page = Paper.model_construct(
        paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={}, claims=[],
        readings=[Reading(id="k1", words="K = 1", experiments=["e"], variants={"good": {"k": 1}})],
    )  # fmt: skip
    three = claim(GREATER, reverse, beyond)
    found = judge(three, page, {"e": data})
    assert (found["verdict"], found["ways"]) == ("undecided", [1, 3])
    other = readings(three, page, {"e_k1": data}, lambda tests: "")
    said, each = beside(found | {"notes": [], "readings": other})
    assert said == [
        "1 of 3 means agree with the paper",
        "of 1 alternative reading we ran, none supports the claim",
    ]
    assert each == ["K = 1: undecided, 1 of 3 means agree with the paper"]
    both = readings(claim(GREATER, GREATER), page, {"e_k1": data}, lambda tests: "")
    said, _ = beside(found | {"notes": [], "readings": both})
    assert said[1].endswith("none supports the claim; in 1, the means point its way")


def test_a_reading_with_fewer_variants_is_judged_by_those_it_has_and_never_holds(summary):
    absent = GREATER | {"smaller": "absent"}
    reverse = GREATER | {"greater": "poor", "smaller": "good"}
    data = summary(good=10, poor=5)
    page = Paper.model_construct(
        paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={}, claims=[],
        readings=[Reading(id="k1", words="K = 1", experiments=["e"], variants={"good": {"k": 1}})],
    )  # fmt: skip
    for first, verdict, way in ((GREATER, "undecided", 1), (reverse, "contradicted", 0)):
        found = readings(claim(first, absent), page, {"e_k1": data}, lambda tests: "")[0]
        assert (found["verdict"], found["ways"], found["left_out"]) == (verdict, [way, 1], 1)
    said, each = beside({"verdict": "undecided", "notes": [], "ways": None, "readings": [found]})
    assert said == ["of 1 alternative reading we ran, none supports the claim"]
    assert each[0].endswith(", 1 comparison not run")


def test_only_readings_that_change_what_is_compared_are_judged():
    page = Paper.model_construct(
        paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={}, claims=[],
        readings=[
            Reading(id="k1", words="K", experiments=["e"], variants={"good": {"k": 1}, "zero": {}}),
            Reading(id="m", words="M", metrics={"objective": "other", "unused": "other"}),
        ],
    )  # fmt: skip

    def judged(**test) -> list[str]:
        return [r["id"] for r in readings(claim(GREATER | test), page, {}, lambda _: "")]

    assert judged() == ["k1", "m"]
    assert judged(greater="zero", smaller="poor") == ["m"]
    assert judged(greater="zero", smaller="poor", metric="third") == []


def test_a_reading_of_another_metric_looks_so_at_the_control_too():
    reading = Reading(id="m", words="M", metrics={"a": "b"})
    floor = claim(floor={"cell": "zero", "metric": "a"}).floor
    assert reading.floor(floor).metric == "b"
    assert reading.floor(None) is None
    pair = claim(GREATER | {"metric": "c", "greater_metric": "a"}).tests[0]
    assert reading.of(pair).greater_metric == "b"


def test_a_reading_may_look_at_another_cell(summary):
    page = Paper.model_construct(
        paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={}, claims=[],
        readings=[Reading(id="slow", words="poor at its slowest", cells={"poor": "slow"})],
    )  # fmt: skip
    data = {"e": summary(good=10, poor=20, slow=5, zero=1)}
    assert judge(claim(), page, data)["verdict"] == "contradicted"
    found = readings(claim(), page, data, lambda _: "")
    assert [(r["id"], r["verdict"]) for r in found] == [("slow", "reproduced")]
    assert not readings(claim(GREATER | {"smaller": "zero"}), page, data, lambda _: "")


def test_a_reading_with_a_shorter_training_only_leans(summary):
    data = summary(good=10, poor=5)
    page = Paper.model_construct(
        paper="qavg", short="T", title="t", reference="r", experiments={}, artifacts={}, claims=[],
        readings=[Reading(id="k1", words="K = 1", experiments=["e"], variants={"good": {"k": 1}})],
    )  # fmt: skip
    cut = {"e": "", "e_k1": "20 of 200 rounds"}
    found = readings(claim(), page, {"e_k1": data}, lambda tests: cut[tests[0].experiment])
    assert [r["verdict"] for r in found] == ["leans for"]


def test_the_ledger_says_how_many_verdicts_may_be_wrong():
    results = [
        {"p_value": 0.001, "seeds": 40},
        {"p_value": 0.5, "seeds": 20},  # undecided, but it could have been decided
        {"p_value": 1.0, "seeds": 10},
        {"p_value": None, "seeds": 8000},  # of instances
    ]
    assert expected_wrong(results) == (2, pytest.approx(0.02))
