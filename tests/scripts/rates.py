"""Error rates: how many experiments to draw, and how many may go wrong.

CQBENCH_FULL=1 draws ten times as many as a quick test, CQBENCH_FULL=100 a hundred times.
"""

from __future__ import annotations

import math
import os

FULL = bool(os.environ.get("CQBENCH_FULL"))
FACTOR = max(10, int(os.environ["CQBENCH_FULL"])) if FULL else 1


def draws(quick: int) -> range:
    return range(quick * FACTOR)


def at_most(wrong: int, of: int, rate: float, what: str) -> None:
    """Fails where chance (one in a thousand) does not explain that there are more."""
    if FULL:
        print(f"{what}: {wrong} of {of} ({wrong / of:.1%})")
    assert wrong <= rate * of + 3.1 * math.sqrt(rate * (1 - rate) * of), f"{what}: {wrong} of {of}"
