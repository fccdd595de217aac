"""The figures of a soak, round by round, and whether one grew: the last third of the rounds against the middle one, as
a ratio with its interval.

The first third is warm-up. The ratio and its interval are those of stats/drift.py, which holds where a round depends on
the rounds before. The intervals of all figures of a soak hold together (Bonferroni): in at most 5 % of soaks in which
nothing grows, the verdict on any figure is "grows".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from cqbench.stats.drift import growth
from cqbench.stats.ratios import MIN_REPETITIONS, Ratio

FLAT = 1.01
MIN_ROUNDS = 3 * MIN_REPETITIONS
SERVERS = ("cq", "callback", "sync", "generic")
CLIENT = "client"  # the one that lives as long as the soak, against a server of its own


@dataclass
class Round:
    """The figures of a process after a round; for a server also those of the reference case."""

    number: int
    at_s: float  # since the soak began
    process: str  # one of SERVERS, or CLIENT
    vitals: dict[str, int]
    reference: dict[str, float | None]


@dataclass
class Record:
    rounds: list[Round] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    cases: int = 0
    calls: int = 0
    restarts: int = 0

    def series(self, process: str, pick: Callable[[Round], float | None]) -> list[float]:
        found = [pick(one) for one in self.rounds if one.process == process]
        return [value for value in found if value is not None]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Drift:
    """median: of what is judged. ratio: last third to middle one; None where that cannot be said, and why. within_step:
    the medians of the two are no further apart than what means nothing."""

    median: float
    ratio: Ratio | None = None
    absent: str = ""
    within_step: bool = False

    @property
    def verdict(self) -> str:
        """'flat': more than 1 % of growth is ruled out. 'grows': less is."""
        if self.ratio is None or self.ratio.low is None or self.ratio.high is None:
            return self.absent
        if self.within_step or self.ratio.high <= FLAT:
            return "flat"
        return "grows" if self.ratio.low > FLAT else "inconclusive"


def judge(values: Sequence[float], step: float = 0, figures: int = 1) -> Drift:
    """values: one for each round, in order; not empty. step: growth by so much is none, however small the values.
    figures: how many are judged in this soak.
    """
    third = len(values) // 3
    middle, last = values[third : len(values) - third], values[len(values) - third :]
    typical = float(median([*middle, *last]))
    if len(values) < MIN_ROUNDS:
        return Drift(typical, absent=f"too few rounds: {len(values)} of {MIN_ROUNDS}")
    if min(*middle, *last) <= 0:
        return Drift(typical, absent="it is 0")
    within_step = median(last) - median(middle) <= step if step else False
    return Drift(typical, growth(values[len(values) - 2 * third :]).among(figures), within_step=within_step)
