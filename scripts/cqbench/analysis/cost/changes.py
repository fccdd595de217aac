"""Two cost profiles compared: what a call costs more and less.

The interval of a figure's change decides. It is Welch's t of the repetitions (stats/differences.py). The intervals of
all figures of a comparison hold together (Bonferroni; half of the 5 % is for the totals): of two profiles of the same
thing, at most 5 % have any figure with a change. An interval beyond the margin means "more" or "less", an interval
within it "no change", and any other "inconclusive". Fewer than MIN_REPETITIONS on a side leave a figure inconclusive.

The margin covers what repetitions of one profile do not show: another load on the machine, another port, and where
counting begins. What follows the clock or chance is shown and not judged: the repetitions of one profile agree, and
those of a later profile may differ from all of them. Error rates are in tests/scripts/test_cost_rates.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cqbench.analysis.cost.counts import CPU, FUNCTION, KINDS, SYSCALL, THREAD, TOTAL, Key
from cqbench.analysis.cost.names import TOTALS
from cqbench.analysis.cost.profile import (
    ALLOCATIONS,
    INSTRUCTIONS,
    LEAST_SHARE,
    MAX_FUNCTIONS,
    SAMPLED_NS,
    SYSCALLS,
    Figure,
    Profile,
)
from cqbench.stats.differences import Difference, difference

# Measured with the ping and gRPC 1.51.1, with and without two loops next to it: totals differed by up to 0.07 %, in
# twelve profiles allocations by 0.03 %. Another port of the server makes 0.16 % of its instructions.
MARGIN = 0.002  # of a total, for itself and its parts
MARGIN_OF_FUNCTION = LEAST_SHARE  # of all instructions
LOCKS = re.compile(r"^absl::Mutex::(?:Lock|Unlock)\b")  # the way is longer if the lock is taken, which is chance
ROUNDING = 1e-9
FAMILIES = 2  # totals, of which there are few, and parts: each has half of the 5 %
MORE, LESS, SAME, INCONCLUSIVE, NOT_JUDGED = "more", "less", "no change", "inconclusive", "not judged"
WHOLE = {CPU: SAMPLED_NS, SYSCALL: SYSCALLS, THREAD: SYSCALLS}  # kind -> the total that it is a part of
# Totals that are parts of another one: a share of themselves would be no margin where they are almost 0.
PART_OF = {
    "frees-elsewhere": ALLOCATIONS,
    "wake-ups": SYSCALLS,
    "socket-writes": SYSCALLS,
    "socket-reads": SYSCALLS,
}
# Totals that are no counts of what the call does, but of how the machine was.
UNSTEADY = {
    "cpu-user-ns",
    "cpu-system-ns",
    SAMPLED_NS,
    "voluntary-switches",
    "involuntary-switches",
    "lock-waiting",
    "lock-waiting-syscalls",
    "heap-searching",
    "failed-syscalls",
}
GATED = (INSTRUCTIONS, SYSCALLS, ALLOCATIONS)  # totals that --fail-if-more-expensive looks at: what is counted


@dataclass(frozen=True)
class Change:
    """before, after: one of them is None where only the other profile has it. values: their means. margin: changes up
    to it are none. interval: of the difference, together with those of the other figures; None where it is not judged,
    or has too few repetitions.
    """

    side: str
    key: Key
    before: Figure | None
    after: Figure | None
    margin: float = 0.0
    interval: tuple[float, float] | None = None

    @property
    def values(self) -> tuple[float, float]:
        """Before, after."""
        return (self.before.mean if self.before else 0.0, self.after.mean if self.after else 0.0)

    @property
    def difference(self) -> float:
        before, after = self.values
        return after - before

    @property
    def percent(self) -> float | None:
        """The change as a percentage of the value before; None if that is 0."""
        return self.as_percent(self.difference)

    def as_percent(self, difference: float) -> float | None:
        before, _ = self.values
        return 100 * difference / before if before > 0 else None

    @property
    def unsteady(self) -> bool:
        return is_unsteady(self.key)

    @property
    def beyond(self) -> bool:
        """True if the difference itself, whatever its interval, is beyond the margin."""
        return abs(self.difference) > self.margin + ROUNDING

    @property
    def word(self) -> str:
        """One of MORE, LESS, SAME, INCONCLUSIVE, NOT_JUDGED."""
        if self.unsteady:
            return NOT_JUDGED
        if self.interval is None:
            return INCONCLUSIVE
        low, high = self.interval
        if low > self.margin + ROUNDING:
            return MORE
        if high < -self.margin - ROUNDING:
            return LESS
        return SAME if max(-low, high) <= self.margin + ROUNDING else INCONCLUSIVE

    @property
    def title(self) -> str:
        name = TOTALS.get(self.key.name, self.key.name) if self.key.kind == TOTAL else self.key.name
        return f"{name} [{self.key.library}]" if self.key.library else name


def is_unsteady(key: Key) -> bool:
    """True if it follows the clock or the machine's other load."""
    if key.kind == FUNCTION:
        return bool(LOCKS.search(key.name))
    return key.kind == CPU or (key.kind == TOTAL and key.name in UNSTEADY)


