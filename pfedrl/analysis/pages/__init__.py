"""The pages: what was drawn, judged and compared, as a site that opens from a folder."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
