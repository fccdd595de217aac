"""The head of a comparison: how many sessions either side has, and where the part of the intervals that is between
sessions comes from.
"""

from __future__ import annotations

from collections.abc import Iterable

from cqbench.analysis.compare.gates import INSTEAD
from cqbench.analysis.compare.points import Comparison, Figure
from cqbench.analysis.compare.sessions import Basis
from cqbench.stats.ratios import MIN_SESSIONS


def lines(comparison: Comparison) -> list[str]:
    """Nothing where both sides were measured in the same sessions."""
    figures = [figure for part in comparison.parts for figure in part.figures.values()]
    return [line for basis in Basis if (line := _line(basis, [f for f in figures if f.basis is basis]))]


def _line(basis: Basis, figures: list[Figure]) -> str:
    if not figures or basis in (Basis.SAME, Basis.COUNTED):
        return ""
    before, after = (_range(figure.sessions[side] for figure in figures) for side in (0, 1))
    text = f"sessions: {before} before, {after} after"
    if basis is Basis.UNKNOWN:
        return (
            f"! {text}: what changed on the machine between them is in every ratio, so all are inconclusive; "
            f"needed: {MIN_SESSIONS} sessions on either side, or {INSTEAD}"
        )
    return f"{text}; {_history(figures)}" if basis is Basis.HISTORY else text


def _history(figures: list[Figure]) -> str:
    """By how much the sessions of the history differ, of the first metric."""
    first = [f.spreads for f in figures if f.metric == figures[0].metric and f.spreads]
    spreads = [spread for both in first for spread in both]
    percent = sorted({f"{spread.percent:.2g}" for spread in spreads}, key=float)
    ends = percent[0] if len(percent) == 1 else f"{percent[0]} to {percent[-1]}"
    numbers = _range(spread.sessions for spread in spreads)
    return f"the {numbers} of the history differ by {ends} % (standard deviation, {figures[0].metric.title})"


def _range(numbers: Iterable[int]) -> str:
    found = list(numbers)
    return f"{min(found)}" if min(found) == max(found) else f"{min(found)} to {max(found)}"
