"""The figures of a report: which, in which order, how they are kept, and how people and scripts read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cqbench.formats.figures import THROUGHPUT, Figure
from cqbench.model.figures import (
    CPU,
    FIGURES,
    P50,
    P99,
    PERCENTILES,
    REACHED,
    SENT_PERCENTILES,
    at_both_ends,
)
from cqbench.render.report.model import Value
from cqbench.stats import medians

DIGITS = 6  # of what is kept in a report: more than the figures have
# In the order of the page's tables and of the CSV.
SHOWN: tuple[Figure, ...] = tuple(
    FIGURES[name]
    for name in (
        THROUGHPUT,
        *PERCENTILES,
        *SENT_PERCENTILES,
        *(REACHED, "calls_due", "calls_dropped", "calls_unsent"),
        *("pacer_lateness_p50_ns", "pacer_lateness_p99_ns", "pacer_lateness_max_ns"),
        *("slot_wait_mean_ns", "slot_wait_p99_ns", "slot_wait_max_ns", "largest_burst"),
        *CPU,
        *at_both_ends("cores_used"),
        *at_both_ends("voluntary_context_switches_per_rpc"),
        *at_both_ends("allocations_per_rpc"),
        "connections",
        *at_both_ends("rpcs_per_segment_sent"),
        *at_both_ends("connection_busy_share_median"),
        *at_both_ends("connection_idle_per_segment_ns_median"),
        *("client_rtt_smoothed_ns_median", "client_rtt_min_ns_median"),
        *("rpcs_per_queue_most_of_mean", "rpcs_per_queue_fewest_of_mean"),
        *("calls_per_slot_most_of_mean", "calls_per_slot_fewest_of_mean"),
        *at_both_ends("busiest_worker_share"),
        *at_both_ends("workers_busy_share"),
        *at_both_ends("cpus_busy_elsewhere"),
        *at_both_ends("steal_share"),
        *(f"breakdown_{part}_p50_ns" for part in ("client_issue", "server_handling", "server_finishing")),
        *(f"breakdown_{part}_share" for part in ("client_issue", "server_handling", "network", "unattributed")),
    )
)
COMPARED = (THROUGHPUT, P99, P50, *CPU)  # as ratios, the figures of the question first


def describe(values: Sequence[float]) -> Value:
    """The median with its 95 % interval. values: not empty."""
    found = medians.describe(values)
    return Value(short(found.value), *(None if end is None else short(end) for end in (found.low, found.high)))


def short(value: float) -> float:
    """With few digits and no fraction of zeros, so that the report is small. value: finite."""
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded == int(rounded) else rounded


def number(value: float) -> str:
    """Four significant digits, thousands separated; whole numbers from 1,000 on. As figure() in hover.js."""
    rounded = float(f"{value:.4g}")
    if abs(rounded) >= 1000 or rounded == int(rounded):
        return f"{value:,.0f}"
    places = 3 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{places}f}".rstrip("0")


def texts(values: Mapping[str, Value], figure: Figure) -> tuple[str, str]:
    """Median and interval in the unit for people; '-' and '' where there is none."""
    value = values.get(figure.name)
    if value is None:
        return "-", ""
    low, high = (None if end is None else number(end * figure.scale) for end in (value.low, value.high))
    return number(value.middle * figure.scale), "" if low is None or high is None else f"{low}–{high}"
