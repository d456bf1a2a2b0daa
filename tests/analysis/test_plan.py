"""What evidence is missing, and its price."""

from dataclasses import replace
from pathlib import Path

import pytest

from pfedrl.analysis.plan import choose
from pfedrl.analysis.plan_tables import as_json, summary, write_plan
from pfedrl.pipeline.costs import START_UP, duration
from tests.analysis.ledgers import claim, ledger, measured, place


def test_claims_share_the_price_of_their_experiment():
    found = ledger(
        {"e": measured(10, 60.0, 300.0)},
        claim("one", e=20),
        claim("two", e=20),
        claim("three", e=40),
    )
    prices = {row["claim"]: row["core_hours"] for row in as_json(found, 1)["claims"]}
    assert prices == {
        "p/one": pytest.approx(1.0), "p/two": pytest.approx(1.0), "p/three": pytest.approx(3.0)
    }  # fmt: skip
    total = found.everything()
    assert total is not None
    assert total.core_hours == pytest.approx(3.0)
    assert len(total.claims) == 3
    assert total.disk_mb == pytest.approx(30 * 0.5)


def test_claims_are_listed_by_price_and_those_without_one_last():
    found = ledger(
        {"dear": measured(10, 100.0), "cheap": measured(10, 1.0)},
        claim("gate", reason="the winner is not shown to beat zero"),
        claim("dear", dear=20), claim("cheap", cheap=20), claim("unmeasured", other=20),
    )  # fmt: skip
    plan = as_json(found, 2)
    assert [row["claim"] for row in plan["claims"]] == [
        "p/cheap", "p/dear", "p/unmeasured", "p/gate"
    ]  # fmt: skip
    assert [row["core_hours"] is None for row in plan["claims"]] == [False, False, True, True]
    assert len(plan["purchases"]) == 2
    assert "4 of 4 claims are open. More seeds should decide 3" in summary(plan)


def test_the_plan_is_a_page_too(tmp_path):
    found = ledger(
        {"cheap": measured(10, 1.0)},
        claim("gate", reason="a | b"), claim("cheap", cheap=20), claim("unmeasured", other=20),
    )  # fmt: skip
    write_plan(found, tmp_path / "plan.md")
    lines = (tmp_path / "plan.md").read_text().splitlines()
    assert summary(as_json(found, 2)) in lines
    assert "| p/cheap | undecided | p/cheap | 10 | 20 | 10 s |" in lines
    assert r"| p/gate | undecided |  |  | a \| b |" in lines
    assert not any("not run" in line for line in lines)  # a table without rows
    assert found.prices() == {("p", "cheap"): pytest.approx(10 / 3600)}


def test_claims_that_wait_for_the_papers_budget_share_a_row_with_its_price(tmp_path):
    def waits(name, *experiments, cut):
        places = tuple(map(place, experiments))
        return replace(claim(name, reason="r"), places=places, cut=cut)

    found = replace(
        ledger(
            {"e": measured(10, 1.0)},
            waits("dear", "e", "f", cut="2 of 9 rounds"),
            waits("one", "e", cut="2 of 9 rounds"), waits("two", "e", cut="2 of 9 rounds"),
            waits("unknown", "g", cut="3 of 4 rounds"),
        ),
        whole={place("e"): measured(0, 270.0), place("f"): measured(0, 360.0), place("g"): None},
    )  # fmt: skip
    write_plan(found, tmp_path / "plan.md")
    lines = (tmp_path / "plan.md").read_text().splitlines()
    rows = [line for line in lines if "rounds" in line]
    assert rows == [
        "| p/e | one, two | 10 | 2 of 9 rounds | 1.5 h |",
        "| p/e, p/f | dear | 10 | 2 of 9 rounds | 3.5 h |",
        "| p/g | unknown |  | 3 of 4 rounds | unknown |",
    ]
    assert any(line.endswith("4 others need the paper's own budget.") for line in lines)
    assert not found.purchases() and not found.prices()  # nothing says that 20 would do


