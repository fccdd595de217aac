"""Parses callgrind's files: instructions, loads, stores and branches, by library and function.

The format is in valgrind's manual ("Callgrind Format Specification"). Only what a function does itself counts; what it
calls is counted there. There is a file for each thread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from cqbench.analysis.cost import libraries
from cqbench.analysis.cost.counts import FUNCTION, LIBRARY, Counts, Key, Seen, added, function, total
from cqbench.analysis.cost.libraries import Program

# Events -> what they are called in a profile. Dr, Dw: data read and written; Bc, Bi: conditional and indirect branches.
EVENTS = {"Ir": "instructions", "Dr": "loads", "Dw": "stores", "Bc": "branches", "Bi": "indirect-branches"}
# Allocation by whatever name the library's symbol has; one that asks another counts once.
ALLOCATING = re.compile(
    r"^(?:__libc_|__GI_+|__)?"
    r"(?:malloc|calloc|realloc|reallocarray|memalign|posix_memalign|aligned_alloc|valloc)$"
)
# Where threads wait for a lock, spinning: valgrind runs one thread at a time, for 100,000 blocks, so that who finds one
# taken is chance, and thousands of turns when it happens. Counted apart.
WAITING = re.compile(
    r"Mutex::(?:Unlock|Lock)Slow|MutexDelay|SpinLock::(?:SlowLock|SpinLoop|SlowUnlock)|^__?sched_yield$"
)
# The allocator's way through blocks that it has no cache for: how long that is depends on how the heap came to lie,
# which is chance (in one process twice as long as in another). Counted apart.
SEARCHING = re.compile(r"^(?:_int_malloc|unlink_chunk|malloc_consolidate|sysmalloc)\b")
# Threads of gRPC's timers call one of these, and no other does. They follow the clock, not the calls.
CLOCK = re.compile(r"^grpc_timer_check\b|TimerManager::(?:MainLoop|WaitUntil)\b")
NAMED = re.compile(r"^(ob|fn|cob|cfn)=(?:\((\d+)\))? ?(.*)$")
RECURSION = re.compile(r"'\d+$")
# Functions of the client's main thread whose cost does not count: waiting for the calls, which depends on time, and the
# report. Connecting counts: chance decides whether this thread or one of the library's does that work.
NOT_OF_CALLS = ("cqbench::PointRun::MeasureWith*", "cqbench::FormatResult*")
MAIN = "-01"  # how the file of the main thread ends


def command(file: str) -> tuple[str, ...]:
    """Returns the prefix of a program's command line."""
    options = ("--separate-threads=yes", "--cache-sim=yes", "--branch-sim=yes")
    toggles = (*(f"--toggle-collect={function}" for function in NOT_OF_CALLS), "--collect-atstart=yes")
    return ("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={file}", *options, *toggles)


def read(file: Path, program: Program) -> Seen:
    """Raises OSError."""
    main: list[Counts] = []
    clock: list[Counts] = []
    others: list[Counts] = []
    for path in sorted(file.parent.glob(f"{file.name}-*")):
        with path.open(encoding="utf-8", errors="replace") as lines:
            counts = parse(lines, program)
        timers = any(key.kind == FUNCTION and CLOCK.search(key.name) for key in counts)
        (main if path.name == file.name + MAIN else clock if timers else others).append(counts)
    return Seen(added(others), added(main), added(clock))


def parse(lines: Iterable[str], program: Program) -> Counts:
    """Parses one file."""
    reader = _Reader(program)
    for line in lines:
        reader.take(line.rstrip("\n"))
    return reader.counts()


class _Reader:
    """Names are written once, with a number, and by that number afterwards: one list for objects, one for functions."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.positions, self.events = 1, ["Ir"]
        self.known: dict[tuple[str, str], str] = {}
        self.at = {"ob": "", "fn": "", "cob": "", "cfn": ""}
        self.inclusive = False  # the next line of costs is that of a call
        self.own: dict[tuple[str, str], list[int]] = {}
        self.allocations = 0

    def take(self, line: str) -> None:
        """The next one."""
        if line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            self._costs(line)
        elif named := NAMED.match(line):
            self._name(*named.groups())
        elif line.startswith("calls="):
            self._call(int(line[6:].split()[0]))
        elif line.startswith("positions:"):
            self.positions = len(line.split()) - 1
        elif line.startswith("events:"):
            self.events = line.split()[1:]

    def _name(self, what: str, number: str | None, text: str) -> None:
        kind = what[-2:]
        if number and text:
            self.known[kind, number] = text
        self.at[what] = self.known.get((kind, number or ""), text) if number else text
        if what == "fn":
            self.at["cob"] = ""

    def _call(self, times: int) -> None:
        """It ends with a line of what the called function takes with all that it calls."""
        caller, called = (RECURSION.sub("", self.at[of]) for of in ("fn", "cfn"))
        if ALLOCATING.match(called) and not ALLOCATING.match(caller):
            self.allocations += times
        self.at["cob"] = ""
        self.inclusive = True

    def _costs(self, line: str) -> None:
        if self.inclusive:
            self.inclusive = False
            return
        values = line.split()[self.positions :]
        own = self.own.setdefault((self.at["ob"], self.at["fn"]), [0] * len(self.events))
        for place, value in enumerate(values):
            own[place] += int(value)

    def counts(self) -> Counts:
        """Returns the counts of the file."""
        found: Counts = Counter()
        for (path, called), costs in self.own.items():
            name = RECURSION.sub("", called)
            apart = "lock-waiting" if WAITING.search(name) else "heap-searching" if SEARCHING.search(name) else ""
            if apart:
                found[total(apart)] += costs[self.events.index("Ir")]
                continue
            whose = libraries.library(path, name, self.program)
            for event, cost in zip(self.events, costs, strict=True):
                if event in EVENTS:
                    found[total(EVENTS[event])] += cost
            instructions = costs[self.events.index("Ir")]
            found[Key(LIBRARY, whose)] += instructions
            found[function(name, whose)] += instructions
        found[total("allocation-calls")] += self.allocations
        return found
