"""Tables: one structure, written for a reader (md), a paper (tex) and a program (csv)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pfedrl.core.errors import PfedrlError

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "–"
WIDE = 8  # columns beyond which a table is shrunk to the text's width
TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "$": r"\$",
    "{": r"\{", "}": r"\}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "|": "$|$",
    "±": r"$\pm$", "−": "$-$", "∞": r"$\infty$", "Δ": r"$\Delta$", "κ": r"$\kappa$",
    "π": r"$\pi$", "τ": r"$\tau$", "Φ": r"$\Phi$", "ε": r"$\epsilon$", "γ": r"$\gamma$",
    "≥": r"$\geq$", "≤": r"$\leq$", "–": "--", "’": "'", "†": r"$\dagger$", "×": r"$\times$",
    "<": "$<$", ">": "$>$",
}  # fmt: skip


class Aligned(str):
    """A cell of numbers that get as many digits as the others of its column.

    `form` takes the values in order, and their digits as d.
    """

    form: str
    values: tuple[float, ...]
    digits: int

    def __new__(cls, form: str, values: tuple[float, ...], digits: int) -> Aligned:
        made = super().__new__(cls, form.format(*values, d=digits).replace("-", "−"))
        made.form, made.values, made.digits = form, values, digits
        return made


@dataclass(frozen=True)
class Column:
    """A column; neighbours of the same group share a heading above their own."""

    title: str
    group: str = ""
    words: bool = False  # not numbers: set from the left

    def full_title(self) -> str:
        own = self.title.lower() if self.group and self.title.isalpha() else self.title
        return f"{self.group} {own}".strip()


@dataclass(frozen=True)
class Section:
    """Rows of text under a heading of their own."""

    title: str
    rows: list[list[str]]


@dataclass(frozen=True)
class Table:
    """What a reader sees, and in `data` the same numbers in full."""

    columns: list[Column]
    sections: list[Section]
    data: pd.DataFrame
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = [row for section in self.sections for row in section.rows]
        for place in range(len(self.columns)):
            cells = {at: row[place] for at, row in enumerate(rows)}
            own = {at: cell for at, cell in cells.items() if isinstance(cell, Aligned)}
            if own:
                digits = sorted(cell.digits for cell in own.values())[len(own) // 2]
                for at, cell in own.items():
                    rows[at][place] = Aligned(cell.form, cell.values, digits)

    def groups(self) -> list[tuple[str, int]]:
        """Each heading above the columns and how many columns it spans."""
        spans: list[tuple[str, int]] = []
        for column in self.columns:
            if spans and column.group and spans[-1][0] == column.group:
                spans[-1] = (column.group, spans[-1][1] + 1)
            else:
                spans.append((column.group, 1))
        return spans

    def plain(self) -> dict[str, Any]:
        """The text of the table, for the report."""
        return {
            "groups": [list(span) for span in self.groups()],
            "columns": [column.title for column in self.columns],
            "words": [column.words for column in self.columns],
            "sections": [vars(section) for section in self.sections],
            "notes": self.notes,
        }


def estimate(mean: float, error: float, missing: float = 0, diverged: float = 0) -> str:
    """Mean and standard error to the digits that the error supports; a table's columns agree.

    Of the seeds, `missing` have no value, of which `diverged` are recorded to have diverged.
    """
    if not math.isfinite(mean):
        return "diverged" if diverged and diverged == missing else "no value"
    mark = "†" if missing else ""
    if not math.isfinite(error):
        return Aligned("{:.{d}f}" + mark, (mean,), 2)
    return Aligned("{:.{d}f} ± {:.{d}f}" + mark, (mean, error), digits_of(error))


def digits_of(error: float) -> int:
    """Two decimals if the error is usual, more where it is tiny, fewer where it is large."""
    size = math.floor(math.log10(error)) if error >= 5e-5 else 0
    return min(4, 1 - size) if size < -2 else max(0, 2 - max(size, 0))


def distance(ours: float, theirs: float | None, digits: int = 1) -> str:
    """Ours less what the paper prints."""
    if theirs is None or not math.isfinite(ours - theirs):
        return NOTHING
    return Aligned("{:+.{d}f}", (ours - theirs,), digits)


def final(last: pd.Series) -> str:
    """Mean and standard error of a row of statistics."""
    return estimate(last["mean"], last["se"], last["missing"], last["diverged"])


def signed(value: float) -> str:
    """A deviation in standard errors."""
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "+∞" if value > 0 else "−∞"
    return f"{value:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def sweep_text(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:g}"


def markdown(table: Table, title: str, caption: str) -> str:
    """As GitHub shows it; a section is a row with its title in bold."""
    escape = [[cell.replace("|", r"\|") for cell in row] for row in _body(table)]
    lines = [
        f"**{title}.** {caption}",
        "",
        "| " + " | ".join(column.full_title() for column in table.columns) + " |",
        "|" + "|".join(":--" if column.words else "--:" for column in table.columns) + "|",
        *("| " + " | ".join(row) + " |" for row in escape),
        *[f"\n{note}" for note in table.notes],
    ]
    return "\n".join(lines) + "\n"


def _body(table: Table) -> list[list[str]]:
    rows = []
    for section in table.sections:
        if section.title:
            rows.append([f"**{section.title}**", *[""] * (len(table.columns) - 1)])
        rows.extend(section.rows)
    return rows


def tex(text: str) -> str:
    """Escaped for LaTeX, in ASCII."""
    found = "".join(TEX.get(character, character) for character in text)
    if not found.isascii():
        odd = sorted({character for character in found if not character.isascii()})
        raise PfedrlError(f"LaTeX of {' '.join(odd)} is not known; add it to TEX in tables.py.")
    return found


def latex(table: Table, title: str, caption: str, name: str) -> str:
    """For the packages booktabs and graphicx, the latter to shrink wide tables."""
    width = len(table.columns)
    groups, rules, first = [], [], 1
    for group, span in table.groups():
        groups.append(rf"\multicolumn{{{span}}}{{c}}{{{tex(group)}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{first}-{first + span - 1}}}")
        first += span
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{\textbf{{{tex(title)}.}} {tex(caption)}}}",
        rf"\label{{tab:{name}}}",
        *([r"\resizebox{\textwidth}{!}{%"] if width > WIDE else []),
        rf"\begin{{tabular}}{{{''.join('l' if c.words else 'r' for c in table.columns)}}}",
        r"\toprule",
    ]
    if rules:
        lines += [" & ".join(groups) + r" \\", " ".join(rules)]
    lines.append(" & ".join(tex(column.title) for column in table.columns) + r" \\")
    for section in table.sections:
        lines.append(r"\midrule")
        if section.title:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{tex(section.title)}}}}} \\")
        lines += [" & ".join(tex(cell) for cell in row) + r" \\" for row in section.rows]
    lines += [r"\bottomrule", r"\end{tabular}" + ("}" if width > WIDE else "")]
    lines += [rf"\par\smallskip {tex(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def left_out_note(data: pd.DataFrame) -> list[str]:
    """What the dagger means, where there is one."""
    missing, diverged = int(data["missing"].sum()), int(data["diverged"].sum())
    if not missing:
        return []
    why = "have no value" if not diverged else "diverged"
    why += " or have no value" if 0 < diverged < missing else ""
    return [f"† Some seeds {why} and are excluded from the mean."]
