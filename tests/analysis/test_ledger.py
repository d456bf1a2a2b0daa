from pfedrl.analysis.ledger import (
    SYMBOLS,
    at_a_glance,
    found,
    groups,
    read_beside,
)
from pfedrl.analysis.verdicts import VERDICTS


def ledger_of(theirs: dict[str, int], ours: dict[str, int]) -> dict:
    """A ledger with so many claims of each verdict."""
    claims = [
        {"id": f"{verdict}_{i}", "verdict": verdict, "ours": asked}
        for counts, asked in ((theirs, False), (ours, True))
        for verdict, count in counts.items()
        for i in range(count)
    ]
    none = dict.fromkeys(VERDICTS, 0)
    return {"claims": claims, "counts": none | theirs, "ours": none | ours}


def a_result(**given) -> dict:
    plain = {"verdict": "undecided", "ours": False, "notes": [], "ways": None, "readings": [],
             "evidence": ["one"], "p_value": 0.5, "p_against": 0.5, "seeds": 20}  # fmt: skip
    return plain | given


def test_every_verdict_has_a_symbol_and_a_place():
    assert set(SYMBOLS) == set(VERDICTS)


def test_what_is_decided_comes_first_and_unfolded():
    judged = ledger_of({"not run": 3, "undecided": 2, "contradicted": 1}, {"undecided": 1})
    shown = [(g.heading, g.unfolded) for g in groups(judged, ours=False)]
    assert shown == [
        ("✗ 1 contradicted", True), ("? 2 undecided", False), ("– 3 not run", False)
    ]  # fmt: skip


def test_where_nothing_is_decided_what_is_open_is_unfolded():
    judged = ledger_of({"not run": 3}, {"undecided": 1, "not run": 1})
    assert [(g.verdict, g.unfolded) for g in groups(judged, ours=True)] == [
        ("undecided", True), ("not run", False)
    ]  # fmt: skip
    assert [g.unfolded for g in groups(judged, ours=False)] == [False]


def test_counts_at_a_glance_have_ours_in_brackets():
    judged = ledger_of({"reproduced": 9, "undecided": 35}, {"reproduced": 1, "contradicted": 2})
    counted = dict(zip(SYMBOLS, at_a_glance(judged), strict=True))
    assert counted["reproduced"] == "9 (1)"
    assert counted["contradicted"] == "(2)"
    assert counted["undecided"] == "35"
    assert counted["not run"] == ""


def test_many_comparisons_are_folded_and_none_is_lost():
    few, many = (a_result(evidence=[f"n = {i} < x" for i in range(n)]) for n in (4, 9))
    assert "<details>" not in found(few)
    assert "<summary>6 more</summary>" in found(many)
    for i in range(9):
        assert f"n = {i} &lt; x" in found(many)


def test_notes_are_never_folded_and_single_readings_are():
    reading = {"words": "K = 1", "verdict": "undecided", "ways": [1, 2], "left_out": 0,
               "effect": 1.0, "low": 0.0, "high": 2.0}  # fmt: skip
    notes = [f"note {i}" for i in range(9)]
    text = read_beside(a_result(notes=notes, readings=[reading, reading]))
    visible, folded = text.split("<details>")
    assert all(note in visible for note in notes)
    assert "of 2 alternative readings we ran, none supports the claim" in visible
    assert folded.startswith("<summary>2 readings</summary>")
    assert folded.count("K = 1: undecided") == 2
