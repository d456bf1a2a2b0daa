"""page.yaml of a paper: what a reader should know before its verdicts."""

from pydantic import Field

from pfedrl.core.settings import Settings, read_yaml, validate
from pfedrl.pipeline.project import Project


class About(Settings):
    """Scope and difficulties of a paper's reproduction."""

    scope: str = Field(description="what was rerun and what was not")
    easy: str = Field(description="what was easy to reproduce")
    difficult: str = Field(description="what was difficult")


def about(project: Project, paper: str) -> About | None:
    """What page.yaml says of a paper, if it has one."""
    path = project.root / "workflow" / "papers" / paper / "page.yaml"
    return validate(About, read_yaml(path), str(path)) if path.exists() else None
