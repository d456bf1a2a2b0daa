import math

import pandas as pd
import pytest

from pfedrl.analysis.tables import (
    Column,
    Section,
    Table,
    estimate,
    latex,
    left_out_note,
    markdown,
    signed,
    tex,
)
from pfedrl.core.errors import PfedrlError
from tests.tiny import ROOT

TABLE = Table(
    [Column("κ", words=True), Column("Ours", "QAvg"), Column("Paper", "QAvg"), Column("100%")],
    [Section("Windy_Cliffs", [["0", "1.00 ± 0.05", "–", "−3 | 4"]])],
    pd.DataFrame(),
)


@pytest.mark.parametrize(
    ("mean", "error", "missing", "text"),
    [
        (35.418, 0.052, 0, "35.42 ± 0.05"),
        (-1.0, 0.5, 0, "−1.00 ± 0.50"),
        (133.96512, 0.0021, 0, "133.9651 ± 0.0021"),
        (133.96512, 0.0, 0, "133.97 ± 0.00"),
        (133.96512, 1e-7, 0, "133.97 ± 0.00"),
        (2.0, math.nan, 0, "2.00"),
        (math.nan, math.nan, 5, "no value"),
        (2.0, 0.1, 1, "2.00 ± 0.10†"),
        (-505.17, 55.71, 0, "−505.2 ± 55.7"),
        (69085.51, 5004.54, 0, "69086 ± 5005"),
    ],
)
def test_estimates_show_the_digits_that_the_error_supports(mean, error, missing, text):
    assert estimate(mean, error, missing) == text


def test_only_what_is_recorded_to_have_diverged_is_called_so():
    assert estimate(math.nan, math.nan, missing=5, diverged=5) == "diverged"
    assert estimate(math.nan, math.nan, missing=5, diverged=2) == "no value"
    assert estimate(2.0, 0.1, missing=3, diverged=2) == "2.00 ± 0.10†"


@pytest.mark.parametrize(
    ("missing", "diverged", "why"),
    [(2, 0, "have no value"), (2, 2, "diverged"), (3, 2, "diverged or have no value")],
)
def test_the_note_says_why_seeds_are_left_out(missing, diverged, why):
    data = pd.DataFrame({"missing": [0, missing], "diverged": [0, diverged]})
    assert left_out_note(data) == [f"† Some seeds {why} and are excluded from the mean."]
    assert left_out_note(data[:1]) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.25, "+1.2"), (-0.01, "0.0"), (0, "0.0"), (-2.5, "−2.5"), (-10.0, "−10.0"),
     (math.inf, "+∞"), (math.nan, "–")],
)  # fmt: skip
def test_deviations_have_a_sign_and_one_zero(value, text):
    assert signed(value) == text


def test_markdown_names_groups_in_every_heading():
    lines = markdown(TABLE, "Title", "Caption.").splitlines()
    assert lines[0] == "**Title.** Caption."
    assert lines[2] == "| κ | QAvg ours | QAvg paper | 100% |"
    assert lines[3] == "|:--|--:|--:|--:|"
    assert lines[4] == "| **Windy_Cliffs** |  |  |  |"
    assert lines[5] == r"| 0 | 1.00 ± 0.05 | – | −3 \| 4 |"


def test_latex_spans_groups_and_escapes():
    text = latex(TABLE, "Title", "50% & more.", "qavg-table1")
    assert r"\multicolumn{2}{c}{QAvg}" in text
    assert r"\cmidrule(lr){2-3}" in text
    assert r"50\% \& more." in text
    assert r"\textit{Windy\_Cliffs}" in text
    assert r"1.00 $\pm$ 0.05 & -- & $-$3 $|$ 4 \\" in text
    assert all(rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule"))
    assert r"\begin{tabular}{lrrr}" in text
    assert text.isascii()


def test_a_column_has_one_precision():
    rows = [["a", estimate(1.234, 0.01)], ["b", estimate(123.4, 12.3)], ["c", estimate(5.0, 0.2)]]
    table = Table([Column("n", words=True), Column("v")], [Section("", rows)], pd.DataFrame())
    shown = [row[1] for row in table.sections[0].rows]
    assert shown == ["1.23 ± 0.01", "123.40 ± 12.30", "5.00 ± 0.20"]


def test_latex_is_ascii_and_what_has_no_latex_is_named():
    assert tex("π ≤ 3^2 {x} ~ |y|").isascii()
    with pytest.raises(PfedrlError, match="☃"):
        tex("a ☃")


def test_committed_latex_is_ascii_and_its_braces_match():
    files = sorted((ROOT / "paper_figures").glob("*/*.tex"))
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert text.isascii(), path
        bare = text.replace(r"\\", "").replace(r"\{", "").replace(r"\}", "")
        assert bare.count("{") == bare.count("}"), path
