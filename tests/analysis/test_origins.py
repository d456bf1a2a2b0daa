"""Which seeds came from which commit and machine."""

import json

from pfedrl.analysis.origins import in_words, origins

from pfedrl.analysis.report import report

FIRST = {"commit": "aaa", "processor": "AMD EPYC"}
SECOND = {"commit": "bbb", "processor": "Xeon"}


def runs(*blocks):
    return [{"seeds": [start, stop], **source} for start, stop, source in blocks]


def test_cells_that_share_seeds_commit_and_processor_are_one_entry():
    cells = {f"cell_{i}": runs((0, 2, FIRST), (2, 4, FIRST), (4, 9, SECOND)) for i in range(7)}
    found = origins(cells)
    assert found == [
        {"seeds": [0, 4], "cells": list(cells), **FIRST},
        {"seeds": [4, 9], "cells": list(cells), **SECOND},
    ]
    assert in_words("figure6", found) == [
        "figure6: seeds 0 to 3, 7 cells, commit aaa, AMD EPYC",
        "figure6: seeds 4 to 8, 7 cells, commit bbb, Xeon",
    ]


def test_the_same_commit_on_another_machine_is_another_entry():
    elsewhere = FIRST | {"processor": "Xeon"}
    found = origins({"dqn": runs((0, 1, FIRST)), "lfrl": runs((0, 1, elsewhere))})
    assert in_words("e", found) == [
        "e: seed 0, 1 of 2 cells (dqn), commit aaa, AMD EPYC",
        "e: seed 0, 1 of 2 cells (lfrl), commit aaa, Xeon",
    ]


def test_few_cells_are_named_and_many_are_counted():
    cells = {f"a{i}": runs((0, 3, FIRST)) for i in range(6)}
    cells |= {f"b{i}": runs((0, 3, SECOND)) for i in range(2)}
    assert in_words("e", origins(cells)) == [
        "e: seeds 0 to 2, 6 of 8 cells, commit aaa, AMD EPYC",
        "e: seeds 0 to 2, 2 of 8 cells (b0, b1), commit bbb, Xeon",
    ]


def test_what_was_taken_over_is_told_where_it_was_run():
    # a file of rows taken from several runs has the commit of the first
    taken = {"taken_from": "control/dqn", **FIRST}
    found = origins({"dqn": runs((0, 20, taken)), "dqn_avg": runs((0, 20, SECOND))})
    assert found[1] == {"seeds": [0, 20], "cells": ["dqn"], "taken_from": "control"}
    assert in_words("k_1", found) == [
        "k_1: seeds 0 to 19, 1 of 2 cells (dqn_avg), commit bbb, Xeon",
        "k_1: seeds 0 to 19, 1 of 2 cells (dqn), reused from control",
    ]


def test_a_run_that_does_not_name_its_processor_has_its_commit():
    found = origins({"dqn": runs((0, 2, {"commit": "aaa"}))})
    assert in_words("e", found) == ["e: seeds 0 to 1, 1 cell, commit aaa"]


def test_a_page_of_what_was_drawn_before_has_seeds_and_commits_apart(project, tmp_path):
    known = {
        "paper": "qavg", "caption": "", "command": "", "scale": "laptop", "printed": [],
        "seeds": {"theory": [0, 8], "other": [0, 4]}, "commits": ["aaa", "bbb"], "versions": {},
        "core_seconds": 1, "peak_memory_mb": 1, "run_files": {},
    }  # fmt: skip
    folder, page = tmp_path / "figures", tmp_path / "index.html"
    (folder / "qavg").mkdir(parents=True)

    def shown(**more):
        (folder / "qavg" / "theory.json").write_text(json.dumps(known | more))
        report(project, folder, tmp_path / "claims", page)
        return page.read_text()

    before = shown()
    assert "<dt>Seeds</dt><dd>theory 0 to 7; other 0 to 3</dd><dt>Commit</dt><dd>aaa, bbb" in before
    assert "<dt>Runs</dt>" not in before
    made = origins({"lemma1": runs((0, 8, FIRST)), "theorem1": runs((0, 8, FIRST))})
    some = shown(origins={"theory": made})
    assert "<dd>other 0 to 3</dd><dt>Commit</dt><dd>aaa, bbb" in some
    every = shown(origins={"theory": made, "other": made})
    line = "seeds 0 to 7, 2 cells, commit aaa, AMD EPYC"
    assert f"<dt>Runs</dt><dd>theory: {line}<br>other: {line}</dd>" in every
    assert "<dt>Seeds</dt>" not in every and "<dt>Commit</dt>" not in every
