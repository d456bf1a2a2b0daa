"""The rules' text: every value in a shell command is one word, whatever is in it."""

import re

from tests.tiny import ROOT

QUOTED_BEFORE = {"params.environments"}  # an option and its value, or nothing


def test_every_value_in_a_shell_command_is_quoted():
    values = []
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        for command in re.findall(r"^    shell:\n((?:        .*\n?)+)", path.read_text(), re.M):
            values += re.findall(r"{([^}]+)}", command)
    assert len(values) > 20
    assert {value for value in values if not value.endswith(":q")} == QUOTED_BEFORE
