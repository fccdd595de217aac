"""Values of decoded JSON, checked as they are taken out. Texts of other people's files on one printable line."""

from __future__ import annotations

import math
from typing import Any

MAX_MESSAGE = 160


def one_line(text: str, limit: int = MAX_MESSAGE) -> str:
    """Printable and short: messages come from the network and go to a terminal."""
    clean = "".join(c if c.isprintable() else " " for c in text).strip()
    return clean if len(clean) <= limit else clean[: limit - 3] + "..."


class Wrong(ValueError):
    """The text says what and where."""


def required(data: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
    """The value of a required key. A bool is not a number here."""
    if not isinstance(data, dict):
        raise Wrong(f"{where} is not an object")
    if key not in data:
        raise Wrong(f"{where} has no '{key}'")
    value = data[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Wrong(f"'{key}' in {where} has the wrong type")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_number(value, key, where)
    return value


def _check_number(value: float, key: str, where: str) -> None:
    # Integers are compared, not converted: a huge one does not fit a float.
    if not 0 <= value < 2**63 or (isinstance(value, float) and not math.isfinite(value)):
        raise Wrong(f"'{key}' in {where} is out of range")


def optional(data: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
    return required(data, key, kind, where) if data.get(key) is not None else None


def listed(data: dict[str, Any], key: str, kind: type | tuple[type, ...], where: str) -> list[Any]:
    """Empty when it is absent."""
    items: list[Any] = optional(data, key, list, where) or []
    if not all(isinstance(item, kind) and not isinstance(item, bool) for item in items):
        raise Wrong(f"'{key}' in {where} has an item of the wrong type")
    return items
