"""The results folder: a new one each time, what is written into it, and what made it."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def now() -> str:
    """Local time with offset, RFC 3339."""
    return datetime.datetime.now().astimezone().isoformat(timespec="seconds")


def new_folder(root: Path, prefix: str = "") -> Path:
    """root/<prefix><date>-<time>, with -2, -3, ... behind it when that exists. Raises OSError."""
    root.mkdir(parents=True, exist_ok=True)
    name = prefix + datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    for attempt in range(1, 1000):
        folder = root / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            continue
    raise FileExistsError(f"{root}/{name} and 998 others exist")


def write(path: Path, text: str) -> None:
    """All or nothing: readers never see half a file. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except BaseException:  # a Ctrl-C too
        temporary.unlink(missing_ok=True)
        raise


def write_json(path: Path, data: Any) -> None:
    """Raises OSError, and ValueError for what JSON does not have: not a number, infinity."""
    write(path, json.dumps(data, indent=2, allow_nan=False) + "\n")


def keep_old(path: Path) -> None:
    """A file of an earlier attempt gets .1, .2, ... behind its name: nothing is overwritten. Raises OSError."""
    if not path.exists():
        return
    number = 1
    while (old := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    path.rename(old)


def git_revision(root: Path) -> str | None:
    """The commit, with '+changes' behind it when the tree differs from it. None outside of git."""
    revision = _git(root, "rev-parse", "HEAD")
    if not revision:
        return None
    return revision + ("+changes" if _git(root, "status", "--porcelain") else "")


def _git(root: Path, *arguments: str) -> str:
    try:
        return _stdout(["git", "-C", str(root), *arguments])
    except (OSError, subprocess.SubprocessError):
        return ""


def _stdout(command: list[str]) -> str:
    """Raises OSError, SubprocessError."""
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()


def versions(binaries: Path) -> dict[str, str]:
    """Returns the programs' versions, and those of Python and the kernel."""
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for name in ("grpc_ping_server", "grpc_ping_client"):
        try:
            found[name] = _stdout([str(binaries / name), "--version"])
        except (OSError, subprocess.SubprocessError):
            found[name] = "unknown"
    return found
