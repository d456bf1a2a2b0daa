"""The site of a scale: every page of what was drawn and judged; of the record also the README."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from pfedrl.analysis.findings import Told, tell
from pfedrl.analysis.output import plain, read_result, write_text
from pfedrl.analysis.pages import TEMPLATES, artifacts, catalogue, environment, ledger
from pfedrl.analysis.pages.about import about
from pfedrl.analysis.pages.names import Names
from pfedrl.analysis.pages.pairs import pairs
from pfedrl.analysis.pages.plots import seeds_plot
from pfedrl.analysis.pages.suite import PICTURES
from pfedrl.analysis.printed_figure import draw_printed
from pfedrl.analysis.verdict import BADGES, DECIDED
from pfedrl.pipeline.paper import SUFFIXES, UNASKED, Paper
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.reruns import code_behind
from pfedrl.pipeline.scale import RECORD
from pfedrl.pipeline.served import absent

BOARDS = "benchmark/*/leaderboard.json"
LEADING = "quick"  # the suite on the landing page


class Site:
    """All pages of a scale, from what was drawn and judged; `write` writes them."""

    def __init__(self, project: Project, scale: str, page: Path | None = None, made_from: str = ""):
        chosen = project.scale(scale)
        self.project, self.scale, self.made_from = project, scale, made_from
        self.root = page.parent if page else Path(chosen.figures)
        self.figures = Path(chosen.figures)
        self.names = Names(project, scale)
        self.judged: ledger.Judged = {
            paper: read_result(chosen.verdicts_of(paper)) for paper in project.papers
        }
        recorded = scale == RECORD
        self.told: Mapping[str, list[Told]] = tell(project, self.judged) if recorded else {}
        self.code = code_behind(project, scale) if recorded else {}
        self.known = {
            paper: {
                name: read_result(self.figures / paper / f"{name}.json") for name in page.artifacts
            }
            for paper, page in project.papers.items()
        }
        self.jinja = environment()
        self.jinja.filters |= {"json": _json, "readable": readable}
        self.jinja.globals |= {
            "badges": BADGES, "made_from": made_from, "scale": scale,
            "papers": project.papers, "recorded": recorded, "seeds_plot": seeds_plot,
            "suffixes": SUFFIXES, "unasked": UNASKED,
        }  # fmt: skip

    def page(self, template: str, path: str, **given: Any) -> None:
        up = "../" * path.count("/")
        text = self.jinja.get_template(template).render(up=up, here=path, **given)
        write_text(self.root / path, text)

    def write(self) -> None:
        """Every page; the landing page last, since its head says what all of them are made from."""
        for name in ("site.css", "site.js"):
            write_text(self.root / name, (TEMPLATES / name).read_text(encoding="utf-8"))
        claims = {
            paper: list(ledger.rows(self.project.paper(paper), judged, self.names))
            for paper, judged in self.judged.items()
            if judged
        }
        if self.scale == RECORD:
            draw_printed(self.project, self.figures)
            self._pairs()
        self._catalogue(claims)
        for name, paper in self.project.papers.items():
            self._paper(name, paper, claims.get(name, []))
        self.page("appendix.html", "appendix.html", known=self.known)
        counts = {paper: ledger.Counts.of(found) for paper, found in self.judged.items() if found}
        order = ledger.by_decided(self.judged)
        level = (self.figures / "evidence" / "level.md").exists()
        shared = {"counts": counts, "order": order, "told": self.told, "level": level}
        boards = self._boards()
        self.page(
            "index.html", "index.html", **shared, findings=list(self._headlines()),
            leaders=next((one for one in boards if one["suite"] == LEADING), None),
            printed=(self.figures / "printed.png").exists(),
        )  # fmt: skip
        overview = self.jinja.get_template("overview.md")
        write_text(self.root / "README.md", overview.render(**shared, known=self.known))
        if self.scale == RECORD:
            self._fill_readme(shared)

    def _headlines(self) -> Any:
        """The findings with a headline, each with a picture."""
        for name, told in self.told.items():
            paper = self.project.paper(name)
            for one in told:
                if one.headline:
                    seen = [*one.finding.see, f"comparison_{one.finding.experiment}"]
                    drawn = (a for a in seen if (self.figures / name / f"{a}.png").exists())
                    yield {"told": one, "paper": paper, "picture": next(drawn, None)}

    def _boards(self) -> list[dict[str, Any]]:
        """A page for each suite of the benchmark, and their list."""
        read = [read_result(path) for path in sorted(self.figures.glob(BOARDS))]
        boards = [one for one in read if one is not None]
        for one in boards:
            self.page(
                "suite.html", f"benchmark/{one['suite']}.html", board=one, pictures=PICTURES,
                folder=f"{one['suite']}/",
            )  # fmt: skip
        if boards:
            self.page("benchmark.html", "benchmark.html", boards=boards)
        return boards

    def _pairs(self) -> None:
        """The page that compares two algorithms, and a script for each family that it loads."""
        families = []
        for family, script in pairs(self.names).items():
            families.append({"family": family, "script": f"pairs/{catalogue.slug(family)}.js"})
            write_text(self.root / families[-1]["script"], script)
        self.page("compare.html", "compare.html", families=families)

    def _catalogue(self, claims: Mapping[str, list[dict[str, Any]]]) -> None:
        """A page for each algorithm and each environment, and their lists."""
        every = catalogue.scores(self.names, self.figures)
        linked = [
            {**claim, "short": self.project.paper(paper).short,
             "page": f"{paper}/index.html#claim-{claim['id']}"}
            for paper, own in claims.items() for claim in own if not claim["ours"]
        ]  # fmt: skip
        for kind, list_ in (
            ("algorithm", catalogue.algorithms), ("environment", catalogue.environments)
        ):  # fmt: skip
            found = list_(self.names, self.root, every, linked)
            self.page(f"{kind}s.html", f"{kind}s.html", found=found)
            for one in found:
                self.page(f"{kind}.html", one["path"], one=one)

    def _paper(self, name: str, paper: Paper, claims: list[dict[str, Any]]) -> None:
        judged = self.judged[name]
        missing = {
            experiment: reason
            for experiment in paper.experiments
            if (reason := absent(self.project, name, experiment, self.scale)) is not None
        }
        self.page(
            "paper.html", f"{name}/index.html", paper=paper, claims=claims, judged=judged,
            counts=ledger.Counts.of(judged) if judged else None, about=about(self.project, name),
            told=self.told.get(name), known=self.known[name], missing=missing,
        )  # fmt: skip
        for artifact, known in self.known[name].items():
            if known is not None:
                self._artifact(paper, artifact, known, claims)

    def _artifact(
        self, paper: Paper, name: str, known: dict[str, Any], claims: list[dict[str, Any]]
    ) -> None:
        spec, folder = paper.artifacts[name], self.figures / paper.paper
        present = [experiment for experiment in spec.experiments if experiment in known["seeds"]]
        printed = ((self.judged[paper.paper] or {}).get("printed") or {}).get(name, [])
        self.page(
            "artifact.html", f"{paper.paper}/{name}.html", paper=paper, name=name, spec=spec,
            known=known, printed=list(artifacts.printed(printed, paper, self.names)),
            chart=artifacts.chart(folder / f"{name}.csv", paper, present, self.names),
            commands=artifacts.commands(paper, name, self.scale, self.names),
            settings={
                paper.experiments[one].title: artifacts.settings(paper, one, self.names)
                for one in present
            },
            claims=[c for c in claims if set(c["experiments"]) & set(spec.experiments)],
            code={one: self.code.get((paper.paper, one)) for one in present},
            picture="png" in SUFFIXES[spec.kind],
        )  # fmt: skip

    def _fill_readme(self, shared: dict[str, Any]) -> None:
        """Write badges and findings into the README beside the figures, where it has places."""
        readme = self.root.parent / "README.md"
        if not readme.exists():
            return
        text = readme.read_text(encoding="utf-8")
        for name in ("badges", "findings"):
            block = self.jinja.get_template(f"{name}.md").render(**shared, decided=DECIDED)
            place = rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)"
            text = re.sub(place, block.replace("\\", r"\\"), text, flags=re.DOTALL)
        write_text(readme, text)


def _json(value: Any) -> Markup:
    """Data inside a page; no text in it can end the script."""
    text = json.dumps(plain(value), separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c"))


def readable(value: Any, indent: str = "") -> str:
    """JSON with a list of numbers on one line, so that a matrix looks like one."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        items = [f"{deeper}{json.dumps(k)}: {readable(v, deeper)}" for k, v in value.items()]
        return "{\n" + ",\n".join(items) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        return "[\n" + ",\n".join(deeper + readable(v, deeper) for v in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)
