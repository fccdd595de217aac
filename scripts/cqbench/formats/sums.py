"""SHA256SUMS of a folder of results: the SHA-256 of its files, written when the experiment has ended.

A file of its own, because a manifest cannot have its own hash in it, and because `sha256sum -c` reads it: nobody needs
cqbench to check a folder. The SHA-256 of SHA256SUMS itself stands for all of them.

`cqbench report` makes report.html and hgrm/ again whenever it is asked to, so they are not in the list. The hashes find
damage and careless edits. They do not find somebody who changes a file and writes its new hash.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cqbench.formats import source, storage
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

FILE = "SHA256SUMS"
MADE_AGAIN = ("report.html", "hgrm")
LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
CHUNK = 1024 * 1024  # bytes


@dataclass(frozen=True)
class Compared:
    """Names are relative to the folder. own: the SHA-256 of SHA256SUMS. files: number of files in it."""

    own: str
    files: int
    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()  # in the folder, and not in the list


def write(folder: Path) -> str:
    """Returns the SHA-256 of what it writes. Raises OSError."""
    text = "".join(f"{of_file(folder / name)}  {name}\n" for name in _names(folder))
    storage.write(folder / FILE, text)
    return hashlib.sha256(text.encode()).hexdigest()


def remove(folder: Path) -> None:
    """Before anything in the folder changes. Raises OSError."""
    (folder / FILE).unlink(missing_ok=True)


def compare(folder: Path) -> Compared | None:
    """None where there is no list. Raises BadDocument, OSError."""
    path = folder / FILE
    if not path.is_file():
        return None
    data = source.read_bytes(path)
    listed, there = _listed(data, one_line(str(path))), set(_names(folder))
    changed = (name for name in sorted(listed.keys() & there) if of_file(folder / name) != listed[name])
    return Compared(
        hashlib.sha256(data).hexdigest(),
        len(listed),
        tuple(changed),
        tuple(sorted(listed.keys() - there)),
        tuple(sorted(there - listed.keys())),
    )


def _listed(data: bytes, name: str) -> dict[str, str]:
    """By name. Raises BadDocument."""
    found = {}
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        match = LINE.fullmatch(line)
        if not match:
            raise BadDocument(f"{name}: line {number} is not a SHA-256 and the name of a file")
        found[match[2]] = match[1]
    return found


def _names(folder: Path) -> list[str]:
    """Every regular file but hidden ones, the list, and what is made again."""
    return sorted(_files(folder, ""))


def _files(folder: Path, above: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        name = f"{above}{entry.name}"
        if entry.name.startswith(".") or name in (FILE, *MADE_AGAIN):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), f"{name}/")
        elif entry.is_file():
            yield name


def of_file(path: Path) -> str:
    """Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
