"""Reads the samples of `perf record` by `perf script`."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from cqbench.analysis.cost import perf
from cqbench.analysis.cost.counts import Seen
from cqbench.analysis.cost.libraries import Program
from cqbench.formats.text import one_line
from cqbench.measure import group

TIMEOUT_S = 120


def read(caller: Sequence[str], file: str, program: Program) -> Seen:
    """caller: how it is called where the libraries are. file: as seen there. Raises OSError."""
    words = [*caller, "script", "--no-inline", "--input", file, "--fields", "comm,pid,tid,ip,sym,dso"]
    try:
        done = group.ask(words, TIMEOUT_S)
        done.check_returncode()
    except subprocess.SubprocessError as error:
        raise OSError(0, f"perf script: {one_line(str(error))}") from None
    return perf.parse(done.stdout.splitlines(), program)
