"""What `perf record` sampled -> CPU time by library, the kernel's among them.

The software clock is sampled: no hardware counters. Without root the kernel's part is there only as far as
/proc/sys/kernel/perf_event_paranoid allows.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from cqbench.cost import libraries
from cqbench.cost.counts import CPU, Counts, Key, total
from cqbench.cost.model import SAMPLED_NS

HERTZ = 1999  # no multiple of what happens regularly
EACH_NS = round(1e9 / HERTZ)
# "grpc_ping_clien 123/124  7f32 name (/usr/lib/libgrpc.so.29)": thread's name, process and thread, address, function.
LINE = re.compile(r"^\s*(?P<comm>.*?)\s+(?P<process>\d+)/(?P<thread>\d+)\s+[0-9a-f]+ (?P<name>.*) \((?P<path>.*)\)$")
KERNEL = "kernel"
TIMEOUT_S = 120


def command(file: str) -> tuple[str, ...]:
    """What a program's command line is put behind."""
    return ("perf", "record", "--quiet", "--event", "cpu-clock", "--freq", f"{HERTZ}", "--output", file, "--")


def read(file: Path, program: str) -> tuple[Counts, Counts]:
    """Of all threads but the main one, and of that. program: its file name. Raises OSError."""
    words = ["perf", "script", "--input", str(file), "--fields", "comm,pid,tid,ip,sym,dso"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=True)
    except subprocess.SubprocessError as error:
        raise OSError(0, f"perf script: {error}") from None
    return parse(done.stdout.splitlines(), program)


def parse(lines: Iterable[str], program: str) -> tuple[Counts, Counts]:
    """Of what perf script wrote: a line for each sample. Before it runs the program, perf's child has another name."""
    others: Counts = Counter()
    main: Counts = Counter()
    for line in lines:
        if not (found := LINE.match(line)):
            continue
        of = main if found["process"] == found["thread"] else others
        of[total(SAMPLED_NS)] += EACH_NS
        of[Key(CPU, _whose(found["path"], found["name"], program))] += EACH_NS
    return others, main


def _whose(path: str, name: str, program: str) -> str:
    if path == "[unknown]":
        return libraries.UNKNOWN
    if path.startswith("[") and path != "[vdso]":
        return KERNEL
    return libraries.library(path, name, program)


def sees_kernel() -> bool:
    """Whether the kernel's share is sampled, too."""
    try:
        return os.geteuid() == 0 or int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 2
    except (OSError, ValueError):
        return False
