"""Parses samples of `perf record`: CPU time by library, the kernel's among them, and by stack.

The software clock is sampled: no hardware counters. Without root the kernel's part is there only as far as
/proc/sys/kernel/perf_event_paranoid allows. Stacks are unwound by what exceptions need (.eh_frame), which all libraries
have, with frame pointers or without.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from cqbench.analysis.cost import libraries, stacks
from cqbench.analysis.cost.counts import CPU, Key, Seen, total
from cqbench.analysis.cost.libraries import Program
from cqbench.analysis.cost.profile import SAMPLED_NS
from cqbench.analysis.cost.strace import CLOCKS

HERTZ = 1999  # no multiple of what happens regularly
EACH_NS = round(1e9 / HERTZ)
STACK_BYTES = 8192  # of the stack, copied at each sample: what is deeper is cut. Of a ping 98 in 100 are whole
# "server-cq-0 123/124": thread's name, process and thread; then a line for each function, the innermost first:
# " 7f32 name (/usr/lib/libgrpc.so.29)".
HEAD = re.compile(r"^\s*(?P<comm>\S.*?)\s+(?P<process>\d+)/(?P<thread>\d+)\s*$")
FRAME = re.compile(r"^\s+[0-9a-f]+ (?P<name>.*) \((?P<path>.*)\)$")
KERNEL = "kernel"


class Frame(NamedTuple):
    """name: '[unknown]' where no library exports one."""

    name: str
    path: str


class Sample(NamedTuple):
    """frames: the innermost first."""

    comm: str
    main: bool
    frames: list[Frame]


def command(file: str) -> tuple[str, ...]:
    """Returns the prefix of a program's command line."""
    what = ("--event", "cpu-clock", "--freq", f"{HERTZ}", "--call-graph", f"dwarf,{STACK_BYTES}")
    return ("perf", "record", "--quiet", *what, "--output", file, "--")


def parse(lines: Iterable[str], program: Program) -> Seen:
    """Parses the output of perf script. Before perf starts the program, its child has another name."""
    found = Seen()
    for sample in _samples(lines):
        innermost = sample.frames[0]
        of = found.main if sample.main else found.clock if sample.comm in CLOCKS else found.counts
        of[total(SAMPLED_NS)] += EACH_NS
        of[Key(CPU, _whose(innermost.path, innermost.name, program))] += EACH_NS
        if sample.comm not in CLOCKS:
            outermost_first = [(f.name, f.path) for f in reversed(sample.frames)]
            (found.main_stacks if sample.main else found.stacks)[stacks.line(sample.comm, outermost_first)] += 1
    return found


def _samples(lines: Iterable[str]) -> Iterator[Sample]:
    sample = None
    for line in lines:
        if head := HEAD.match(line):
            sample = Sample(head["comm"], head["process"] == head["thread"], [])
        elif sample and (frame := FRAME.match(line)):
            sample.frames.append(Frame(frame["name"], frame["path"]))
        elif sample and not line.strip():
            if sample.frames:
                yield sample
            sample = None
    if sample and sample.frames:
        yield sample


def _whose(path: str, name: str, program: Program) -> str:
    if path == "[unknown]":
        return libraries.UNKNOWN
    if path.startswith("[") and path != "[vdso]":
        return KERNEL
    return libraries.library(path, name, program)


def sees_kernel() -> bool:
    """True if the kernel's share is sampled, too."""
    try:
        return os.geteuid() == 0 or int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) < 2
    except (OSError, ValueError):
        return False
