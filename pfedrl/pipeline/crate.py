"""A release as a research object: one ro-crate-metadata.json, from the store's manifest.

The library `rocrate` writes it (`pip install pfedrl[release]`); nothing else needs it.
"""

import json
from pathlib import Path
from typing import Any

from pfedrl import __version__
from pfedrl.core.errors import PfedrlError
from pfedrl.core.files import atomic_write
from pfedrl.core.settings import read_yaml
from pfedrl.pipeline.project import Project
from pfedrl.pipeline.store import COMMITTED, Store

WORKFLOW = "Snakefile"
SHA256 = "https://w3id.org/ro/terms/workflow-run#sha256"


def write_crate(project: Project, output: Path) -> int:
    """Write the metadata of everything that is committed; how many run files it lists."""
    try:
        from rocrate.model import ComputerLanguage, ContextEntity
        from rocrate.rocrate import ROCrate
    except ImportError:
        raise PfedrlError("rocrate is not installed: pip install 'pfedrl[release]'.") from None

    root = project.root
    cited = read_yaml(root / "CITATION.cff")
    crate = ROCrate(version="1.1")
    crate.name, crate.description = cited["title"], _description(project)
    crate.license = f"https://spdx.org/licenses/{cited['license']}"
    crate.creator = [
        crate.add(ContextEntity(crate, f"#{one['name']}", {"@type": "Organization", **one}))
        for one in cited["authors"]
    ]
    crate.root_dataset["version"] = __version__
    crate.metadata.extra_contexts.append({"sha256": SHA256})
    language = crate.add(ComputerLanguage(crate, "#snakemake", {"name": "Snakemake"}))
    kinds = ["File", "SoftwareSourceCode", "ComputationalWorkflow"]
    workflow = crate.add_file(
        root / WORKFLOW, WORKFLOW, properties={"@type": kinds, "name": "pfedrl"}
    )
    workflow["programmingLanguage"] = language
    crate.mainEntity = workflow
    for paper in project.papers:
        for found in sorted((root / "paper_figures" / paper).glob("*.csv")):
            crate.add_file(found, str(found.relative_to(root)))
    listed = sum(_add_run(crate, project, *entry) for entry in Store(root).manifest.items())
    with atomic_write(output) as temporary:
        temporary.write_text(json.dumps(crate.metadata.generate(), indent=1) + "\n", "utf-8")
    return listed


def _description(project: Project) -> str:
    papers = ", ".join(paper.short for paper in project.papers.values())
    return f"Code, runs, tables and figures that reproduce: {papers}."


def _add_run(crate: Any, project: Project, folder: str, entry: dict[str, Any]) -> int:
    """The files of one run, each with its checksum, size, seeds and commit."""
    settings = entry["settings"]
    family = (settings["family"] or {}).get("name", "theory")
    for block, file in entry["files"].items():
        path = COMMITTED / folder / f"{block}.parquet"
        first, last = block.split("-")
        crate.add_file(
            project.root / path, str(path),
            properties={
                "name": f"{settings['algorithm']['name']} on {family}, seeds {first} to "
                f"{int(last) - 1}, code {file['code']}, commit {file['commit']}",
                "encodingFormat": "application/vnd.apache.parquet",
                "contentSize": str(file["bytes"]), "sha256": file["sha256"],
            },
        )  # fmt: skip
    return len(entry["files"])
