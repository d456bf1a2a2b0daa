"""The report: one page with every table, figure and verdict, beside the files it shows."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from pfedrl.analysis.findings import Told
from pfedrl.analysis.ledger import (
    BRACKETS,
    Group,
    at_a_glance,
    found,
    groups,
    headline,
    judged_from,
    read_beside,
)
from pfedrl.analysis.output import DEFAULT_SCALE, read_result, rebuild_command, short, write_text
from pfedrl.analysis.report_style import CSS
from pfedrl.analysis.telling import in_html
from pfedrl.analysis.verdict import BADGES
from pfedrl.pipeline.paper import SUFFIXES, Artifact, FidelityNote, Paper
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.served import absent

Judged = Mapping[str, dict[str, Any] | None]  # the verdicts of each paper, where there are any
NAMED = 5  # cells; of more, a line gives their number


def report(
    project: Project,
    figures_dir: Path,
    judged: Judged,
    output: Path,
    code: Mapping[tuple[str, str], str] | None = None,
    scale: str = DEFAULT_SCALE,
    told: Mapping[str, list[Told]] | None = None,
    made_from: str = "",
) -> None:
    """Write the page from what was drawn (figures_dir/{paper}/), judged and found.

    `code` says of a paper and experiment whether the code here is the one behind its numbers. What
    was not drawn has a command that draws it at the scale, or the reason why none does.
    """
    link = Path(os.path.relpath(figures_dir, output.parent)).as_posix()
    papers = [
        _paper(
            paper,
            figures_dir / name,
            f"{link}/{name}",
            judged[name],
            code or {},
            partial(absent, project, name, scale=scale),
            scale,
            (told or {}).get(name),
        )
        for name, paper in project.papers.items()
    ]
    write_text(
        output,
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="made_from" content="{made_from}">\n'
        f"<title>pfedrl: papers and verdicts</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
        "<h1>Federated and personalised reinforcement learning, reproduced</h1>\n"
        "<p>Every table and figure, with the numbers that the paper prints, and a badge on each "
        "claim. <b>Replicated</b> and <b>contradicted</b> are decided at the paper's own budget, "
        "<b>holds</b> and <b>fails at a smaller budget</b> after a shorter training. A claim "
        "<b>depends on the reading</b> if another reading of what the paper leaves open decides "
        "it the other way. <b>Points for</b> and <b>points against</b> are weaker evidence, and "
        "<b>open</b> says why there is none. Evidence is an e-value: 100 decides, 10 points. If a "
        "claim is false, it reaches 100 with a probability of at most 1%, whenever one stops.</p>\n"
        f"{_contents(project, judged)}{''.join(papers)}</body>\n</html>\n",
    )


def _contents(project: Project, judged: Judged) -> str:
    """A line a paper, with how many of its sentences have which verdict."""
    heads = "".join(
        f'<th class="{verdict.replace(" ", "-")}">{symbol} {verdict}</th>'
        for verdict, symbol in BADGES.items()
    )
    rows = ""
    for name, paper in project.papers.items():
        cells = "".join(f"<td>{count}</td>" for count in at_a_glance(judged[name]))
        rows += (
            f'<tr><td class="words"><a href="#{name}">{escape(paper.title)}</a></td>{cells}</tr>\n'
        )
    return (
        f'<div class="scroll"><table class="numbers glance">\n<thead><tr><th></th>{heads}</tr>'
        f"</thead>\n<tbody>\n{rows}</tbody></table></div>\n"
        f'<p class="soft">{BRACKETS}</p>\n'
    )


def _paper(
    paper: Paper,
    folder: Path,
    link: str,
    judged: dict[str, Any] | None,
    code: Mapping[tuple[str, str], str],
    why: Callable[[str], str | None],
    scale: str,
    told: list[Told] | None,
) -> str:
    artifacts = ""
    places = {name: escape(f"{paper.paper}-{name}") for name in paper.artifacts}
    for name, artifact in paper.artifacts.items():
        artifacts += (
            f'<h3 id="{places[name]}">{escape(artifact.title)} '
            f'<span class="soft">{escape(name)}</span></h3>\n'
        )
        known = read_result(folder / f"{name}.json")
        if known is None:
            artifacts += _not_drawn(paper.paper, name, artifact, why, scale)
        else:
            artifacts += _artifact(name, artifact, known, link, code)
    theory = (
        f'<p>Claims of its theory are under <a href="#{escape(paper.theory)}">theory</a>.</p>\n'
        if paper.theory
        else ""
    )
    drawn = " · ".join(f'<a href="#{place}">{escape(name)}</a>' for name, place in places.items())
    return (
        f'<section id="{escape(paper.paper)}">\n<h2>{escape(paper.title)}</h2>\n'
        f'<p class="soft">{escape(paper.reference)}</p>\n{theory}'
        f"{in_html(paper, told)}{_claims(judged)}<h3>Tables and figures</h3>\n"
        f'<p class="soft">{drawn}</p>\n{artifacts}'
        f"{_fidelity(paper.fidelity)}</section>\n"
    )


def _claims(judged: dict[str, Any] | None) -> str:
    if judged is None:
        return "<h3>Claims</h3>\n<p>No verdicts yet.</p>\n"
    shown = (
        f'<h3>Claims</h3>\n<p class="soft">Judged {judged_from(judged["scale"])}. '
        f"{headline(judged)}</p>\n"
    )
    shown += "".join(_group(group, "The paper says") for group in groups(judged, ours=False))
    if asked := "".join(_group(group, "We ask whether") for group in groups(judged, ours=True)):
        shown += f"<h4>Additional questions of our own</h4>\n{asked}"
    return shown


def _group(group: Group, heading: str) -> str:
    """The claims with one verdict, folded away unless that is what a reader comes for."""
    kind = group.badge.replace(" ", "-")
    rows = "".join(_claim(result) for result in group.claims)
    return (
        f'<details class="group"{" open" if group.unfolded else ""}><summary>'
        f'<span class="verdict {kind}">{group.heading}</span></summary>\n<table class="claims">\n'
        f"<thead><tr><th>{heading}</th><th>We find</th><th>Notes</th></tr></thead>\n"
        f"<tbody>\n{rows}</tbody></table></details>\n"
    )


def _claim(result: dict[str, Any]) -> str:
    shown = found(result)
    if result["counterexample"] is not None:
        text = escape(readable(result["counterexample"]))
        shown += f"<details><summary>The counterexample</summary><pre>{text}</pre></details>"
    return (
        f"<tr><td>{escape(result['words'])}"
        f'<br><span class="soft">{escape(result["where"])} · {escape(result["id"])}</span></td>'
        f"<td>{shown}</td><td>{read_beside(result)}</td></tr>\n"
    )


def readable(value: Any, indent: str = "") -> str:
    """JSON with a list of numbers on one line, so that a matrix looks like one."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        items = [f"{deeper}{json.dumps(k)}: {readable(v, deeper)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        return "[\n" + ",\n".join(deeper + readable(v, deeper) for v in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def _not_drawn(
    paper: str, artifact_name: str, artifact: Artifact, why: Callable[[str], str | None], scale: str
) -> str:
    reasons = {name: reason for name in artifact.experiments if (reason := why(name)) is not None}
    if artifact.drawable([name for name in artifact.experiments if name not in reasons]):
        command = rebuild_command(paper, artifact_name, scale)
        return f"<p>Not drawn yet.</p>\n<pre>{escape(command)}</pre>\n"
    needed = [name for name in reasons if name not in artifact.may_miss]
    said = "; ".join(f"{name}: {reasons[name]}" for name in needed or reasons)
    return f"<p>Not drawn. {escape(said)}.</p>\n"


def _artifact(
    name: str,
    artifact: Artifact,
    known: dict[str, Any],
    link: str,
    code: Mapping[tuple[str, str], str],
) -> str:
    shown = beside = ""
    if "png" in SUFFIXES[artifact.kind]:
        alternative = escape(f"{artifact.title}. {known['caption']}")
        shown = f'<img alt="{alternative}" src="{escape(f"{link}/{name}.png")}" loading="lazy">\n'
        beside = _printed(known["printed"])
    if "table" in known:
        shown += table(known["table"])
    files = " · ".join(
        f'<a href="{escape(f"{link}/{name}.{end}")}">{end}</a>' for end in SUFFIXES[artifact.kind]
    )
    return (
        f"<figure>\n{shown}<figcaption>{escape(known['caption'])} "
        f'<span class="soft">{files}</span></figcaption>\n</figure>\n'
        f"{beside}<pre>{escape(known['command'])}</pre>\n{_provenance(known, code)}"
    )


def table(content: dict[str, Any]) -> str:
    """A table as it was drawn, with its groups of columns."""
    words = [' class="words"' if flag else "" for flag in content["words"]]

    def row(cells: Iterable[str], tag: str) -> str:
        marked = zip(cells, words, strict=True)
        return "".join(f"<{tag}{mark}>{escape(cell)}</{tag}>" for cell, mark in marked)

    groups = ""
    if any(group for group, _ in content["groups"]):
        groups = "".join(
            f'<th class="group" colspan="{span}">{escape(group)}</th>' if group else "<th></th>"
            for group, span in content["groups"]
        )
        groups = f"<tr>{groups}</tr>\n"
    body = ""
    for section in content["sections"]:
        if section["title"]:
            body += f'<tr><th colspan="{len(words)}">{escape(section["title"])}</th></tr>\n'
        body += "".join(f"<tr>{row(cells, 'td')}</tr>\n" for cells in section["rows"])
    notes = "".join(f'<p class="soft">{escape(note)}</p>\n' for note in content["notes"])
    return (
        f'<div class="scroll"><table class="numbers">\n<thead>{groups}'
        f"<tr>{row(content['columns'], 'th')}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
        f"{notes}"
    )


def _printed(rows: list[dict[str, Any]]) -> str:
    """Ours beside the paper's numbers, for a figure."""
    if not rows:
        return ""

    def number(value: float | str | None, digits: int = 5) -> str:
        return value if isinstance(value, str) else "–" if value is None else short(value, digits)

    content = {
        "groups": [],
        "columns": ["Cell", "Ours", "s.e.", "Paper", "s.e.", "Δ/s.e."],
        "words": [True, *[False] * 5],
        "notes": [],
        "sections": [{
            "title": "",
            "rows": [
                [
                    row["cell"], number(row["ours"]), number(row["our_error"], 2),
                    number(row["theirs"]), number(row["their_error"], 2),
                    number(row["deviation"], 2),
                ]
                for row in rows
            ],
        }],
    }  # fmt: skip
    return (
        f"<details><summary>Our numbers and the printed ones</summary>{table(content)}</details>\n"
    )


def _provenance(known: dict[str, Any], code: Mapping[tuple[str, str], str]) -> str:
    behind = {name: code.get((known["paper"], name)) for name in known["seeds"]}
    versions = (f"{package} {', '.join(found)}" for package, found in known["versions"].items())
    facts: dict[str, str | list[str]] = {
        "Scale": known["scale"],
        "Runs": [line for name, found in known["origins"].items() for line in _runs(name, found)],
        "Code": "; ".join(f"{name}: {words}" for name, words in behind.items() if words),
        "Versions": ", ".join(versions),
        "Core time": f"{known['core_seconds']:,.0f} s",
        "Peak memory": f"{known['peak_memory_mb']:,.0f} MB per job",
        "Run files": "; ".join(f"{name} {count}" for name, count in known["run_files"].items()),
    }
    return f"<details><summary>Where the numbers came from</summary>{_list(facts)}</details>\n"


def _runs(experiment: str, found: list[dict[str, Any]]) -> Iterator[str]:
    """A line for each origin: 'figure6: seeds 0 to 2, 7 cells, commit 96fe65c, AMD EPYC'."""
    everyone = len({cell for origin in found for cell in origin["cells"]})
    for origin in found:
        (start, stop), cells = origin["seeds"], origin["cells"]
        seeds = f"seeds {start} to {stop - 1}" if stop - start > 1 else f"seed {start}"
        number = "1 cell" if everyone == 1 else f"{everyone} cells"
        if len(cells) < everyone:
            named = f" ({', '.join(cells)})" if len(cells) <= NAMED else ""
            number = f"{len(cells)} of {number}{named}"
        source = [f"commit {origin['commit']}", *filter(None, [origin["processor"]])]
        yield f"{experiment}: {', '.join([seeds, number, *source])}"


def _list(facts: Mapping[str, str | list[str]]) -> str:
    """Names and what is said of them, in one line or several."""
    items = ""
    for key, value in facts.items():
        lines = [value] if isinstance(value, str) else value
        if any(lines):
            items += f"<dt>{escape(key)}</dt><dd>{'<br>'.join(map(escape, lines))}</dd>"
    return f"<dl>{items}</dl>"


def _fidelity(notes: list[FidelityNote]) -> str:
    if not notes:
        return ""
    shown = ""
    for note in notes:
        facts = {
            "Paper": note.paper, "Code": note.code, "Here": note.ours, "Switch": note.switch
        }  # fmt: skip
        given = {key: value for key, value in facts.items() if value}
        shown += f'<div class="note"><b>{escape(note.id)}</b>{_list(given)}</div>\n'
    return f"<h3>Where paper and code differ, and what we do</h3>\n{shown}"
