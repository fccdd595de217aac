"""Result files -> runs: which files there are, and what each of them says. documents.py checks them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench.formats import result, source
from cqbench.formats.point import Measured
from cqbench.formats.result import Document
from cqbench.formats.source import BadDocument
from cqbench.formats.surroundings import Manifests, Surroundings
from cqbench.formats.text import one_line

MANIFEST = "manifest.json"
RAW = "raw"  # in an experiment's folder: a folder for each configuration
NOT_RESULTS = (MANIFEST, "verdict.json")


@dataclass(frozen=True)
class Run:
    """One result file."""

    path: Path
    configuration: str  # the folder's name in an experiment; '' elsewhere
    document: Document
    surroundings: Surroundings

    @property
    def context(self) -> dict[str, Any]:
        return self.document.context

    def points(self) -> list[Measured]:
        return self.document.points


def read_all(paths: Iterable[Path]) -> list[Run]:
    """Reads files and folders, in a stable order. Raises BadDocument, also if a file is named twice."""
    manifests = Manifests()
    found = [of for path in paths for of in find(path)]
    source.once(file for file, _ in found)
    return [read(file, configuration, manifests) for file, configuration in found]


def find(path: Path) -> Iterator[tuple[Path, str]]:
    """Result files, each with its configuration; of an experiment's folder the raw results only. Raises BadDocument."""
    if not path.is_dir():
        yield path, ""
        return
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        experiment = RAW in folders
        folders[:] = [RAW] if experiment else sorted(folders)
        for name in () if experiment else sorted(names, key=_natural):
            if not name.endswith(".json") or name.startswith(".") or name in NOT_RESULTS:
                continue
            file = Path(folder, name)
            if not file.is_file():  # a pipe would never end
                raise BadDocument(f"{one_line(str(file))}: not a regular file")
            yield file, _configuration(path, file)


def _natural(name: str) -> list[tuple[int, str]]:
    """'01-8.json' before '01-16.json'."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _unreadable(error: OSError) -> None:
    raise BadDocument(f"{one_line(str(error.filename))}: {error.strerror}")


def _configuration(root: Path, file: Path) -> str:
    """The folder between raw/ and the file, as long as the root is above it."""
    parts = (root.resolve().name, *file.relative_to(root).parts)
    return one_line(parts[-2]) if len(parts) > 2 and parts[-3] == RAW else ""


def read(path: Path, configuration: str = "", manifests: Manifests | None = None) -> Run:
    """One file, or a pipe such as <(zcat x.json.gz). manifests: those of the other files, which saves
    reading them again. Raises BadDocument."""
    return of_bytes(path, source.read_bytes(path), configuration, manifests)


def of_bytes(path: Path, data: bytes, configuration: str = "", manifests: Manifests | None = None) -> Run:
    """Makes runs of a file's bytes. Raises BadDocument."""
    document = result.parse(data, one_line(str(path)))
    return Run(path, configuration, document, _surroundings(path, manifests or Manifests()))


def _surroundings(path: Path, manifests: Manifests) -> Surroundings:
    """Where the file is decides, not how it was named: an experiment's results are its results one by one as well."""
    parts = path.resolve().parts[-3:]
    if len(parts) < 3 or parts[0] != RAW:
        return Surroundings()
    return manifests.of(path.resolve().parents[2] / MANIFEST, "/".join(parts))
