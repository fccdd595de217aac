"""--fail-if-slower, --fail-if-latency-higher, --max-allocs-per-rpc: conditions for CI. A gate is open only where a loss
above the limit is excluded: the 95 % interval of every point ends before it, or every count is below it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cqbench.analysis.compare.points import Comparison, Figure
from cqbench.analysis.compare.sections import Point
from cqbench.analysis.compare.sessions import Basis
from cqbench.analysis.compare.sides import counted
from cqbench.model.gate import CLOSED, INCONCLUSIVE, OPEN
from cqbench.model.metric import BY_NAME, THROUGHPUT, Metric
from cqbench.model.ratio import values
from cqbench.model.thresholds import MORE_REPETITIONS, ROUNDING_PERCENT
from cqbench.stats import ratios
from cqbench.stats.ratios import Ratio

# Instead of throughput, for benchmarks of other programs: a speed is what a time is the inverse of.
SPEEDS = ("real_time", "ns/op")
INTERLEAVED = "a measurement in turns (cqbench run EXPERIMENT --gate BEFORE_BIN AFTER_BIN)"
INSTEAD = f"a history (--history FOLDER) that says how far sessions differ, or {INTERLEAVED}"


@dataclass(frozen=True)
class Gate:
    """worse: the direction of the metric that closes it, 1 higher or -1 lower."""

    flag: str
    metric: Metric
    limit_percent: float
    worse: int

    @property
    def title(self) -> str:
        return f"{self.flag} {self.limit_percent:g}%"

    def loss(self, ratio: Ratio) -> tuple[float, float, float]:
        """(least, measured, most), percent of what was before; below 0 a gain. The interval is there."""
        assert ratio.low is not None and ratio.high is not None
        told = ratio.inverse() if self.metric.name in SPEEDS else ratio
        worse = -1 if self.metric.name in SPEEDS else self.worse
        assert told.low is not None and told.high is not None
        least, most = sorted(worse * (end - 1) * 100 for end in (told.low, told.high))
        return least, worse * (told.value - 1) * 100, most

    @property
    def limit(self) -> float:
        """As a ratio of the metric."""
        if self.metric.name in SPEEDS:
            return 1 / (1 - min(self.limit_percent, 99.999) / 100)
        return max(1e-5, 1 + self.worse * self.limit_percent / 100)


@dataclass(frozen=True)
class Most:
    """A limit of its own on what is counted, whatever it was before: counts have hardly any noise."""

    most: float
    flag: str = "--max-allocs-per-rpc"
    limit_percent: None = None

    @property
    def title(self) -> str:
        return f"{self.flag} {self.most:g}"


@dataclass(frozen=True)
class Outcome:
    """found: what closes the gate. missing: why it closes besides; inconclusive: why it is not open; a line each."""

    gate: Gate | Most
    found: tuple[tuple[str, Figure], ...]
    missing: tuple[str, ...]
    inconclusive: tuple[str, ...]

    @property
    def state(self) -> str:
        if self.found or self.missing:
            return CLOSED
        return INCONCLUSIVE if self.inconclusive else OPEN


def slower(limit_percent: float, metrics: Sequence[Metric]) -> Gate:
    """metrics: of the sides."""
    time = next((m for m in metrics if m.name in SPEEDS), None)
    return Gate("--fail-if-slower", time or THROUGHPUT, limit_percent, 1 if time else -1)


def latency_higher(limit_percent: float) -> Gate:
    return Gate("--fail-if-latency-higher", BY_NAME["p99"], limit_percent, 1)


def check(gate: Gate, comparison: Comparison) -> Outcome:
    """Every point that has figures before must be decided."""
    name = gate.metric.name
    figures = {point: f for part in comparison.parts for (point, of), f in part.figures.items() if of == name}
    found = [(_title(comparison, point), figure) for point, figure in figures.items() if _closes(gate, figure)]
    gone = [
        _title(comparison, point)
        for part in comparison.parts
        for point in part.section.points
        if point not in figures and values(point.before, gate.metric.key)
    ]
    gone += [
        lone.title
        for part in comparison.parts
        for lone in part.section.only_before
        if values(lone.samples, gate.metric.key)
    ]
    missing = [f"{_named(gone)}: no {gate.metric.title} after"] if gone else []
    reasons: dict[str, list[str]] = {}
    for point, figure in figures.items():
        why = "" if _closes(gate, figure) else _inconclusive(gate, figure)
        if why:
            reasons.setdefault(why, []).append(_title(comparison, point))
    inconclusive = [f"{_named(titles)}: {why}" for why, titles in reasons.items()]
    if not figures and not missing:
        inconclusive = [f"no point has a {gate.metric.title} on both sides"]
    return Outcome(gate, tuple(found), tuple(missing), tuple(inconclusive))


ALLOCATIONS = "allocations_per_rpc"


def check_most(gate: Most, comparison: Comparison) -> Outcome:
    """Checks the second side: client and server together, or the client alone if the server does not count."""
    closed, inconclusive = [], []
    points = [point for part in comparison.parts for point in part.section.points]
    for point in points:
        whole = values(point.after, ALLOCATIONS)
        found = whole or values(point.after, f"client_{ALLOCATIONS}")
        if not found:
            inconclusive.append(f"{_title(comparison, point)}: allocations were not counted")
            continue
        ends = "" if whole else ", of the client alone: the server does not count them"
        text = f"{_title(comparison, point)}: {spread(found)} allocations per call{ends}"
        if min(found) > gate.most:
            closed.append(text)
        elif max(found) > gate.most or not whole:
            inconclusive.append(text)
    return Outcome(gate, (), tuple(closed), tuple(inconclusive))


def spread(found: Sequence[float]) -> str:
    """'21.01 to 21.03 (7 repetitions)'."""
    low, high = (f"{end:.6g}" for end in (min(found), max(found)))
    return f"{low if low == high else f'{low} to {high}'} ({counted(len(found), 'repetition')})"


def _title(comparison: Comparison, point: Point) -> str:
    """With what is compared, where there are several."""
    if len(comparison.parts) == 1:
        return point.title
    section = next(part.section for part in comparison.parts if point in part.section.points)
    return f"{section.after} against {section.before}: {point.title}"


def _closes(gate: Gate, figure: Figure) -> bool:
    """Really worse, by the limit or more, and an interval that leaves no room for none."""
    if figure.direction != gate.worse or figure.ratio is None:
        return False
    return gate.loss(figure.ratio)[1] >= gate.limit_percent - ROUNDING_PERCENT


def _inconclusive(gate: Gate, figure: Figure) -> str:
    """Why a loss above the limit is not excluded; '' when it is."""
    if figure.ratio is None:
        return "" if figure.before == figure.after else figure.verdict
    if figure.ratio.interval is None:
        why = figure.explained.removeprefix(f"{INCONCLUSIVE}: ")
        return f"{why}, or {INSTEAD}" if figure.basis is Basis.UNKNOWN else why
    if gate.loss(figure.ratio)[2] <= gate.limit_percent + ROUNDING_PERCENT:
        return ""
    assert figure.interval_percent is not None
    low, high = figure.interval_percent
    text = f"{figure.change_percent:+.1f} % ({low:+.1f} to {high:+.1f})"
    needed = repetitions_to_decide(gate, figure)
    if needed is None:
        text = f"{text}, too near to the limit for any number of {figure.unit}s"
    else:
        text = f"{text}, about {needed} {figure.unit}s on either side would decide"
    return text if figure.unit == "repetition" else f"{text}; so may {INTERLEAVED}"


def repetitions_to_decide(gate: Gate, figure: Figure) -> int | None:
    """Returns the repetitions (sessions) after which the interval excludes the limit if less was measured, or any loss
    if more was. None: too many.
    """
    assert figure.ratio is not None
    beyond = gate.loss(figure.ratio)[1] >= gate.limit_percent - ROUNDING_PERCENT
    limit, tests = (1.0, figure.tests) if beyond else (gate.limit, 1)
    needed = ratios.repetitions_needed(figure.ratio, limit, tests, least=figure.least)
    return None if needed is None else max(needed, math.ceil(MORE_REPETITIONS * figure.ratio.n), figure.least)


def _named(titles: Sequence[str]) -> str:
    return titles[0] if len(titles) == 1 else f"{counted(len(titles), 'point')}, the first {titles[0]}"
