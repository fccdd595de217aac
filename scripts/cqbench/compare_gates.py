"""--fail-if-slower and --fail-if-latency-higher: conditions for CI. A gate that cannot close is not open."""

from __future__ import annotations

from dataclasses import dataclass

from cqbench.compare_inputs import Key, Metric, counted
from cqbench.compare_points import Comparison, Figure
from cqbench.compare_statistics import MIN_FOR_INTERVAL

ROUNDING = 1e-9  # percent: 95 after 100 is a change of -5 %, whatever its last bit


@dataclass(frozen=True)
class Gate:
    """worse: the direction that closes it, 1 higher or -1 lower."""

    flag: str
    metric: Metric
    limit_percent: float
    worse: int

    @property
    def title(self) -> str:
        return f"{self.flag} {self.limit_percent:g}%"


@dataclass(frozen=True)
class Outcome:
    """found: the points that close the gate. undecided: why it closes without, a line each."""

    gate: Gate
    found: dict[Key, Figure]
    undecided: tuple[str, ...]

    @property
    def closed(self) -> bool:
        return bool(self.found or self.undecided)


def check(gate: Gate, comparison: Comparison) -> Outcome:
    """Every point that has figures before must be decided."""
    figures = comparison.of(gate.metric)
    found = {key: figure for key, figure in figures.items() if _closes(gate, figure)}
    return Outcome(gate, found, tuple(_undecided(gate, comparison, figures)))


def _closes(gate: Gate, figure: Figure) -> bool:
    """Really worse, by the limit or more, and an interval that leaves no room for none."""
    if figure.tested.direction != gate.worse or figure.interval_percent is None:
        return False
    least = min(gate.worse * end for end in figure.interval_percent)
    return least > 0 and gate.worse * figure.change_percent >= gate.limit_percent - ROUNDING


def _undecided(gate: Gate, comparison: Comparison, figures: dict[Key, Figure]) -> list[str]:
    reasons: dict[str, list[Key]] = {}
    for key, figure in figures.items():
        if figure.tested.direction is None:
            reasons.setdefault(figure.lacking(), []).append(key)
        elif figure.interval_percent is None:
            first, second = figure.repetitions
            text = f"{first} and {second} repetitions, an interval needs {MIN_FOR_INTERVAL}"
            reasons.setdefault(text, []).append(key)
    for key in comparison.before.usable():
        if key not in figures and comparison.before.points[key].values[gate.metric.name]:
            reasons.setdefault(f"no {gate.metric.title} after", []).append(key)
    if not figures and not reasons:
        return [f"no point has a {gate.metric.title} on both sides"]
    return [f"{_named(keys)}: {reason}" for reason, keys in reasons.items()]


def _named(keys: list[Key]) -> str:
    return keys[0].title if len(keys) == 1 else f"{counted(len(keys), 'point')}, the first {keys[0].title}"
