"""The outcome of a condition for CI (--fail-if-..., --max-...)."""

from __future__ import annotations

from collections.abc import Collection

OPEN, CLOSED, CANNOT_TELL = "open", "closed", "cannot tell"


def exit_status(states: Collection[str]) -> int:
    """0 where all are open."""
    return 1 if CLOSED in states else 3 if CANNOT_TELL in states else 0
