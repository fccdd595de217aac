"""Which names the installed gRPC looks at: they are among the strings of its libraries.

A name that is only in the headers has no reader: whatever is set, nobody asks. A short name that a compiler turned into
numbers would be missed; those of the catalogue are longer than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cqbench.analysis.tune.catalogue import ALLOCATOR, ENVIRONMENT, EXPERIMENT, GENERATIONS, Setting

OF_A_NAME = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.")


@dataclass(frozen=True)
class Library:
    """version: '1.51.1', '' when it is not known. files: libraries, or the program that has them; none: not known.

    folders: where a program of this build finds others.
    """

    version: str
    files: tuple[Path, ...]
    folders: tuple[Path, ...] = ()

    @cached_property
    def data(self) -> bytes:
        """Raises OSError."""
        return b"\0".join(path.read_bytes() for path in self.files)

    @property
    def generation(self) -> str:
        """'1.51'."""
        return ".".join(self.version.split(".")[:2])

    def has(self, name: str) -> bool:
        """True if the library contains the whole string. 1.51 has names of variables in lower case."""
        whole = name.encode() + b"\0"
        at = self.data.find(whole)
        while at > 0 and self.data[at - 1] in OF_A_NAME:
            at = self.data.find(whole, at + 1)
        return at >= 0

    def reads(self, setting: Setting) -> bool:
        """True if the library reads the setting. For settings outside of gRPC: true if they can be set.

        In gRPC versions of the catalogue both conditions must hold: features that are on by default have the same name.
        """
        if setting.kind == ALLOCATOR:
            return self.find(setting.key) is not None
        if setting.readers is None:
            return True
        if setting.readers and self.generation in GENERATIONS and self.generation not in setting.readers:
            return False
        if not self.files:
            return self.generation in setting.readers
        if setting.kind == EXPERIMENT:
            return all(self.has(key) for key in setting.keys)
        if setting.kind == ENVIRONMENT:
            return self.has(setting.key) or self.has(setting.key.lower())
        return self.has(setting.key)

    def find(self, file: str) -> Path | None:
        """Finds a shared library that can be preloaded, as a program of this build sees it."""
        return next((folder / file for folder in self.folders if (folder / file).exists()), None)
