"""Which points count: the one rule, for a repetition by itself and for all repetitions of a point.

A disturbance comes from outside: it hits all configurations alike where they were measured one right after the other.
There it makes intervals wider, through the figures themselves, and takes no comparison away. What is left is tied to
one configuration: connections other than promised, calls that do not end, a schedule that was not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cqbench.formats import reasons
from cqbench.formats.manifest import Fault
from cqbench.formats.point import Measured
from cqbench.formats.reasons import Reason
from cqbench.model.thresholds import MAX_UNRELIABLE_SHARE
from cqbench.stats.ratios import MIN_REPETITIONS

# Codes for programs: nothing follows from a point.
UNRELIABLE, NOT_HELD, FEW = "suspect", "connections-not-held", "few-repetitions"
# Warnings about all points that forbid any conclusion. Two programs on one CPU look half idle when it is saturated;
# runs whose surroundings are not known may only look alike.
DISQUALIFYING = (reasons.SHARED_CPUS, reasons.UNKNOWN_SURROUNDINGS)
# The machine's, whatever the configuration: seen from outside, or in the figures themselves.
OUTSIDE = (reasons.OTHER_PROCESSES, reasons.OTHER_CLIENT, reasons.STEAL, reasons.SUSPENDED)
DISTURBANCES = (*OUTSIDE, reasons.STRAGGLER, reasons.NOT_WARMED_UP, reasons.DRIFT)


def unusable(measured: Measured, fault: Fault | None = None) -> str:
    """Why a repetition does not count; '' when it does. A call that fails at once makes throughput higher."""
    if fault is not None:
        return f"{fault.words} was made to happen in it"
    if measured.failure:
        return measured.failure
    if measured.partial:
        return "cut short"
    if measured.failed:
        return f"{measured.failed} calls failed ({'/'.join(measured.error_codes) or 'no code'})"
    return "" if measured.throughput is not None else "no figure"


def disqualifies(warning: Reason) -> bool:
    """True if a warning about all points forbids any conclusion."""
    return warning.code in DISQUALIFYING


def disturbed(measured: Measured) -> bool:
    """True if something from outside was seen during it, whatever its figures."""
    return any(warning.code in OUTSIDE for warning in measured.warnings)


def worst(codes: Iterable[str]) -> str:
    """Returns the most important code of several points'; '' if all points allow a conclusion."""
    order = (*DISQUALIFYING, UNRELIABLE, NOT_HELD, FEW)
    return min(filter(None, codes), key=lambda code: max(order.index(code), len(DISQUALIFYING) - 1), default="")


def unreliable(
    repetitions: Sequence[Measured], warnings: Iterable[Reason], promised: bool, interleaved: bool = False
) -> str:
    """Why nothing follows from a point, a code; '' where something may. repetitions: those that count. warnings: about
    all points of its run. promised: the channel policy says how many connections there are. interleaved: with what it
    is compared with, so that disturbances are those of both.
    """
    general = next((warning.code for warning in warnings if disqualifies(warning)), "")
    if general:
        return general
    # Other connections than promised have a code of their own.
    passed_over = (reasons.CONNECTIONS, *(DISTURBANCES if interleaved else ()))
    warned = sum(any(warning.code not in passed_over for warning in m.warnings) for m in repetitions)
    if warned > MAX_UNRELIABLE_SHARE * len(repetitions):
        return UNRELIABLE
    if promised and not all(m.connections in (None, m.expected_connections) for m in repetitions):
        return NOT_HELD
    return FEW if len(repetitions) < MIN_REPETITIONS else ""
