"""Use of the CPUs by other programs, before a measurement and during it: what to know first about noisy figures."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path

import psutil

from cqbench.formats.text import parse_cpus

BUSY_ENOUGH_TO_SAY = 0.1  # of a CPU
ONLINE = Path("/sys/devices/system/cpu/online")
TICK_S = 0.01  # of the kernel's clock


Times = dict[int, tuple[float, float]]  # CPU -> seconds of all kinds, seconds of programs


def cpu_times() -> Times:
    """The times of each CPU that is online. Empty where the kernel does not report them.

    Not of programs: being idle, waiting for a disk, interrupts, and what the hypervisor took. Kernels that account
    interrupts exactly leave them out of the programs' own times; what such times are taken from must do so, too.
    """
    try:
        numbers = parse_cpus(ONLINE.read_text(encoding="ascii"))
        return {n: (sum(t[:8]), sum(t[:3])) for n, t in zip(numbers, psutil.cpu_times(percpu=True), strict=True)}
    except (OSError, ValueError):
        return {}


def busy_cpus(first: Times, last: Times, cpus: tuple[int, ...] = ()) -> float:
    """How many of these CPUs (empty: all) programs kept busy on average between two results of cpu_times()."""
    busy = 0.0
    for cpu in set(cpus or last) & set(first) & set(last):
        total, used = (last[cpu][i] - first[cpu][i] for i in (0, 1))
        busy += used / total if total > 0 else 0
    return busy


def remark(cpus: tuple[int, ...], seconds: float = 0.5) -> str:
    """Looks for that long; no CPUs given: all that may be used. '' when they are idle or unknown."""
    before = cpu_times()
    time.sleep(seconds)
    busy = busy_cpus(before, cpu_times(), cpus or tuple(os.sched_getaffinity(0)))
    if busy < BUSY_ENOUGH_TO_SAY:
        return ""
    return f"other programs keep {busy:.1f} of the CPUs that are used here busy; expect noisy figures"


class Watch:
    """Measures the use of some CPUs by unrelated processes while children of ours run there, from now on."""

    def __init__(self, cpus: tuple[int, ...]) -> None:
        """cpus: all that the children may use; what they use elsewhere would count as less of others."""
        self.cpus = cpus
        self._begin = time.monotonic()
        self._times = cpu_times()
        self._ours = _own_seconds()

    def others(self) -> float | None:
        """In CPUs, on average, rather too few. All children must have been waited for. None: it is not known."""
        times, elapsed = cpu_times(), time.monotonic() - self._begin
        if not times or not self._times or elapsed <= 0:
            return None
        used = busy_cpus(self._times, times, self.cpus)
        return max(0.0, used - (_own_seconds() - self._ours) / elapsed)


def noticeable(cpus: int, seconds: float) -> float:
    """Returns the minimum use by unrelated processes, in CPUs, that is significant for this number of CPUs and this
    time.

    Three ticks of each CPU may be an accident of sampling: the client's self-check uses the same rule.
    """
    return BUSY_ENOUGH_TO_SAY + 3 * TICK_S * cpus / seconds


def _own_seconds() -> float:
    """CPU time of this program and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)
