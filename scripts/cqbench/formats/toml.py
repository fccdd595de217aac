"""Files that people write, in TOML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


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
