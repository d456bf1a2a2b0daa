"""The pages: what was drawn, judged and compared, as a site that opens from a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"


def environment() -> "jinja2.Environment":
    """What renders a template."""
    import jinja2

    from pfedrl.analysis.pages.ledger import short

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html"]),
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    made.filters |= {"kind": _kind, "short": short}
    return made


def _kind(badge: str) -> str:
    """A badge as a name for its style."""
    return badge.replace(" ", "-")