def test_the_papers_budget_is_bought_where_it_should_decide():
    seen = replace(claim("seen", reason="r", e=40), cut="2 of 9 rounds")
    found = replace(
        ledger({"e": measured(10, 1.0), "f": measured(10, 1.0)}, seen, claim("other", f=40)),
        whole={place("e"): replace(measured(0, 3.0), scale="paper", waiting={"cell0": []})},
    )
    first, second = found.purchases()
    assert (first.whole, [c.id for c in first.claims]) == (False, ["other"])
    assert (second.whole, [c.id for c in second.claims]) == (True, ["seen"])
    assert {job.scale for job in second.jobs} == {"paper"}
    assert second.core_hours == pytest.approx(40 * 3 / 3600)  # of all seeds: none are there yet
    everything = found.everything()
    assert everything is not None and everything.upto == {place("f"): 40}
    assert list(found.prices()) == [("p", "other")]


def test_first_is_what_an_hour_decides_most_of():
    found = ledger(
        {"popular": measured(10, 100.0), "cheap": measured(10, 50.0)},
        claim("a", popular=20), claim("b", popular=20), claim("c", popular=20),
        claim("d", cheap=20),
    )  # fmt: skip
    assert [list(p.upto) for p in found.purchases()] == [[place("popular")], [place("cheap")]]
    in_a_hurry = choose(found.purchases(), 50.0 * 10 + START_UP, cores=1)
    assert in_a_hurry is not None
    assert list(in_a_hurry.upto) == [place("cheap")]
    assert choose(found.purchases(), 100.0, cores=1) is None


def test_more_seeds_are_bought_at_once_where_they_decide_more():
    found = ledger({"e": measured(10, 1.0)}, claim("a", e=20), claim("b", e=40), claim("c", e=40),
                   claim("d", e=40), claim("e", e=640))  # fmt: skip
    first = found.purchases()[0]
    assert first.upto == {place("e"): 40}
    assert [c.id for c in first.claims] == ["a", "b", "c", "d"]


def test_a_claim_on_two_experiments_needs_both():
    found = ledger(
        {"e": measured(10, 1.0), "f": measured(10, 1.0)},
        claim("both", e=20, f=20),
        claim("one", e=20),
    )
    decided = {tuple(sorted(p.upto)): [c.id for c in p.claims] for p in found.purchases()}
    assert decided == {(place("e"),): ["one"], (place("e"), place("f")): ["both", "one"]}


def test_new_seeds_follow_the_old_ones_in_the_scales_blocks():
    jobs = measured(10, 2.0, block=8).jobs(place("e"), 40)
    assert [job.seeds for job in jobs] == [
        range(10, 18), range(18, 26), range(26, 34), range(34, 40)
    ]  # fmt: skip
    assert sum(job.seconds for job in jobs) == pytest.approx(60.0)


def test_seeds_that_another_experiment_has_are_taken_and_cost_nothing():
    elsewhere = {Path("0-12"): range(12), Path("12-20"): range(12, 20)}
    found = replace(measured(10, 2.0, 3.0, block=10), twins={"cell1": elsewhere})
    own, taken, new = found.jobs(place("e"), 20) + found.jobs(place("e"), 30)[3:]
    assert (own.seconds, own.taken) == (20.0, ())
    assert (taken.seconds, taken.taken) == (0.0, tuple(elsewhere))
    assert (new.seeds, new.seconds, new.taken) == (range(20, 30), 30.0, ())
    purchase = ledger({"e": found}, claim("a", e=20)).purchases()[0]
    assert purchase.seconds(1) == pytest.approx(20.0 + START_UP)


def test_time_on_several_cores_is_that_of_the_last_job():
    purchase = ledger({"e": measured(10, 30.0, 20.0, 10.0)}, claim("a", e=20)).purchases()[0]
    assert purchase.seconds(1) == pytest.approx(600 + 3 * START_UP)
    assert purchase.seconds(2) == pytest.approx(300 + 2 * START_UP)
    assert purchase.seconds(9) == pytest.approx(300 + START_UP)


@pytest.mark.parametrize(
    ("hours", "said"),
    [(None, "unknown"), (0.003, "11 s"), (0.5, "30.0 min"), (1500.0, "1,500.0 h")],
)
def test_durations_read_well(hours, said):
    assert duration(hours) == said
