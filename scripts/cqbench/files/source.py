"""Bytes of other people's files, and JSON in them: limited in size and depth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cqbench.files.text import one_line

MAX_BYTES = 64 * 1024 * 1024


class BadDocument(ValueError):
    """A file that is not a usable result; the text is one line that names it and says why."""


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


def decode(data: bytes, name: str) -> Any:
    """JSON of whatever kind. Raises BadDocument."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise BadDocument(f"{name}: nested too deeply, not a result of grpc_ping_client") from None
    except ValueError as error:
        raise BadDocument(f"{name}: not JSON: {one_line(str(error))}") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
