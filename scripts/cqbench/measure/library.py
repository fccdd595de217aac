"""Finds the gRPC that a program uses: the files of its libraries, and its version."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from cqbench.analysis.tune.library import Library
from cqbench.measure import group

NAMES = ("libgrpc.so", "libgpr.so")
FOLDERS = ("usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib", "usr/local/lib", "lib64")
SID_ROOT = Path("/var/cache/cqbench/sid-root")
ANSWER_TIMEOUT_S = 60
STATIC = re.compile(r"\(gRPC [^:]+: static\b")  # in what --version prints


def installed(program: Path) -> Library:
    """Returns the gRPC of one of this project's programs: shared libraries, or the program itself. Raises OSError."""
    version = _version([str(program), "--version"])
    linked = [] if STATIC.search(version) else _linked(program)
    shared = tuple(path for name in NAMES for path in linked if path.name.startswith(name))
    files = (program,) if STATIC.search(version) else shared
    folders = tuple(Path("/") / folder for folder in FOLDERS)
    return Library(_number(version), files, folders)


def of_sid(newgrpc: Path, root: Path | None = None) -> Library:
    """Returns the library in newgrpc.sh's root file system. Raises OSError."""
    root = root or Path(os.environ.get("CQBENCH_SID_ROOT", SID_ROOT))
    folders = tuple(root / folder for folder in FOLDERS)
    files = tuple(path for name in NAMES for path in _existing(folders, name)[:1])
    return Library(_number(_version([str(newgrpc), "--run", "grpc_ping_client", "--version"])), files, folders)


def _existing(folders: Iterable[Path], name: str) -> list[Path]:
    return [folder / name for folder in folders if (folder / name).exists()]


def _linked(program: Path) -> list[Path]:
    """Shared libraries, as the loader finds them; none where it cannot say."""
    try:
        done = group.ask(["ldd", str(program)], 20)
    except (OSError, subprocess.SubprocessError):
        return []
    return [Path(found) for found in re.findall(r"=> (/\S+)", done.stdout)]


def _version(command: list[str]) -> str:
    try:
        return group.ask(command, ANSWER_TIMEOUT_S).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _number(version: str) -> str:
    found = re.search(r"\(gRPC (\d+\.\d+\.\d+)", version)
    return found[1] if found else ""
