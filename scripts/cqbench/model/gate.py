"""The outcome of a condition for CI (--fail-if-..., --max-...)."""

from __future__ import annotations

from collections.abc import Collection

OPEN, CLOSED, INCONCLUSIVE = "open", "closed", "inconclusive"


def exit_status(states: Collection[str]) -> int:
    """0 where all are open."""
    return 1 if CLOSED in states else 3 if INCONCLUSIVE in states else 0
