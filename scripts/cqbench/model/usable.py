"""Which points count: the one rule, for a repetition by itself and for all repetitions of a point."""

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


def worst(codes: Iterable[str]) -> str:
    """Returns the most important code of several points'; '' if all points allow a conclusion."""
    order = (*DISQUALIFYING, UNRELIABLE, NOT_HELD, FEW)
    return min(filter(None, codes), key=lambda code: max(order.index(code), len(DISQUALIFYING) - 1), default="")


def unreliable(repetitions: Sequence[Measured], warnings: Iterable[Reason], promised: bool) -> str:
    """Why nothing follows from a point, a code; '' where something may. repetitions: those that count. warnings: about
    all points of its run. promised: the channel policy says how many connections there are.
    """
    general = next((warning.code for warning in warnings if disqualifies(warning)), "")
    if general:
        return general
    # Other connections than promised have a code of their own.
    warned = sum(any(warning.code != reasons.CONNECTIONS for warning in m.warnings) for m in repetitions)
    if warned > MAX_UNRELIABLE_SHARE * len(repetitions):
        return UNRELIABLE
    if promised and not all(m.connections in (None, m.expected_connections) for m in repetitions):
        return NOT_HELD
    return FEW if len(repetitions) < MIN_REPETITIONS else ""
