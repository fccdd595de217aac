"""Whether something else uses the CPUs, before we measure and meanwhile: what to know first about noisy figures."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

BUSY_ENOUGH_TO_SAY = 0.1  # of a CPU
PROC_STAT = Path("/proc/stat")
TICK_S = 0.01  # of the kernel's clock


def cpu_times(stat: str) -> dict[int, tuple[int, int]]:
    """/proc/stat -> CPU: (all ticks, ticks of programs).

    Not of programs: being idle, waiting for a disk, interrupts, and what the hypervisor took. Kernels that account
    interrupts exactly leave them out of the programs' own times; what such times are taken from must do so, too.
    """
    times = {}
    for line in stat.splitlines():
        name, *fields = line.split() or [""]
        if name[:3] == "cpu" and name[3:].isdigit() and len(fields) >= 8:
            ticks = [int(f) for f in fields[:8]]
            times[int(name[3:])] = (sum(ticks), sum(ticks[:3]))
    return times


def busy_cpus(before: str, after: str, cpus: tuple[int, ...] = ()) -> float:
    """How many of these CPUs (empty: all) programs kept busy on average between two readings of /proc/stat."""
    first, last = cpu_times(before), cpu_times(after)
    busy = 0.0
    for cpu in set(cpus or last) & set(first) & set(last):
        total, used = (last[cpu][i] - first[cpu][i] for i in (0, 1))
        busy += used / total if total > 0 else 0
    return busy


def remark(cpus: tuple[int, ...], seconds: float = 0.5) -> str:
    """Looks for that long; no CPUs given: all that may be used. '' when they are idle or unknown."""
    try:
        before = PROC_STAT.read_text()
        time.sleep(seconds)
        busy = busy_cpus(before, PROC_STAT.read_text(), cpus or tuple(os.sched_getaffinity(0)))
    except OSError:
        return ""
    if busy < BUSY_ENOUGH_TO_SAY:
        return ""
    return f"other programs keep {busy:.1f} of the CPUs that are used here busy; expect noisy figures"


class Watch:
    """What others use of some CPUs while children of ours run there, from now on."""

    def __init__(self, cpus: tuple[int, ...]) -> None:
        """cpus: all that the children may use; what they use elsewhere would count as less of others."""
        self.cpus = cpus
        self._begin = time.monotonic()
        self._stat = _read_stat()
        self._ours = _own_seconds()

    def others(self) -> float | None:
        """In CPUs, on average, rather too few. All children must have been waited for. None: it is not known."""
        stat, elapsed = _read_stat(), time.monotonic() - self._begin
        if not stat or not self._stat or elapsed <= 0:
            return None
        used = busy_cpus(self._stat, stat, self.cpus)
        return max(0.0, used - (_own_seconds() - self._ours) / elapsed)


def noticeable(cpus: int, seconds: float) -> float:
    """Others' use, in CPUs, from which on a figure of so many CPUs over so long says something.

    Three ticks of each CPU may be an accident of sampling: the client's self-check says the same.
    """
    return BUSY_ENOUGH_TO_SAY + 3 * TICK_S * cpus / seconds


def _read_stat() -> str:
    try:
        return PROC_STAT.read_text()
    except OSError:
        return ""


def _own_seconds() -> float:
    """CPU time of this program and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)
