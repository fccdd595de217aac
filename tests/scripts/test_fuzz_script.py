"""fuzz.sh: its targets, without running them (which CI does)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def fuzz(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(ROOT / "scripts/fuzz.sh"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_target_has_inputs_to_begin_with() -> None:
    listed = fuzz("--list").stdout.split()
    assert "flags" in listed and "experiment" in listed
    corpus = ROOT / "tests/fuzz/corpus"
    empty = [name for name in listed if not any((corpus / name).glob("*")) and name not in ("result", "experiment")]
    assert not empty, "these two begin with files that are elsewhere"
    assert {folder.name for folder in corpus.iterdir()} <= set(listed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--seconds", "0"], "--seconds '0'"), (["--inputs"], "--inputs ''"), (["nothing"], "no target 'nothing'")],
)
def test_usage(arguments: list[str], words: str) -> None:
    ran = fuzz(*arguments)
    assert ran.returncode == 2
    assert words in ran.stderr
