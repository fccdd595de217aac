"""This machine, as a manifest describes it."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

SYS_CPU = Path("/sys/devices/system/cpu")


def machine() -> dict[str, Any]:
    """This machine. cpus: those that may be used here. Keys are None where the system does not say."""
    uname = platform.uname()
    return {
        "uname": f"{uname.system} {uname.release} {uname.version} {uname.machine}",
        "host_name": uname.node,
        "cpu_model": _cpu_model(),
        "cpus": sorted(os.sched_getaffinity(0)),
        "governors": _governors(),
    }


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)


def _governors(folder: Path = SYS_CPU) -> list[str] | None:
    """Returns the frequency governors of the CPUs; None without scaling, as in most virtual machines."""
    found = set()
    for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        try:
            found.add(path.read_text(encoding="ascii").strip())
        except OSError:
            continue
    return sorted(found) or None
