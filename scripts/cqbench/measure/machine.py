"""This machine and this source code, as a manifest describes them."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from cqbench.formats import storage
from cqbench.formats.manifest import Machine, Place
from cqbench.measure.programs import ROOT

SYS_CPU = Path("/sys/devices/system/cpu")


def here() -> Place:
    """This machine, these variables, this source code."""
    environment = {k: v for k, v in sorted(os.environ.items()) if k.startswith("GRPC_")}
    return Place(git_revision=storage.git_revision(ROOT) or "", machine=machine(), environment=environment)


def machine() -> Machine:
    """This machine. cpus: those that may be used here. Empty where the system does not say."""
    uname = platform.uname()
    return Machine(
        uname=f"{uname.system} {uname.release} {uname.version} {uname.machine}",
        host_name=uname.node,
        cpu_model=_cpu_model(),
        cpus=sorted(os.sched_getaffinity(0)),
        governors=_governors(),
    )


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")


def _governors(folder: Path = SYS_CPU) -> list[str]:
    """Returns the frequency governors of the CPUs; none without scaling, as in most virtual machines."""
    found = set()
    for path in folder.glob("cpu[0-9]*/cpufreq/scaling_governor"):
        try:
            found.add(path.read_text(encoding="ascii").strip())
        except OSError:
            continue
    return sorted(found)
