"""Tools of others are asked for their version; the reason for a skipped test is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
import tools


def make(folder: Path, name: str, says: str, status: int = 0) -> str:
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("name", "says", "why"),
    [
        ("curl", "curl 7.82.0 (x86_64-pc-linux-gnu) libcurl/7.82.0", ""),
        ("curl", "curl 7.68.0 (x86_64-pc-linux-gnu) libcurl/7.68.0", "curl 7.68.0 is not supported: 7.82 or later is"),
        ("h2load", "h2load nghttp2/1.52.0", ""),
        ("chromium", "Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)", ""),
        ("mpirun", "mpirun (Open MPI) 4.1.4", ""),
        ("perf", "perf version 5.10.1", "perf 5.10.1 is not supported: 6.1 or later is"),
        ("strace", "strace -- version 6.1", ""),
        ("valgrind", "valgrind-3.19.0", ""),
        ("go", "go version go1.9 linux/amd64", "go 1.9 is not supported: 1.21 or later is"),
        ("go", "go version go1.26.8 linux/amd64", ""),
    ],
)
def test_versions(tmp_path: Path, name: str, says: str, why: str) -> None:
    assert tools.problem(name, make(tmp_path, name, says)) == why


def test_absent_and_silent_ones(tmp_path: Path) -> None:
    assert tools.problem("h2load", str(tmp_path)) == "there is no h2load: apt-get install nghttp2-client"
    for says, status in (("", 0), ("curl 8.0.0", 2)):
        tools.problem.cache_clear()
        assert tools.problem("curl", make(tmp_path, "curl", says, status)).endswith("/curl does not say its version")
