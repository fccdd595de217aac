"""A peer whose version is pinned is measured in that version only, however it says which it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cqbench.cli.peers import absent_peers
from cqbench.run.peers import adapters, benchmain, versions
from experiment_standin import environment

GHZ = adapters.GHZ
# Go leaves this in a program, among other bytes.
BUILT = "\x7fELF\0path\tgithub.com/bojand/ghz/cmd/ghz\nmod\tgithub.com/bojand/ghz\t{}\th1:sum=\ndep\tother\tv9.9.9\n\0"


@pytest.fixture
def ghz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where one is to be put; there is no other."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path / "ghz"


def program(path: Path, text: str) -> None:
    path.write_text(text, encoding="latin-1")
    path.chmod(0o755)


def saying(words: str) -> str:
    return f"#!/bin/sh\n[ \"$1\" = --version ] || exit 3\nprintf '%s\\n' '{words}' >&2\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BUILT.format("v0.121.0"), ""),
        (saying("0.121.0"), ""),
        (saying("v0.121.0"), ""),
        (BUILT.format("v0.117.0"), "ghz 0.117.0, not 0.121.0"),
        (BUILT.format("v0.121.1-0.20260101000000-abcdef012345"), "ghz ?, not 0.121.0"),  # of a commit
        (saying("0.122.0"), "ghz 0.122.0, not 0.121.0"),
        (saying("0.121.0-rc1"), "ghz ?, not 0.121.0"),
        (saying("dev"), "ghz ?, not 0.121.0"),
        (saying("10.121.0.1"), "ghz ?, not 0.121.0"),
        ("#!/bin/sh\nexit 1\n", "ghz ?, not 0.121.0"),
        ("#!/no/such/interpreter\n", "ghz ?, not 0.121.0"),
        ("", "ghz ?, not 0.121.0"),
    ],
)
def test_another_version_is_no_peer(ghz: Path, text: str, why: str) -> None:
    program(ghz, text)
    assert versions.absent(GHZ) == why


def test_the_module_is_the_programs_own(ghz: Path) -> None:
    """A dependency of that name and version is something else."""
    program(ghz, saying("dev") + "dep\tgithub.com/bojand/ghz\tv0.121.0\th1:sum=\n")
    assert versions.absent(GHZ) == "ghz ?, not 0.121.0"


def test_all_that_are_pinned_are_looked_at(tmp_path: Path, ghz: Path) -> None:
    program(tmp_path / "h2load", saying("any"))
    program(tmp_path / "benchmain", BUILT.format("v1.82.0").replace("github.com/bojand/ghz", "google.golang.org/grpc"))
    absent = absent_peers(tmp_path, {"h2load", "ghz", "benchmain"})
    assert "h2load" not in absent and absent["ghz"] == "ghz not installed"
    assert absent["benchmain"] == "benchmain 1.82.0, not 1.83.2"
    assert benchmain.BENCHMAIN.install == "go install google.golang.org/grpc/benchmark/benchmain@v1.83.2"
    assert GHZ.install == "go install github.com/bojand/ghz/cmd/ghz@v0.121.0"


def test_one_line_says_what_is_left_out(ghz: Path, tmp_path: Path) -> None:
    program(ghz, saying("0.117.0"))
    words = [sys.executable, "-m", "cqbench.cli", "peers", "--plan", "--bin", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    line = "== left out: ghz 0.117.0, not 0.121.0; to install it: go install github.com/bojand/ghz/cmd/ghz@v0.121.0\n"
    assert line in done.stderr and done.stderr.count("ghz") == line.count("ghz")