@dataclass(frozen=True)
class Comparison:
    """Two cost profiles that may be compared."""

    before: Profile
    after: Profile

    @cached_property
    def changes(self) -> list[Change]:
        """Changes of what both profiles counted; the greatest of each kind first, totals in their order."""
        one, other = ({f.key: f for f in profile.figures} for profile in (self.before, self.after))
        pairs = {key: (one.get(key), other.get(key)) for key in dict.fromkeys([*one, *other]) if self._both(*key)}
        judged = {at: self._difference(*at, *pair) for at, pair in pairs.items() if not is_unsteady(at[1])}
        totals = sum(one.enough for (_, key), one in judged.items() if key.kind == TOTAL)
        parts = sum(one.enough for one in judged.values()) - totals
        found = []
        for (side, key), pair in pairs.items():
            family = FAMILIES * (totals if key.kind == TOTAL else parts)
            interval = judged[side, key].among(family) if (side, key) in judged else None
            found.append(Change(side, key, *pair, self._margin(side, key), self._widened(side, key, interval)))
        return sorted(found, key=lambda c: (c.side, KINDS.index(c.key.kind), _rank(c)))

    def _difference(self, side: str, key: Key, before: Figure | None, after: Figure | None) -> Difference:
        values = []
        for figure, profile in ((before, self.before), (after, self.after)):
            there = max(f.repetitions for f in profile.of(side, key.kind))
            values.append(figure.values if figure else [0.0] * there)
        return difference(*values)

    def _widened(self, side: str, key: Key, interval: tuple[float, float] | None) -> tuple[float, float] | None:
        """A function that a profile does not list may be there, below what it lists."""
        if interval is None or key.kind != FUNCTION:
            return interval
        before, after = (
            0.0 if any(f.key == (side, key) for f in profile.of(side, FUNCTION)) else _unlisted(profile, side)
            for profile in (self.before, self.after)
        )
        return interval[0] - before, interval[1] + after

    def _both(self, side: str, key: Key) -> bool:
        """True if both cost profiles have the part of the key."""
        if key.kind == TOTAL:
            return all(profile.total(side, key.name) for profile in (self.before, self.after))
        return all(profile.of(side, key.kind) for profile in (self.before, self.after))

    def _margin(self, side: str, key: Key) -> float:
        name = PART_OF.get(key.name, key.name) if key.kind == TOTAL else WHOLE.get(key.kind, INSTRUCTIONS)
        wholes = [f.mean for profile in (self.before, self.after) if (f := profile.total(side, name))]
        return (MARGIN_OF_FUNCTION if key.kind == FUNCTION else MARGIN) * max(wholes, default=0.0)

    def of(self, side: str, kind: str) -> list[Change]:
        return [c for c in self.changes if c.side == side and c.key.kind == kind]

    @property
    def sides(self) -> list[str]:
        return [side for side in self.after.sides if any(c.side == side for c in self.changes)]

    def differences(self) -> Iterator[str]:
        """Yields the settings that differ, a line each."""
        for key in dict.fromkeys([*self.before.setting, *self.after.setting]):
            one, other = self.before.setting.get(key, ""), self.after.setting.get(key, "")
            if one != other:
                yield f"{key}: {one or 'none'} before, {other or 'none'} after"

    def only_one(self) -> Iterator[str]:
        """Totals that one profile does not have, a line each."""
        for name, profile, other in (("before", self.before, self.after), ("after", self.after, self.before)):
            for f in profile.figures:
                if f.kind == TOTAL and not other.total(f.side, f.name):
                    yield f"only {name}: {f.side}, {TOTALS.get(f.name, f.name)}"


def _unlisted(profile: Profile, side: str) -> float:
    """Returns the maximum cost of a function that the profile does not list."""
    whole, listed = profile.total(side, INSTRUCTIONS), profile.of(side, FUNCTION)
    share = LEAST_SHARE * whole.mean if whole else 0.0
    return max(share, min(f.median for f in listed)) if len(listed) >= MAX_FUNCTIONS else share


def _rank(change: Change) -> tuple[float, str]:
    if change.key.kind == TOTAL:
        order = list(TOTALS)
        return (order.index(change.key.name) if change.key.name in order else len(order), change.key.name)
    return (-abs(change.difference), change.title)


def why_not(before: Profile, after: Profile) -> list[str]:
    """Why they cannot be compared, a line each."""
    lines = []
    for key in dict.fromkeys([*before.work, *after.work]):
        one, other = before.work.get(key, "none"), after.work.get(key, "none")
        if one != other:
            lines.append(f"other work: {key} is {one} before, {other} after; --anyway compares all the same")
    return lines
