"""Several loads and cases as one effect: a geometric mean whose interval knows what a repetition has in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from cqbench.files.offered import Load
from cqbench.samples.series import Repetition, Round, Series
from cqbench.stats import ratios
from cqbench.stats.ratios import Ratio

Pair = tuple[Series, Series]  # variant, baseline


def pooled(pairs: Sequence[Pair], loads: Sequence[Load], key: str) -> Ratio | None:
    """variant / baseline over all pairs and loads, each with the same weight. Repetitions of all are put together round
    by round, or in their order where there are no rounds: loads of one run are not independent of each other. None
    where a figure is absent.
    """
    sides = [(_values(top, load, key), _values(bottom, load, key)) for top, bottom in pairs for load in loads]
    if not sides or not all(top and bottom for top, bottom in sides):
        return None
    common = _common(pairs, loads)
    if common is not None:
        places = [(top, bottom, load) for top, bottom in pairs for load in loads]
        means = [fmean(math.log(_at(t, load, key, r) / _at(b, load, key, r)) for t, b, load in places) for r in common]
        return ratios.paired((math.exp(mean), 1.0) for mean in means)
    n = min(len(values) for both in sides for values in both)
    over, under = ([fmean(math.log(both[i][k]) for both in sides) for k in range(n)] for i in (0, 1))
    return ratios.unpaired([math.exp(v) for v in over], [math.exp(v) for v in under])


def _values(series: Series, load: Load, key: str) -> list[float]:
    """Empty where one is not above 0."""
    values = series.values(load, key)
    return values if values and min(values) > 0 else []


def _common(pairs: Sequence[Pair], loads: Sequence[Load]) -> list[Round] | None:
    """Rounds that all of them have; None where those are too few, or a repetition has none."""
    points = [s.points[load] for pair in pairs for s in pair for load in loads]
    every = [{r.round for r in of if r.round} for of in points]
    if any(len(rounds) < len(of) for rounds, of in zip(every, points, strict=True)):
        return None
    common = sorted(set.intersection(*every))
    return common if len(common) >= min(ratios.MIN_REPETITIONS, *map(len, every)) else None


def _at(series: Series, load: Load, key: str, at: Round) -> float:
    found: Repetition = next(r for r in series.points[load] if r.round == at)
    return found.value(key) or 0.0
