"""Finds the functions that are linked into a program from archives: CMake lists the archives next to the programs."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from cqbench.analysis.cost.libraries import Program, functions
from cqbench.formats.text import one_line
from cqbench.measure import group

LIST = "archives.txt"
TIMEOUT_S = 120


def read(nm: Sequence[str], folder: Path, name: str) -> Program:
    """nm: how it is called where the archives are. folder: of the program, as seen by this process. Raises OSError."""
    listed = folder / LIST
    archives = listed.read_text(encoding="utf-8").split("\n") if listed.is_file() else []
    archives = [archive for archive in archives if archive]
    if not archives:
        return Program(name)
    try:
        done = group.ask([*nm, "--demangle", "--defined-only", "--print-file-name", "--", *archives], TIMEOUT_S)
        done.check_returncode()
    except subprocess.SubprocessError as error:
        raise OSError(0, f"nm: {one_line(str(error))}") from None
    return Program(name, functions(done.stdout.splitlines()))
