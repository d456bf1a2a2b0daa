"""The ledger of before, judged by the rules of now: which verdicts changed, and why.

workflow/rejudged.yaml keeps the old ledger and says what each of its claims became. Verdicts of now
are read from results/published/claims. The runs were made again since, so that a verdict may change
for its evidence too; what can be computed of the reason is computed.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from pfedrl.analysis.evidence import seeds_needed
from pfedrl.analysis.ledger import SYMBOLS
from pfedrl.analysis.outcomes import CONTRADICTED, NOT_RUN, OUTSIDE, REPRODUCED, UNDECIDED
from pfedrl.analysis.output import read_result, write_text
from pfedrl.analysis.verdicts import (
    AT_TOP,
    LEANS_AGAINST,
    LEANS_FOR,
    NOT_ABOVE_CONTROL,
    ONE_SEED,
    VERDICTS,
)
from pfedrl.core.errors import unknown
from pfedrl.core.settings import Name, Settings, read_yaml, validate
from pfedrl.pipeline.project import Project

FILE = Path("workflow", "rejudged.yaml")
INCONCLUSIVE = "inconclusive"  # what undecided was called
DROPPED = "dropped"
OLD = (REPRODUCED, CONTRADICTED, INCONCLUSIVE)
SEEDS = re.compile(r"([\d,]+) (?:paired )?seeds|of ([\d,]+) instances")
# a word for each reason, and what it means
REASONS = {
    "few seeds": "too few seeds for any verdict under the new rules",
    "stricter": "not significant at a 1% level that allows for repeated tests and for outlying "
    "seeds",
    "one seed": "significant, but not if one seed is left out",
    "control": "the winner is not shown to outperform a control that learns nothing, or all "
    "algorithms reach the ceiling",
    "leans": "trained for less time than in the paper, so the verdict is limited to that budget",
    "premises": "no instance meets the statement's premises",
    "not run": "its runs were not kept by seed, and are not published yet",
    "merged": "one comparison of a sentence that is now judged as a whole",
    "test": "the test now matches the sentence",
    "seeds": "the number of seeds changed",
    "evidence": "the same test on new runs",
    DROPPED: "no longer claimed",
}


class Before(Settings):
    """A claim as it stood in the old ledger, and what became of it."""

    id: Name
    words: str
    where: str
    verdict: Literal["reproduced", "contradicted", "inconclusive"]
    evidence: str
    now: str = Field("", description="its id today if that is another: id, or paper/id")
    test: str = Field("", description="what is asked otherwise today")
    dropped: str = Field("", description="why it is claimed no longer")

    @property
    def seeds(self) -> int:
        """How many seeds, or instances, the evidence names; 0 where it names none."""
        found = SEEDS.search(self.evidence)
        return int((found[1] or found[2]).replace(",", "")) if found else 0


class OldLedger(Settings):
    """workflow/rejudged.yaml."""

    commit: str
    papers: dict[Name, list[Before]]


class Rejudged(NamedTuple):
    """A claim of before beside what it became."""

    paper: str
    before: Before
    now: str  # paper/id, or nothing where it was dropped
    verdict: str
    seeds: int
    reasons: list[str]

    @property
    def changed(self) -> bool:
        return self.verdict != (
            UNDECIDED if self.before.verdict == INCONCLUSIVE else self.before.verdict
        )


def read_old(project: Project) -> OldLedger | None:
    path = project.root / FILE
    return validate(OldLedger, read_yaml(path), str(FILE)) if path.exists() else None


def rejudge(project: Project, old: OldLedger, claims_dir: Path) -> list[Rejudged]:
    """Every claim of before, in its order, with the verdict that stands in claims_dir."""
    judged: dict[str, dict[str, Any]] = {}
    for paper in project.papers:
        for result in (read_result(claims_dir / f"{paper}.json") or {"claims": []})["claims"]:
            judged[f"{paper}/{result['id']}"] = result
    known = {f"{name}/{c.id}" for name, paper in project.papers.items() for c in paper.claims}
    pairs = [(paper, claim, _now(paper, claim)) for paper, of in old.papers.items() for claim in of]
    shared = Counter(now for paper, _, now in pairs if now.startswith(f"{paper}/"))
    found = []
    for paper, claim, now in pairs:
        if claim.dropped:
            found.append(Rejudged(paper, claim, "", DROPPED, 0, [DROPPED]))
            continue
        if now not in known:
            raise unknown("claim", now, known, f"{FILE}, {paper}, {claim.id}")
        result = judged.get(now, {"verdict": NOT_RUN, "seeds": 0, "notes": []})
        reasons = _reasons(claim, result, merged=shared[now] > 1)
        found.append(Rejudged(paper, claim, now, result["verdict"], result["seeds"], reasons))
    return found


def _now(paper: str, claim: Before) -> str:
    now = claim.now or claim.id
    return "" if claim.dropped else now if "/" in now else f"{paper}/{now}"


def _reasons(claim: Before, result: dict[str, Any], merged: bool) -> list[str]:
    """What can have changed a verdict; what is enough by itself stands first."""
    verdict, seeds = result["verdict"], result["seeds"]
    if verdict == NOT_RUN:
        return ["not run"]
    if verdict == OUTSIDE:
        return ["premises"]
    found = ["test"] if claim.test else []
    if verdict == UNDECIDED:
        why = _why_undecided(result)
        found.insert(len(found) if why == "stricter" else 0, why)
    elif verdict in (LEANS_FOR, LEANS_AGAINST):
        found.insert(0, "leans")
    found += ["merged"] if merged else []
    if claim.seeds and claim.seeds != seeds:
        found.append("seeds")
    return found or ["evidence"]


def _why_undecided(result: dict[str, Any]) -> str:
    notes = " ".join(result["notes"])
    if result["seeds"] < (seeds_needed(1.0, 0.0) or 0):  # even where all seeds agree
        return "few seeds"
    if ONE_SEED in notes:
        return "one seed"
    if NOT_ABOVE_CONTROL in notes or AT_TOP in notes:
        return "control"
    return "stricter"


def write_rejudged(project: Project, claims_dir: Path, folder: Path) -> None:
    """The page and the table; nothing where the project keeps no older ledger."""
    old = read_old(project)
    if old is None:
        return
    rows = rejudge(project, old, claims_dir)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["paper", "claim", "before", "seeds before", "now", "verdict", "seeds",
                    "changed", "reasons", "test", "evidence before"])  # fmt: skip
    for row in rows:
        table.writerow(
            [row.paper, row.before.id, row.before.verdict, row.before.seeds, row.now, row.verdict,
             row.seeds, int(row.changed), " ".join(row.reasons),
             row.before.test or row.before.dropped, row.before.evidence]
        )  # fmt: skip
    write_text(folder / "rejudged.csv", text.getvalue())
    write_text(folder / "rejudged.md", _page(project, old, rows))


def _page(project: Project, old: OldLedger, rows: list[Rejudged]) -> str:
    changed = [row for row in rows if row.changed]
    claims = {row.now for row in rows if row.now}
    after = [v for v in (*VERDICTS, DROPPED) if any(row.verdict == v for row in rows)]
    lines = [
        "# Old verdicts under the current rules",
        "",
        "Written by `make figures`, or by `pfedrl rejudged` alone. It compares the claims of "
        f"commit {old.commit} with the verdicts in `results/published/claims`. The old values by "
        "seed were not kept, so the experiments were run again; the current verdicts rest on the "
        "published runs. The old evidence is quoted in `rejudged.csv` and in "
        f"`{FILE.as_posix()}`.",
        "",
        f"**{len(changed)} of {len(rows)} verdicts changed.** The {len(rows)} old claims "
        f"correspond to {len(claims)} current ones. `{INCONCLUSIVE}` was renamed to "
        f"`{UNDECIDED}`; this does not count as a change.",
        "",
        "| before |" + "".join(f" {verdict} |" for verdict in after) + " in all |",
        "|---|" + "--:|" * (len(after) + 1),
    ]
    for verdict in OLD:
        of = Counter(row.verdict for row in rows if row.before.verdict == verdict)
        lines.append(_line([verdict, *(str(of[v] or "") for v in after), str(of.total())]))
    lines += [
        "",
        "Reasons for the changes. Each of these alone explains a change: few seeds, one seed, "
        "control, leans, premises, not run. If the first reason is another one, the effects of "
        "the test, its strictness and the newer runs cannot be separated, because the old values "
        "were not kept.",
        "",
        "| reason | | first | in all |",
        "|---|---|--:|--:|",
    ]
    first = Counter(row.reasons[0] for row in changed)
    each = Counter(reason for row in changed for reason in row.reasons)
    lines += [
        _line([word, meaning, str(first[word] or ""), str(each[word])])
        for word, meaning in REASONS.items()
        if each[word]
    ]
    for paper in old.papers:
        of_paper = [row for row in rows if row.paper == paper]
        count = sum(row.changed for row in of_paper)
        lines += [
            "",
            f"## {project.paper(paper).title}",
            "",
            f"{count} of {len(of_paper)} changed.",
            "",
            "| before | the claim | now | why |",
            "|---|---|---|---|",
        ]
        # what changed comes first
        lines += [_row(row) for row in sorted(of_paper, key=lambda row: not row.changed)]
    return "\n".join([*lines, ""])


def _row(row: Rejudged) -> str:
    before = row.before
    badge = f"{SYMBOLS.get(row.verdict, '')} {row.verdict}".strip()
    was = f"{before.verdict}, {before.seeds:,}" if before.seeds else before.verdict
    now = (
        f"{badge}, {row.seeds:,} (`{row.now.removeprefix(row.paper + '/')}`)" if row.now else badge
    )
    why = ", ".join(row.reasons) if row.changed else "unchanged"
    said = "; ".join(filter(None, [why, before.test, before.dropped]))
    return _line([was, f"{before.words} ({before.where})", now, said])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"
