"""What a process holds, by /proc."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

SETTLED_S = 1.5  # without a change of descriptors, nor calls: a server that is idle for a second gives memory back
PATIENCE_S = 5.0


@dataclass(frozen=True)
class Vitals:
    rss_bytes: int
    descriptors: int
    threads: int


def read(pid: int) -> Vitals:
    """Raises OSError when there is no such process, or it is somebody else's."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = dict(re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.MULTILINE))
    return Vitals(int(found["VmRSS"]) * 1024, len(list(Path(f"/proc/{pid}/fd").iterdir())), int(found["Threads"]))


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
