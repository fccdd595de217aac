"""A folder of runs -> each point's metric over time, with the places where it changed.

ruptures finds the segments (PELT, least squares on logarithms). What it takes for a change comes from the series
itself: more than the best split of 95 % of its shufflings, over all points of the metric together. So of metrics that
never change, one in twenty is marked at some point; tests/scripts/test_compare_history.py counts.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from cqbench.analysis.compare.sections import BUILD_TYPES, name_of
from cqbench.analysis.compare.sides import Place, Scenario, Side
from cqbench.model.metric import Metric
from cqbench.model.ratio import values
from cqbench.model.setting import FACETS, About, Setting
from cqbench.model.thresholds import ALPHA
from cqbench.stats.medians import geometric_mean

Floats = npt.NDArray[np.floating]

MIN_RUNS = 3  # on either side of a change: one run that was slow is none
SHUFFLINGS = 20  # beyond the share that is looked for
MAX_NUMBERS = 4_000_000  # shuffled at once
SEED = 20_261_122
# Facets that may change from run to run. A debug build is no version.
PASSED_OVER = [f.key for f in FACETS if f.about is About.SOFTWARE and f.key not in BUILD_TYPES]


@dataclass(frozen=True)
class Dated:
    """A run. when: in UTC."""

    name: str
    when: datetime.datetime
    side: Side


@dataclass(frozen=True)
class Change:
    """at: the first run after it, by its place in the line's values. ratio: of what came after to what was before."""

    at: int
    ratio: float


Key = tuple[str, Setting, Place]  # a configuration's name, without the software's versions


@dataclass(frozen=True)
class Line:
    """A point's metric over time. values: (run, geometric mean over its repetitions in the file's unit). key: of the
    point."""

    scenario: str
    place: Place
    metric: Metric
    values: tuple[tuple[int, float], ...]
    changes: tuple[Change, ...]
    key: Key


@dataclass(frozen=True)
class Found:
    """runs: by date. unused: what else is in the folder, and why it is none; a line each."""

    runs: tuple[Dated, ...]
    unused: tuple[str, ...]


def key_of(scenario: Scenario, place: Place) -> Key:
    """Versions of software have one key: what changes between two of them is what a history shows."""
    return scenario.configuration, scenario.setting.without(PASSED_OVER), place


def lines(runs: Sequence[Dated], metrics: Iterable[Metric]) -> list[Line]:
    """Returns every point with figures of at least one run, in the order in which they first appear."""
    found: dict[Key, list[tuple[int, Scenario]]] = {}
    for i, run in enumerate(runs):
        for scenario in run.side.scenarios:
            for place in sorted(scenario.points):
                found.setdefault(key_of(scenario, place), []).append((i, scenario))
    every = [Scenario(configuration, setting, {}) for configuration, setting, _ in found]
    result = []
    for metric in metrics:
        told = {key: _values(of, key[2], metric) for key, of in found.items()}
        told = {key: of for key, of in told.items() if of}
        enough = sum(len(of) >= 2 * MIN_RUNS for of in told.values())
        for (configuration, setting, place), of in told.items():
            name = name_of(Scenario(configuration, setting, {}), every)
            changes = _changes([value for _, value in of], ALPHA / max(1, enough))
            result.append(Line(name, place, metric, tuple(of), changes, (configuration, setting, place)))
    return result


@dataclass(frozen=True)
class Spread:
    """By how much sessions differ: variance of the logarithms of their means, its degrees of freedom, and the number
    of sessions in it.
    """

    variance: float
    freedom: float
    sessions: int

    @property
    def percent(self) -> float:
        """The standard deviation."""
        return 100 * math.sqrt(self.variance)


Spreads = Mapping[tuple[Key, str], Spread]  # by point and name of the metric


def spreads(runs: Sequence[Dated], metrics: Iterable[Metric]) -> Spreads:
    """Each run is a session. Pooled within the segments between the changes of a line."""
    found: dict[tuple[Key, str], Spread] = {}
    for line in lines(runs, metrics):
        logs = np.log([value for _, value in line.values])
        parts = np.split(logs, [change.at for change in line.changes])
        freedom = sum(len(part) - 1 for part in parts)
        if freedom > 0:
            squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
            found[line.key, line.metric.name] = Spread(squares / freedom, freedom, len(logs))
    return found


def _values(of: Iterable[tuple[int, Scenario]], place: Place, metric: Metric) -> list[tuple[int, float]]:
    there = ((i, values(scenario.points[place], metric.key)) for i, scenario in of)
    return [(i, geometric_mean(found)) for i, found in there if found and min(found) > 0]


def _changes(series: Sequence[float], level: float) -> tuple[Change, ...]:
    ends = segments(np.log(np.asarray(series, float)), level)
    parts = np.split(np.log(np.asarray(series, float)), ends)
    means = [float(part.mean()) for part in parts]
    return tuple(Change(end, float(np.exp(means[i + 1] - means[i]))) for i, end in enumerate(ends))


def segments(logs: Floats, level: float) -> list[int]:
    """Where a new one begins. level: the chance of finding any where there is none."""
    if len(logs) < 2 * MIN_RUNS:
        return []
    # Half of it: two changes at once gain enough now and then where neither alone would. Simulated without: 7 %.
    penalty = _penalty(logs, level / 2)
    if penalty <= 1e-12:  # all the same
        return []
    import ruptures  # takes half a second

    found = ruptures.Pelt(model="l2", min_size=MIN_RUNS, jump=1).fit(logs.reshape(-1, 1)).predict(pen=penalty)
    return [int(end) for end in found[:-1]]


def _penalty(logs: Floats, level: float) -> float:
    """Returns the maximum gain of the best split of shuffled runs, except for the share `level` of them."""
    random = np.random.default_rng([SEED, len(logs)])
    n, count = len(logs), int(np.ceil(SHUFFLINGS / level))
    gains = []
    while count > 0:
        rows = min(count, max(1, MAX_NUMBERS // n))
        gains.append(_gains(random.permuted(np.tile(logs - logs.mean(), (rows, 1)), axis=1)))
        count -= rows
    return float(np.quantile(np.concatenate(gains), 1 - level))


def _gains(shuffled: Floats) -> Floats:
    """By how much the best split into two lessens the sum of squares, of each row; their mean is 0."""
    n = shuffled.shape[1]
    left = np.arange(MIN_RUNS, n - MIN_RUNS + 1)
    sums = np.cumsum(shuffled, axis=1)[:, left - 1]
    gains: Floats = (sums**2 * (1 / left + 1 / (n - left))).max(axis=1)
    return gains
