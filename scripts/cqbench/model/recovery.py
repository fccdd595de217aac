"""A fault in the time series of a point: how many calls it cost, and when all was well again.

All times are seconds from the fault on; math.inf says that it did not happen within the window. The series has the
calls that ended well in each slice, so a time is known to a slice, and the slice in which the fault began is left out.

the rate before    the mean of the whole slices before the fault, which take NEEDED_S at least
first success      the end of the first slice, of those that began after the fault, in which a call ended well: at
                   most two slices where nothing was interrupted at all
recovery           the beginning of the first slice with RECOVERED of the rate before, from which on, for STAYS_S, each
                   SMOOTH_S (sliding, slice by slice) have it on average; it is not known to be one where the window
                   closes sooner
lost               calls that were due and did not end well (failed, unfinished, never sent), by those that were due
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cqbench.formats.point import Measured
from cqbench.formats.runs import Run
from cqbench.model.thresholds import RECOVERED

NEEDED_S = 0.3
SMOOTH_S = 0.25
STAYS_S = 0.5
NEVER = math.inf
OTHERS = ("unfinished", "calls_unsent", "calls_dropped")  # calls without a status, by their names in the file


@dataclass(frozen=True)
class Course:
    """completed: calls that ended well, by slice."""

    slice_s: float
    completed: Sequence[float]

    def whole_before(self, at_s: float) -> int:
        """Slices that end at that time or before."""
        return min(len(self.completed), math.floor(at_s / self.slice_s + 1e-9))

    def first_after(self, at_s: float) -> int:
        """The slice that begins at that time or after it."""
        return max(0, math.ceil(at_s / self.slice_s - 1e-9))


@dataclass(frozen=True)
class Outcome:
    """The outcome of one repetition. failed: calls by status code, and those without one. None: unknown; why: the
    reason.
    """

    failed: dict[str, float]
    lost: float | None
    first_success_s: float | None
    recovery_s: float | None
    p99_ns: float | None  # from due, of calls that ended well, of all of the window
    max_ns: float | None
    why: str = ""


def outcome(run: Run, point: Measured) -> Outcome | None:
    """None where nothing was to go wrong."""
    fault = run.surroundings.fault
    if fault is None:
        return None
    failed = {error.code: float(error.count) for error in point.failed_calls}
    failed |= {name.removeprefix("calls_"): n for name in OTHERS if (n := point.figures.get(name))}
    due, ok = point.figures.get("calls_due"), point.figures.get("calls_ok")
    lost = 1 - ok / due if due and ok is not None else None
    course, why = course_of(point), ""
    first = back = None
    if fault.began_s is None:
        why = "the fault did not happen"
    elif course is None:
        why = "there is no time series"
    elif course.first_after(fault.began_s) >= len(course.completed):
        why = "the fault came when the window had closed"
    elif (before := rate_before(course, fault.began_s)) is None:
        why = f"nothing is known of the {NEEDED_S:g} s before it"
    else:
        first = first_success(course, fault.began_s)
        back = recovery(course, fault.began_s, before)
    return Outcome(failed, lost, first, back, point.p99_ns, point.max_ns, why)


def course_of(point: Measured) -> Course | None:
    """None without a time series."""
    return Course(point.bucket_ns / 1e9, point.bucket_completed) if point.bucket_ns and point.bucket_completed else None


def rate_before(course: Course, began_s: float) -> float | None:
    """Calls a slice; None where too little was seen, or nothing was going on."""
    number = course.whole_before(began_s)
    if number == 0 or number * course.slice_s < NEEDED_S - 1e-9:
        return None
    return sum(course.completed[:number]) / number or None


def first_success(course: Course, began_s: float) -> float:
    first = course.first_after(began_s)
    found = (i for i, n in enumerate(course.completed[first:], first) if n > 0)
    i = next(found, None)
    return NEVER if i is None else (i + 1) * course.slice_s - began_s


def recovery(course: Course, began_s: float, before: float) -> float:
    """before: as rate_before() has it."""
    first, counts = course.first_after(began_s), course.completed
    smooth, stays = (max(1, round(seconds / course.slice_s)) for seconds in (SMOOTH_S, STAYS_S))
    enough = [
        sum(counts[i : i + smooth]) >= RECOVERED * before * smooth * (1 - 1e-9) for i in range(len(counts) - smooth + 1)
    ]
    for i in range(first, len(enough) - stays + 1):
        if counts[i] >= RECOVERED * before * (1 - 1e-9) and all(enough[i : i + stays]):
            return max(0.0, i * course.slice_s - began_s)
    return NEVER
