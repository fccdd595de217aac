"""dependencies.sh: which release is the newest patch of one that is pinned."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/dependencies.sh"


@pytest.mark.parametrize(
    ("pinned", "there_are", "newest"),
    [
        ("8.5.1", ["8.5.1", "8.5.0", "8.4.9"], "8.5.1"),
        ("2.2.6", ["2.2.10", "2.2.9", "2.20.1", "2.3.0"], "2.2.10"),  # by number, within 2.2
        ("1.9.0.post1", ["1.9.0", "1.9.1rc1"], "1.9.0.post1"),  # a preview is none
        ("v1.36.11", ["v1.36.12", "v1.37.0"], "v1.36.12"),
        ("0.16.0", [], "0.16.0"),
    ],
)
def test_newest_patch(pinned: str, there_are: list[str], newest: str) -> None:
    command = ["bash", "-c", f'source {SCRIPT}; newest_patch "$@"', "-", pinned, *there_are]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{newest}\n"


def test_refuses_what_it_does_not_know() -> None:
    ran = subprocess.run(["bash", str(SCRIPT), "rust"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "rust: debian, python and go are accepted" in ran.stderr
