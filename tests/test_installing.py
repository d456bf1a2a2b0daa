"""What `make` installs and fetches, and that a container has the same."""

import re
import subprocess

from tests.tiny import ROOT


def test_a_container_is_installed_from_the_same_pins():
    recipe, make = (ROOT / "Dockerfile").read_text(), (ROOT / "Makefile").read_text()
    installs = r'pip install \S+ -c constraints\.txt -e "\.\[(.+?)\]"'
    ours, theirs = (re.findall(installs, text) for text in (make, recipe))
    assert [extras.split(",")[-1] for extras in ours] == theirs == ["cluster"]
    assert " gcc " in recipe, "what holds MKL to its pin is compiled, or else left out in silence"


def test_a_misspelt_scale_is_refused_before_anything_is_installed():
    done = subprocess.run(
        ["make", "--no-print-directory", "-n", "SCALE=laptpo", "reproduce"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0 and done.stdout == ""
    assert "'laptpo'" in done.stderr and " laptop " in done.stderr


def test_only_deprl_needs_its_data():
    for target, fetches in (("all", True), ("deprl", True), ("qavg", False)):
        command = ["make", "-n", "-o", ".venv/installed", "reproduce", f"TARGET={target}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert ("data fetch" in done.stdout) == fetches
