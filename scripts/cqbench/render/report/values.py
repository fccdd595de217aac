"""Figures as a report keeps them, and as people and scripts write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cqbench.render.report.model import Value
from cqbench.stats import medians

DIGITS = 6  # of what is kept in a report: more than the figures have


def describe(values: Sequence[float]) -> Value:
    """The median with its 95 % interval. values: not empty."""
    found = medians.describe(values)
    return Value(short(found.value), *(None if end is None else short(end) for end in (found.low, found.high)))


def short(value: float) -> float:
    """With few digits and no fraction of zeros, so that the report is small. value: finite."""
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded == int(rounded) else rounded


def number(value: float) -> str:
    """Four significant digits, thousands separated; whole numbers from 1,000 on. As figure() in hover.js."""
    rounded = float(f"{value:.4g}")
    if abs(rounded) >= 1000 or rounded == int(rounded):
        return f"{value:,.0f}"
    places = 3 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{places}f}".rstrip("0")
