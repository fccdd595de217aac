"""The memory, descriptors and threads of a process."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil

SETTLED_S = 1.5  # without a change of descriptors, nor calls: a server that is idle for a second gives memory back
PATIENCE_S = 5.0


@dataclass(frozen=True)
class Vitals:
    rss_bytes: int
    descriptors: int
    threads: int


def read(pid: int) -> Vitals:
    """Raises OSError when there is no such process, or it is somebody else's."""
    try:
        process = psutil.Process(pid)
        return Vitals(process.memory_info().rss, process.num_fds(), process.num_threads())
    except psutil.Error as error:
        raise OSError(str(error)) from None


def at_rest(pid: int) -> Vitals:
    """Once its descriptors have not changed for a moment: what was closed is gone then. Raises OSError."""
    give_up_at = time.monotonic() + PATIENCE_S
    last, since = read(pid), time.monotonic()
    while time.monotonic() < give_up_at and time.monotonic() - since < SETTLED_S:
        time.sleep(0.05)
        now = read(pid)
        if now.descriptors != last.descriptors:
            since = time.monotonic()
        last = now
    return last
