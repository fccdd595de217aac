"""Two cost profiles compared: what a call costs more and less, and whether that is more than their spreads.

There are no statistics in it: counts hardly vary. A change is real where it is outside the sum of both spreads, and
more than what two measurements of the same thing may differ by. What follows the clock or the machine's other load is
shown and not judged: two repetitions of a time say nothing about the next two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from cqbench.analysis.cost.counts import CPU, KINDS, SYSCALL, THREAD, TOTAL, Key
from cqbench.analysis.cost.names import TOTALS
from cqbench.analysis.cost.profile import ALLOCATIONS, INSTRUCTIONS, LEAST_SHARE, SAMPLED_NS, SYSCALLS, Figure, Profile

# Two cost profiles of the same thing differed by 0.2 % of a total, with gRPC 1.51.1; their parts by LEAST_SHARE of it.
LEAST_OF_TOTAL = 0.002
ROUNDING = 1e-9
WHOLE = {CPU: SAMPLED_NS, SYSCALL: SYSCALLS, THREAD: SYSCALLS}  # kind -> the total that it is a part of
# Totals that are no counts of what the call does, but of how the machine was.
UNSTEADY = {
    "cpu-user-ns",
    "cpu-system-ns",
    SAMPLED_NS,
    "involuntary-switches",
    "lock-waiting",
    "lock-waiting-syscalls",
    "heap-searching",
    "failed-syscalls",
}
GATED = (INSTRUCTIONS, SYSCALLS, ALLOCATIONS)  # totals that --fail-if-more-expensive looks at: what is counted


@dataclass(frozen=True)
class Change:
    """before, after: one of them is None where only the other profile has it. least: what is not worth the name."""

    side: str
    key: Key
    before: Figure | None
    after: Figure | None
    least: float = 0.0

    @property
    def values(self) -> tuple[float, float]:
        """Before, after."""
        return (self.before.median if self.before else 0.0, self.after.median if self.after else 0.0)

    @property
    def difference(self) -> float:
        before, after = self.values
        return after - before

    @property
    def percent(self) -> float | None:
        """The change as a percentage of the value before; None if that is 0."""
        before, after = self.values
        return 100 * (after / before - 1) if before > 0 else None

    @property
    def noise(self) -> float:
        """The sum of both spreads."""
        return sum(f.width for f in (self.before, self.after) if f)

    @property
    def unsteady(self) -> bool:
        return self.key.kind == CPU or (self.key.kind == TOTAL and self.key.name in UNSTEADY)

    @property
    def real(self) -> bool:
        return not self.unsteady and self.beyond

    @property
    def beyond(self) -> bool:
        """Outside both spreads."""
        return abs(self.difference) > max(self.noise, self.least) + ROUNDING

    @property
    def word(self) -> str:
        if not self.beyond:
            return "within spreads"
        return "not judged" if self.unsteady else "real"

    @property
    def title(self) -> str:
        name = TOTALS.get(self.key.name, self.key.name) if self.key.kind == TOTAL else self.key.name
        return f"{name} [{self.key.library}]" if self.key.library else name


@dataclass(frozen=True)
class Comparison:
    """Two cost profiles that may be compared."""

    before: Profile
    after: Profile

    @cached_property
    def changes(self) -> list[Change]:
        """Changes of what both profiles counted; the greatest of each kind first, totals in their order."""
        one, other = ({f.key: f for f in profile.figures} for profile in (self.before, self.after))
        found = [
            Change(side, key, one.get((side, key)), other.get((side, key)), self._least(side, key))
            for side, key in dict.fromkeys([*one, *other])
            if self._both(side, key)
        ]
        return sorted(found, key=lambda c: (c.side, KINDS.index(c.key.kind), _rank(c)))

    def _both(self, side: str, key: Key) -> bool:
        """True if both cost profiles have the part of the key."""
        if key.kind == TOTAL:
            return all(profile.total(side, key.name) for profile in (self.before, self.after))
        return all(profile.of(side, key.kind) for profile in (self.before, self.after))

    def _least(self, side: str, key: Key) -> float:
        """Two repetitions may agree by chance, and a function that a profile does not list may be there, below that."""
        name = key.name if key.kind == TOTAL else WHOLE.get(key.kind, INSTRUCTIONS)
        wholes = [f.median for profile in (self.before, self.after) if (f := profile.total(side, name))]
        return (LEAST_OF_TOTAL if key.kind == TOTAL else LEAST_SHARE) * max(wholes, default=0.0)

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
