"""Summaries of several repetitions of a fault, as texts for tables: recovery.py has the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import astuple
from statistics import median
from typing import NamedTuple

from cqbench.model.recovery import Outcome
from cqbench.stats.medians import describe


class Column(NamedTuple):
    title: str
    text: Callable[[Sequence[Outcome]], str]


def cells(of: Sequence[Outcome]) -> list[str]:
    """By COLUMNS."""
    return [column.text(of) for column in COLUMNS]


def _figure(figure: Callable[[Outcome], float | None], scale: float, digits: int) -> Callable[[Sequence[Outcome]], str]:
    """'0.31 (0.30-0.33)': the median with its 95 % interval, where there is one; '-' where a repetition has none."""

    def text(value: float) -> str:
        return "never" if math.isinf(value) else f"{value:.{digits}f}"

    def texts(of: Sequence[Outcome]) -> str:
        values = [figure(outcome) for outcome in of]
        there = [value * scale for value in values if value is not None]
        if len(there) < len(values):
            return "-"
        middle, *interval = astuple(describe(there))
        ends = [text(end) for end in interval if end is not None]
        return text(middle) + (f" ({'-'.join(ends)})" if len(set(ends)) > 1 else "")

    return texts


def _statuses(of: Sequence[Outcome]) -> str:
    """'UNAVAILABLE 31, DEADLINE_EXCEEDED 2': medians, the most frequent first; 0 where a repetition has none."""
    codes = dict.fromkeys(code for o in of for code in o.failed)
    counts = {code: median(o.failed.get(code, 0.0) for o in of) for code in codes}
    return ", ".join(f"{code} {n:g}" for code, n in sorted(counts.items(), key=lambda pair: -pair[1]))


COLUMNS = (
    Column("lost %", _figure(lambda o: o.lost, 100, 2)),
    Column("first success s", _figure(lambda o: o.first_success_s, 1, 2)),
    Column("95 % again s", _figure(lambda o: o.recovery_s, 1, 2)),
    Column("P99 ms", _figure(lambda o: o.p99_ns, 1e-6, 1)),
    Column("max ms", _figure(lambda o: o.max_ns, 1e-6, 1)),
    Column("failed by status", _statuses),
)
