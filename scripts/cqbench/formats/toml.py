"""Files that people write, in TOML, and the base of the models of their tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from cqbench.formats import problems
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Table(BaseModel):
    """Read-only. No conversions, and no other keys than those of the model."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    def problems(self) -> Iterator[problems.Problem]:
        """Yields what rules between keys refuse."""
        yield from ()

    @model_validator(mode="after")
    def _keys_go_together(self) -> Table:
        problems.refuse(type(self).__name__, list(self.problems()))
        return self


def read(path: Path) -> dict[str, Any]:
    """Raises BadDocument."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadDocument(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> dict[str, Any]:
    """name: of the file, for messages. Raises BadDocument."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadDocument(f"{name}: not TOML: {one_line(str(error))}") from None
