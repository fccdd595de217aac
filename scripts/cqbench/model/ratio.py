"""The one place where the samples of two sides become a ratio: of one point, or of several points as one effect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple, Protocol

from cqbench.stats import ratios
from cqbench.stats.ratios import MIN_REPETITIONS, Ratio


class Round(NamedTuple):
    """Samples of one round are paired: an experiment measures all configurations of a round one after the other."""

    folder: str
    repetition: int


class Sample(Protocol):
    """One repetition of whatever was measured. session: names what was measured in one go: an experiment's folder, or
    a file outside of experiments.
    """

    @property
    def round(self) -> Round | None: ...

    @property
    def session(self) -> str: ...

    def value(self, key: str) -> float | None: ...


Sides = tuple[Sequence[Sample], Sequence[Sample]]  # top, bottom


def values(samples: Iterable[Sample], key: str) -> list[float]:
    """Returns the values of all samples, or none if a sample lacks the figure: the others do not represent it."""
    found = [sample.value(key) for sample in samples]
    there = [value for value in found if value is not None]
    return there if len(there) == len(found) else []


def pairs(top: Sequence[Sample], bottom: Sequence[Sample]) -> list[tuple[Sample, Sample]] | None:
    """Samples of the same round; None unless enough have a partner. One that failed costs its partner, not the
    pairing.
    """
    by_round = {sample.round: sample for sample in bottom if sample.round}
    if len(by_round) != len(bottom) or len({sample.round for sample in top}) != len(top):
        return None
    found = [(sample, by_round[sample.round]) for sample in top if sample.round in by_round]
    return found if len(found) >= min(MIN_REPETITIONS, len(top), len(bottom)) else None


def ratio_of(top: Sequence[Sample], bottom: Sequence[Sample], key: str) -> Ratio | None:
    """Returns the ratio of pairs if the samples are paired, else of the two sides. None if a side lacks the figure,
    or has a 0.
    """
    return pooled([(top, bottom)], key)


def pooled(points: Sequence[Sides], key: str) -> Ratio | None:
    """top / bottom over all points, each with the same weight. The points of a round (or of a repetition, in their
    order) make one observation, their geometric mean: points of one run are not independent of each other. None where
    a figure is absent or 0.
    """
    sides = [(values(top, key), values(bottom, key)) for top, bottom in points]
    if not sides or not all(top and bottom and min(*top, *bottom) > 0 for top, bottom in sides):
        return None
    rounds = _common_rounds(points, key)
    if rounds is not None:
        return ratios.paired((math.exp(fmean(logs)), 1.0) for logs in rounds)
    over, under = (
        [math.exp(fmean(map(math.log, at))) for at in zip(*(both[i] for both in sides), strict=False)] for i in (0, 1)
    )
    return ratios.unpaired(over, under)


def _common_rounds(points: Sequence[Sides], key: str) -> list[list[float]] | None:
    """By round that all points have, the logarithm of each point's ratio; None where not all points have pairs, or too
    few rounds are common.
    """
    found = [pairs(top, bottom) for top, bottom in points]
    paired = [of for of in found if of is not None]
    if len(paired) < len(points):
        return None
    logs = [{a.round: math.log((a.value(key) or 0.0) / (b.value(key) or 0.0)) for a, b in of} for of in paired]
    common = [[of[at] for of in logs] for at in logs[0] if all(at in of for of in logs)]
    return common if len(common) >= min(MIN_REPETITIONS, *map(len, logs)) else None
