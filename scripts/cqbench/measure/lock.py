"""A folder of results belongs to one run at a time: whoever goes on in one takes it before anything in it is read."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Busy(RuntimeError):
    """The folder cannot be had; the text is one line."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Nobody else has it meanwhile. Raises Busy."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise Busy(f"{folder}: not a folder of results: {error.strerror}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(f"{folder}: another experiment is running in it") from None
        yield
    finally:
        os.close(descriptor)
