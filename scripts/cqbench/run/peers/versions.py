"""Which version a peer on PATH is: targets, and what is read of a peer's output, are those of one version."""

from __future__ import annotations

import mmap
import re
import shutil
import subprocess
from pathlib import Path

from cqbench.measure import group
from cqbench.run.peers.adapters import Peer

ANSWER_TIMEOUT_S = 20
RELEASE = re.compile(r"(?<![\w.])v?(\d+\.\d+\.\d+)(?![\w.-])")


def absent(peer: Peer) -> str:
    """Why it cannot be measured, in a few words; '' when it can."""
    program = shutil.which(peer.name)
    if program is None:
        return f"{peer.name} not installed"
    if not peer.version:
        return ""
    found = of_go_module(Path(program), peer.module) or _said(program)
    return "" if found == peer.version else f"{peer.name} {found or '?'}, not {peer.version}"


def of_go_module(program: Path, module: str) -> str:
    """'1.2.3', which `go install` leaves in a program: many print no version of their own. '' where there is none."""
    try:
        with program.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            found = re.search(rb"\tv?(\d+\.\d+\.\d+)\t", _line(data, f"mod\t{module}\t".encode()))
    except (OSError, ValueError):  # ValueError: it is empty
        return ""
    return found[1].decode() if found else ""


def _line(data: mmap.mmap, begin: bytes) -> bytes:
    """The first that begins so."""
    at = data.find(b"\n" + begin)
    return data[at : max(at, data.find(b"\n", at + 1))] if at >= 0 else b""


def _said(program: str) -> str:
    """Where it is asked; '' for no answer."""
    try:
        done = group.ask([program, "--version"], ANSWER_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        return ""
    found = RELEASE.search(done.stdout + done.stderr)
    return found[1] if found else ""
