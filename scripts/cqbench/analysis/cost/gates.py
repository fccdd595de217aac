"""Conditions for CI on cost profiles: maxima of instructions, system calls and allocations per call, and a rise in %.

A maximum is closed where every repetition is beyond it, open where none is, and inconclusive in between. A rise is
judged by the interval of the change (changes.py): closed where all of it is beyond the limit, open where none is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cqbench.analysis.cost.changes import GATED, MORE, ROUNDING, Change, Comparison
from cqbench.analysis.cost.counts import TOTAL
from cqbench.analysis.cost.names import TOTALS, number
from cqbench.analysis.cost.profile import CLIENT, SERVER, Profile
from cqbench.model.gate import CLOSED, INCONCLUSIVE, OPEN
from cqbench.stats.ratios import MIN_REPETITIONS as NEEDED


@dataclass(frozen=True)
class Judged:
    """lines: why it is not open, one each."""

    title: str
    state: str
    lines: tuple[str, ...] = ()


def at_most(flag: str, limit: float, profile: Profile, names: tuple[str, ...]) -> Judged:
    """Both ends together. names: the first total of these that a cost profile has."""
    title = f"{flag} {limit:g}"
    found = []
    for side in profile.sides:
        figures = [f for name in names if (f := profile.total(side, name))]
        if not figures:
            return Judged(title, INCONCLUSIVE, (f"{names[0]} of the {side} were not counted",))
        found.append(figures[0])
    low, high = sum(f.low for f in found), sum(f.high for f in found)
    ends = " and ".join(f.side for f in found)
    text = f"{number(low)} to {number(high)} {names[0]} per call ({ends})"
    if low > limit:
        return Judged(title, CLOSED, (text,))
    one_end = len(found) == 1 and found[0].side in (CLIENT, SERVER)
    if high > limit or one_end or not found:
        why = f"{text}, of one end alone" if one_end and high <= limit else text
        return Judged(title, INCONCLUSIVE, (why,))
    return Judged(title, OPEN)


def more_expensive(limit_percent: float, comparison: Comparison) -> Judged:
    """Instructions, system calls and allocations, each of each end."""
    title = f"--fail-if-more-expensive {limit_percent:g}%"
    looked_at = [c for c in comparison.changes if c.key.kind == TOTAL and c.key.name in GATED]
    gone = [
        f"{f.side}, {TOTALS[f.name]}: not counted after"
        for f in comparison.before.figures
        if f.kind == TOTAL and f.name in GATED and not comparison.after.total(f.side, f.name)
    ]
    closed = [_words(c) for c in looked_at if c.word == MORE and _ends(c)[0] >= limit_percent - ROUNDING]
    if closed or gone:
        return Judged(title, CLOSED, (*closed, *gone))
    open_to_doubt = [_words(c) for c in looked_at if _ends(c)[1] > limit_percent + ROUNDING]
    if open_to_doubt or not looked_at:
        return Judged(title, INCONCLUSIVE, tuple(open_to_doubt) or ("nothing was counted on both sides",))
    return Judged(title, OPEN)


def _ends(change: Change) -> tuple[float, float]:
    """The interval of the change, percent; without one, everything is possible."""
    low, high = change.interval or (-math.inf, math.inf)
    base = change.values[0] or ROUNDING
    return 100 * low / base, 100 * high / base


def _words(change: Change) -> str:
    before, after = change.values
    low, high = _ends(change)
    known = f"{low:+.2f} to {high:+.2f} %" if change.interval else f"too few repetitions: {_fewest(change)} of {NEEDED}"
    return f"{change.side}, {change.title}: {number(before)} before, {number(after)} after ({known})"


def _fewest(change: Change) -> int:
    return min(f.repetitions for f in (change.before, change.after) if f)
