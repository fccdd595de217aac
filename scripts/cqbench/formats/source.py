"""Bytes of other people's files, and JSON in them: limited in size and depth."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cqbench.formats.text import one_line

MAX_BYTES = 64 * 1024 * 1024


class BadDocument(ValueError):
    """A file that is not a usable result; the text is one line that names it and says why."""


class OtherFormat(BadDocument):
    """A file of another version of its format: nothing next to it can be used either."""


def read_bytes(path: Path) -> bytes:
    """Read once, so that a pipe (<(zcat ...)) does too. Raises BadDocument."""
    name = one_line(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadDocument(f"{name}: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise BadDocument(f"{name}: larger than {MAX_BYTES // 2**20} MiB, not a result of grpc_ping_client")
    return data


def once(paths: Iterable[Path]) -> None:
    """Raises BadDocument where two are one file, under whatever names: read twice it is no second measurement."""
    seen: dict[tuple[int, int], str] = {}
    for path in paths:
        known, name = _identity(path), one_line(str(path))
        if known in seen:
            other = "" if seen[known] == name else f", also as {seen[known]}"
            raise BadDocument(f"{name}: named twice{other}; each result counts once")
        if known:
            seen[known] = name


def common(some: Iterable[Path], others: Iterable[Path]) -> Path | None:
    """The first of others that is also one of some, under whatever name."""
    there = {_identity(path) for path in some} - {None}
    return next((path for path in others if _identity(path) in there), None)


def _identity(path: Path) -> tuple[int, int] | None:
    """Identifies a regular file, also through links and other paths. None for other files, such as a pipe."""
    try:
        found = path.stat()
    except OSError:
        return None  # reading it says why
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def decode(data: bytes, name: str) -> Any:
    """JSON of whatever kind. Raises BadDocument."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise BadDocument(f"{name}: nested too deeply, not a result of grpc_ping_client") from None
    except ValueError as error:
        raise BadDocument(f"{name}: not JSON: {one_line(str(error))}") from None


def check_version(found: Any, ours: int, key: str, what: str, name: str) -> None:
    """found: what the file has at key. ours: what is read. what: the format, for messages. Raises OtherFormat."""
    if type(found) is not int or not 0 < found < 2**63:
        raise OtherFormat(f"{name}: {key} is not the number of a version")
    if found > ours:
        raise OtherFormat(f"{name}: {what} {found}, of a newer cqbench than this one, which reads {what} {ours}")
    if found < ours:
        raise OtherFormat(
            f"{name}: {what} {found}, which only builds of cqbench 0.1.0 from before {what} {found + 1} read; "
            f"this version reads {what} {ours}: measure again"
        )


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
