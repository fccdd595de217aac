"""Result files -> runs: which files there are, and what each of them says. documents.py checks them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench import documents
from cqbench.documents import BadDocument, Document, Measured, one_line
from cqbench.surroundings import Manifests, Surroundings

MANIFEST = "manifest.json"
RAW = "raw"  # in an experiment's folder: a folder for each variant
NOT_RESULTS = (MANIFEST, "verdict.json")


@dataclass(frozen=True)
class Run:
    """One result file. entries: those of the file, one for each of document.points and in their order."""

    path: Path
    variant: str  # the folder's name in an experiment; '' elsewhere
    document: Document
    context: dict[str, Any]
    entries: tuple[dict[str, Any], ...]
    surroundings: Surroundings

    def points(self) -> Iterator[tuple[Measured, dict[str, Any]]]:
        """What was measured, with the entry that has the rest of its figures."""
        return zip(self.document.points, self.entries, strict=True)


def read_all(paths: Iterable[Path]) -> list[Run]:
    """Of files and folders, in a stable order. Raises BadDocument."""
    manifests = Manifests()
    return [read(file, variant, manifests) for path in paths for file, variant in find(path)]


def find(path: Path) -> Iterator[tuple[Path, str]]:
    """Result files, each with its variant; of an experiment's folder the raw results only. Raises BadDocument."""
    if not path.is_dir():
        yield path, ""
        return
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        if RAW in folders:
            folders[:], names = [RAW], []
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".json") or name.startswith(".") or name in NOT_RESULTS:
                continue
            file = Path(folder, name)
            if not file.is_file():  # a pipe would never end
                raise BadDocument(f"{one_line(str(file))}: not a regular file")
            yield file, _variant(path, file)


def _unreadable(error: OSError) -> None:
    raise BadDocument(f"{one_line(str(error.filename))}: {error.strerror}")


def _variant(root: Path, file: Path) -> str:
    """The folder between raw/ and the file, as long as the root is above it."""
    parts = (root.resolve().name, *file.relative_to(root).parts)
    return one_line(parts[-2]) if len(parts) > 2 and parts[-3] == RAW else ""


def read(path: Path, variant: str = "", manifests: Manifests | None = None) -> Run:
    """One file, or a pipe such as <(zcat x.json.gz). manifests: those of the other files, which saves
    reading them again. Raises BadDocument."""
    name = one_line(str(path))
    data = documents.decode(documents.read_bytes(path), name)
    document = documents.check(data, name)
    entries = tuple(entry for _, entry in documents.entries(data))
    return Run(path, variant, document, data["context"], entries, _surroundings(path, manifests or Manifests()))


def _surroundings(path: Path, manifests: Manifests) -> Surroundings:
    """Where the file is decides, not how it was named: an experiment's results are its results one by one as well."""
    parts = path.resolve().parts[-3:]
    if len(parts) < 3 or parts[0] != RAW:
        return Surroundings()
    return manifests.of(path.resolve().parents[2] / MANIFEST, "/".join(parts))
