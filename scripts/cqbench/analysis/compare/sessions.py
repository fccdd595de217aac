"""Sessions: repetitions of one session share the state of the machine, so they are no replicates of another session.

Two sides that were measured in the same sessions are compared by repetitions. Otherwise the sessions are what was
repeated: with MIN_SESSIONS or more on either side each one is reduced to its mean; with fewer, what sessions of the
stored history differ by is added to the standard error; without a history there is no interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import fmean

from cqbench.analysis.compare.history import Spread, Spreads, key_of
from cqbench.analysis.compare.sides import Place, Scenario
from cqbench.model.metric import Metric
from cqbench.model.ratio import Sample, Sides, pairs, pooled, values
from cqbench.stats import ratios
from cqbench.stats.medians import geometric_mean
from cqbench.stats.ratios import MIN_SESSIONS, Ratio


class Basis(Enum):
    """The source of the part of an interval that is between sessions."""

    SAME = "same sessions"  # both sides were measured in them: there is no such part
    COUNTED = "counted"  # counts of a call do not follow the machine's speed
    SESSIONS = "sessions"  # of the two sides
    HISTORY = "history"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class At:
    """A place in both scenarios, by which a history has it."""

    before: Scenario
    after: Scenario
    place: Place


@dataclass(frozen=True)
class Compared:
    """ratio: after / before. means: of both sides, in the file's unit. repetitions, sessions: on either side. spreads:
    of before and after; with a basis of HISTORY only.
    """

    ratio: Ratio | None
    means: tuple[float, float]
    repetitions: tuple[int, int]
    sessions: tuple[int, int]
    basis: Basis
    spreads: tuple[Spread, Spread] | None = None


def compared(points: Sequence[Sides], metric: Metric, at: Sequence[At], stored: Spreads | None) -> Compared | None:
    """Compares points (after, before), several as one effect. at: where each is. None if a side lacks the figure."""
    used = [_used(*of) for of in points]
    found = [(values(after, metric.key), values(before, metric.key)) for after, before in used]
    if not found or not all(after and before for after, before in found):
        return None
    before, after = (geometric_mean([ratios.middle(of[side]) for of in found]) for side in (1, 0))
    numbers = [(min(len(of[side]) for of in found), min(_sessions(of[side]) for of in used)) for side in (1, 0)]
    (first, one), (second, other) = numbers
    whole = Compared(pooled(points, metric.key), (before, after), (first, second), (one, other), Basis.SAME)
    if whole.ratio is None or all(_of(after) == _of(before) for after, before in used):
        return whole
    return replace(whole, basis=Basis.COUNTED) if metric.counted else _apart(whole, used, metric, at, stored or {})


def _apart(whole: Compared, used: Sequence[Sides], metric: Metric, at: Sequence[At], stored: Spreads) -> Compared:
    """The sides were measured in different sessions."""
    assert whole.ratio is not None
    before, after = (_reduced(used, metric, side) for side in (1, 0))
    if min(len(before), len(after)) >= MIN_SESSIONS:
        ratio, means = ratios.unpaired(after, before, MIN_SESSIONS), (ratios.middle(before), ratios.middle(after))
        return replace(whole, ratio=ratio, means=means, basis=Basis.SESSIONS)
    known = _stored(metric, at, stored)
    if known is None:
        return replace(whole, ratio=Ratio(whole.ratio.value, n=min(whole.sessions)), basis=Basis.UNKNOWN)
    return replace(whole, ratio=_widened(whole, used, known), basis=Basis.HISTORY, spreads=known)


def _used(after: Sequence[Sample], before: Sequence[Sample]) -> Sides:
    """If repetitions are compared in pairs, only those with a partner count."""
    found = pairs(after, before)
    return ([s for s, _ in found], [s for _, s in found]) if found else (after, before)


def _of(samples: Iterable[Sample]) -> set[str]:
    return {sample.session for sample in samples}


def _sessions(samples: Iterable[Sample]) -> int:
    return len(_of(samples))


def _reduced(points: Sequence[Sides], metric: Metric, side: int) -> list[float]:
    """The means of the sessions that all points have, over all points."""
    by_session = [_by_session(sides[side], metric) for sides in points]
    common = [session for session in by_session[0] if all(session in of for of in by_session)]
    return [geometric_mean([of[session] for of in by_session]) for session in common]


def _by_session(samples: Iterable[Sample], metric: Metric) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for sample in samples:
        value = sample.value(metric.key)
        assert value is not None
        found.setdefault(sample.session, []).append(value)
    return {session: ratios.middle(of) for session, of in found.items()}


def _stored(metric: Metric, at: Sequence[At], stored: Spreads) -> tuple[Spread, Spread] | None:
    """The spread of either side; that of the other one where the history has only that. None unless all points have
    one. Of several points together: their mean variance, as if sessions changed all of them alike.
    """
    if not stored:
        return None
    found = []
    for where in at:
        both = [stored.get((key_of(s, where.place), metric.name)) for s in (where.before, where.after)]
        before, after = both[0] or both[1], both[1] or both[0]
        if before is None or after is None:
            return None
        found.append((before, after))
    return _alike([before for before, _ in found]), _alike([after for _, after in found])


def _alike(of: Sequence[Spread]) -> Spread:
    return Spread(fmean(s.variance for s in of), min(s.freedom for s in of), min(s.sessions for s in of))


def _widened(whole: Compared, points: Sequence[Sides], known: tuple[Spread, Spread]) -> Ratio:
    """The ratio with what sessions differ by in its interval."""
    ratio = whole.ratio
    assert ratio is not None
    if ratio.interval is None:
        return ratio
    shares = [max(_share(sides[side]) for sides in points) for side in (1, 0)]
    if known[0] == known[1]:
        components = [(known[0].variance * sum(shares), known[0].freedom)]
    else:
        components = [(spread.variance * share, spread.freedom) for spread, share in zip(known, shares, strict=True)]
    return ratios.between_sessions(ratio, components, min(whole.sessions))


def _share(samples: Sequence[Sample]) -> float:
    """The variance of a mean over repetitions in units of that of a session: 1 / sessions if all are of one size."""
    sizes: dict[str, int] = {}
    for sample in samples:
        sizes[sample.session] = sizes.get(sample.session, 0) + 1
    return sum(size**2 for size in sizes.values()) / len(samples) ** 2
