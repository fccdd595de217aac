"""The results folder: a new one each time, its manifest, the CSV of all points."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cqbench.files.point import Measured
from cqbench.files.reasons import Reason
from cqbench.samples.runs import Run

# Named as in the client's own CSV where it has the same column.
CSV_HEADER = (
    "variant,method,api,policy,messages,stub,loop,inflight,rate_asked,repetition,connections,expected_connections,"
    "throughput,p50,p90,p99,p99_9,p100,sent_p50,sent_p99,completed,failed,partial,failure,suspect,limits\n"
)


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
    """What the programs say about themselves, beside Python's version and the kernel's."""
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for name in ("grpc_ping_server", "grpc_ping_client"):
        try:
            found[name] = _stdout([str(binaries / name), "--version"])
        except (OSError, subprocess.SubprocessError):
            found[name] = "unknown"
    return found


def to_csv(measured: Iterable[tuple[int, Run]]) -> str:
    """One line per point of each (repetition, run); latencies in microseconds, empty where there is no figure.

    suspect: the reasons, those that hold for every point of the run included.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    out.write(CSV_HEADER)
    for repetition, run in measured:
        for point in run.document.points:
            writer.writerow(_csv_row(repetition, run, point))
    return out.getvalue()


def _csv_row(repetition: int, run: Run, p: Measured) -> list[object]:
    d = run.document
    latencies = (p.p50_ns, p.p90_ns, p.p99_ns, p.p999_ns, p.max_ns, p.sent_p50_ns, p.sent_p99_ns)
    return [
        run.variant,
        d.method,
        d.api,
        d.policy,
        d.messages,
        d.stub,
        d.loop,
        p.inflight,
        f"{p.load.number:.12g}" if p.load.open else "",
        repetition,
        "" if p.connections is None else p.connections,
        p.expected_connections,
        "" if p.throughput is None else f"{p.throughput:.2f}",
        *("" if ns is None else f"{ns / 1000:.1f}" for ns in latencies),
        p.completed,
        p.failed,
        str(p.partial).lower(),
        p.failure,
        _texts((*d.suspect, *p.suspect)),
        _texts(p.limits),
    ]


def _texts(found: Iterable[Reason]) -> str:
    return "; ".join(reason.text for reason in found)
