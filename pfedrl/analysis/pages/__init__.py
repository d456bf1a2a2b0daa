"""The pages: what was drawn, judged and compared, as a site that opens from a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

TEMPLATES = Path(__file__).parent / "templates"


def environment() -> "jinja2.Environment":
    """What renders a template."""
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html"]),
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    made.filters["kind"] = lambda badge: badge.replace(" ", "-")  # of a badge, in the style sheet
    return made
