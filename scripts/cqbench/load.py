"""Whether something else uses the CPUs before we measure: the first thing to know about noisy figures."""

from __future__ import annotations

import os
import time
from pathlib import Path

BUSY_ENOUGH_TO_SAY = 0.1  # of a CPU
PROC_STAT = Path("/proc/stat")


def cpu_times(stat: str) -> dict[int, tuple[int, int]]:
    """/proc/stat -> CPU: (all ticks, ticks in which it was idle or waited for a disk)."""
    times = {}
    for line in stat.splitlines():
        name, *fields = line.split() or [""]
        if name[:3] == "cpu" and name[3:].isdigit() and len(fields) >= 8:
            ticks = [int(f) for f in fields[:8]]
            times[int(name[3:])] = (sum(ticks), ticks[3] + ticks[4])
    return times


def busy_cpus(before: str, after: str, cpus: tuple[int, ...] = ()) -> float:
    """How many of these CPUs (empty: all) were busy on average between two readings of /proc/stat."""
    first, last = cpu_times(before), cpu_times(after)
    busy = 0.0
    for cpu in set(cpus or last) & set(first) & set(last):
        total, idle = (last[cpu][i] - first[cpu][i] for i in (0, 1))
        busy += 1 - idle / total if total > 0 else 0
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
