"""Rules about the figures of each point: they were made from one measurement, so they have to agree with each other.

Whoever changes one of them has to change all others, the histogram included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
from cqbench.analysis.check.model import At, Finding, Result, State, Subject, count, each, judged
from cqbench.formats import histograms
from cqbench.formats.histograms import BadHistogram, Histogram
from cqbench.model.figures import ENDS

# Relative, for figures that follow from each other by one division.
EXACT = 1e-6
# Relative, for CPU figures: times are whole nanoseconds, counts are scaled to the window and rounded.
ROUNDED = 1e-3
# A histogram has three significant digits: a bucket is at most 1/1024 of its value wide.
BUCKET = 2 / 1024
# The same as in src/observe/checks/thresholds.h and src/config/load.h.
LITTLE_SHARE, CALLS_FOR_LITTLE, BACK_OFF_NS = 0.05, 100, 10_000_000
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
ORDER = ("min", *SHARES, "max")
COUNTS = ("calls_due", "calls_sent", "calls_ok")  # the schema asks for them
PREFIXES = ("latency", "latency_from_sent")


def counts(subject: Subject) -> Finding | None:
    """Throughput x window, and every way in which calls are counted."""
    points = [at for at in subject.points if at.measured.throughput is not None]
    if not points:
        return None
    problems = [f"{at.where}: {problem}" for at in points for problem in _miscounted(at)]
    without = tuple(at.where for at in points if not {*COUNTS} <= at.raw.keys())
    looked_at = count(len(points), "point")
    if without and not problems:
        text = f"{looked_at}: {len(without)} without {' or '.join(COUNTS)}; what there is agrees"
        return Finding("counts", State.NOT_KNOWN, text, without)
    fine = "throughput x window and all counts of calls agree, and CPU time with its shares"
    return judged("counts", looked_at, problems, fine)


def _miscounted(at: At) -> Iterator[str]:
    raw, completed = at.raw, at.measured.completed
    window_ns = at.measured.ranks.window_ns if at.measured.ranks else at.measured.window_ns
    if window_ns and not math.isclose(raw["throughput_per_second"] * window_ns / 1e9, completed, rel_tol=EXACT):
        calls = raw["throughput_per_second"] * window_ns / 1e9
        yield f"throughput x window is {calls:.0f} calls, completed are {completed}"
    ended = _sum(raw, "calls_ok")
    sums = {
        "iterations": (_number(raw, "iterations"), completed),
        "calls_due": (_number(raw, "calls_due"), _sum(raw, "calls_sent", "calls_dropped", "calls_unsent")),
        "calls_sent": (_number(raw, "calls_sent"), _sum(raw, "calls_ok", "failed", "unfinished")),
        "failed": (_number(raw, "failed"), sum(error.count for error in at.measured.failed_calls)),
        "latency_samples": (
            _number(raw, "latency_samples"),
            None if ended is None else ended + (_number(raw, "latency_censored") or 0),
        ),
        "completed_per_slot": (_total(raw, "completed_per_slot"), completed),
        "bucket_completed": (_total(raw, "bucket_completed"), completed),
    }
    for key, (found, expected) in sums.items():
        if found is not None and expected is not None and found != expected:
            yield f"{key} is {found:.0f}, and {expected:.0f} by the other counts"
    for end in ENDS:
        yield from _miscounted_cpu(at, end)


def _number(raw: Mapping[str, Any], key: str) -> float | None:
    """None where it is absent, or what no model has checked is no number."""
    value = raw.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _sum(raw: Mapping[str, Any], *keys: str) -> float | None:
    """None where one is absent."""
    values = [_number(raw, key) for key in keys]
    return None if None in values else sum(value for value in values if value is not None)


def _total(raw: Mapping[str, Any], key: str) -> float | None:
    """The sum of a list; None where there is none, or an empty one."""
    values = raw.get(key)
    return sum(values) if values else None


def _miscounted_cpu(at: At, end: str) -> Iterator[str]:
    raw, window_ns = at.raw, at.measured.window_ns
    used = _sum(raw, f"{end}_cpu_user_ns", f"{end}_cpu_system_ns")
    cores, each_ns = raw.get(f"{end}_cores_used"), raw.get(f"{end}_cpu_per_rpc_ns")
    calls = at.measured.completed if end == "client" else raw.get("server_rpcs")
    if not used or at.measured.ranks:
        return
    if cores is not None and window_ns and not math.isclose(cores * window_ns, used, rel_tol=ROUNDED):
        yield f"{end}_cores_used is {cores:.3f}, and {used / window_ns:.3f} by its CPU time"
    if each_ns is not None and calls and not _is_share(each_ns, used, calls):
        yield f"{end}_cpu_per_rpc_ns is {each_ns:.0f}, and {used / calls:.0f} by its CPU time"


def _is_share(each_ns: float, used_ns: float, calls: float) -> bool:
    """The server's calls are rounded in the file, and were cut to whole ones before that."""
    most = used_ns / (calls - 1) if calls > 1 else math.inf
    return used_ns / (calls + 1) * (1 - ROUNDED) - 1 <= each_ns <= most * (1 + ROUNDED) + 1


def latencies(subject: Subject) -> Finding | None:
    """Percentiles in their order, and the same as those of the histogram that is stored with them."""
    points = [at for at in subject.points if at.raw.get("latency_samples")]
    if not points:
        return None
    problems = [*each(points, _disordered)]
    stored = [at for at in points if at.raw.get("latency_histogram")]
    problems += [f"{at.where}: {problem}" for at in stored for problem in _not_of_histogram(at)]
    looked_at = count(len(points), "point")
    if problems or len(stored) == len(points):
        return judged("latencies", looked_at, problems, "percentiles are those of the histograms")
    without = f"in their order; {count(len(points) - len(stored), 'histogram')} of {len(points)} not stored"
    return Finding("latencies", State.NOT_KNOWN, f"{looked_at}: {without}")


def _disordered(at: At) -> str:
    for prefix in PREFIXES:
        keys = [f"{prefix}_{key}_ns" for key in ORDER]
        there = [(key, at.raw[key]) for key in keys if at.raw.get(key) is not None]
        for (one, low), (other, high) in pairwise(there):
            if low > high:
                return f"{one} is above {other}"
        mean = at.raw.get(f"{prefix}_mean_ns")
        if mean is not None and there and not there[0][1] * (1 - EXACT) <= mean <= there[-1][1] * (1 + EXACT):
            return f"{prefix}_mean_ns is not between {there[0][0]} and {there[-1][0]}"
    return ""


def _not_of_histogram(at: At) -> Iterator[str]:
    for prefix in PREFIXES:
        text, samples = at.raw.get(f"{prefix}_histogram"), at.raw.get(f"{prefix}_samples")
        if text is None:
            continue
        try:
            found = histograms.merge([histograms.decode(text, samples)])
        except BadHistogram as error:
            yield f"{prefix}_histogram: {error}"
            continue
        yield from (f"{prefix}_{problem}" for problem in _against(found, at.raw, prefix))


def _against(histogram: Histogram, raw: Mapping[str, Any], prefix: str) -> Iterator[str]:
    most = raw.get(f"{prefix}_max_ns")
    for key, share in SHARES.items():
        told = raw.get(f"{prefix}_{key}_ns")
        exact = share * histogram.calls
        rank = min(max(math.ceil(exact - 1e-9 * exact), 1), histogram.calls)  # as Histogram::ValueAtPercentile()
        value = int(histogram.values[np.searchsorted(histogram.seen, rank)])
        expected = value if most is None else min(value, most)
        if told is not None and told != expected:
            yield f"{key}_ns is {told:.0f}, and {expected:.0f} by the histogram"
    mean = raw.get(f"{prefix}_mean_ns")
    numbers = np.diff(histogram.seen, prepend=0)
    upper = float(np.average(histogram.values, weights=numbers))
    if mean is not None and not upper * (1 - BUCKET) - 1 <= mean <= upper * (1 + EXACT):
        yield f"mean_ns is {mean:.0f}, and {upper:.0f} by the histogram"
    if most is not None and not histogram.values[-1] * (1 - BUCKET) - 1 <= most <= histogram.values[-1]:
        yield f"max_ns is {most:.0f}, and {histogram.values[-1]} by the histogram"


def medians(subject: Subject) -> Finding | None:
    """The medians that a file with repetitions has are those of its repetitions."""
    files = [result for result in subject.results if any(_is_median(entry) for entry in result.raw["benchmarks"])]
    if not files:
        return None
    problems = [f"{result.name}: {problem}" for result in files for problem in _wrong_medians(result)]
    return judged("medians", count(len(files), "file"), problems, "medians are those of the repetitions")


def _is_median(entry: Mapping[str, Any]) -> bool:
    return entry.get("run_type") == "aggregate" and entry.get("aggregate_name") == "median"


def _wrong_medians(result: Result) -> Iterator[str]:
    for entry in filter(_is_median, result.raw["benchmarks"]):
        of = [one for one in result.entries if one.get("run_name") == entry.get("run_name") and one.get("completed")]
        for key in ("throughput_per_second", *(f"latency_{name}_ns" for name in SHARES)):
            values = [value for one in of if (value := _number(one, key)) is not None]
            told = _number(entry, key)
            if told is not None and values and not math.isclose(told, median(values), rel_tol=EXACT, abs_tol=1):
                yield f"{entry.get('run_name')}: {key} is {told:g}, and {median(values):g} by the repetitions"


def littles_law(subject: Subject) -> Finding | None:
    """Throughput x mean latency is the number of calls in flight, as the client checks itself."""
    closed = [at for at in subject.measured if not at.measured.load.open]
    points = [at for at in closed if at.raw.get("latency_mean_ns") and _has_enough(at)]
    if not points:
        return None
    wrong = [(at, problem) for at in points if (problem := _outside_of_calls(at))]
    hidden = [f"{at.where}: {problem}" for at, problem in wrong if not _is_told(at)]
    looked_at = f"{count(len(points), 'closed-loop point')}"
    if hidden or not wrong:
        return judged("littles-law", looked_at, hidden, "throughput x mean latency is the calls in flight")
    words = tuple(f"{at.where}: {problem}" for at, problem in wrong)
    text = f"{looked_at}: {count(len(wrong), 'point')} with a warning that calls do not account for all time"
    return Finding("littles-law", State.REMARK, text, words)


def _has_enough(at: At) -> bool:
    return at.measured.completed >= CALLS_FOR_LITTLE and not at.raw.get("unfinished")


def _is_told(at: At) -> bool:
    return any(warning.code == "littles-law" for warning in at.measured.warnings)


def _outside_of_calls(at: At) -> str:
    """As CheckLittlesLaw() in src/observe/checks/load_check.cc, which explains what is allowed for."""
    raw, slots, window_ns = at.raw, at.measured.inflight, at.measured.window_ns or 0.0
    in_calls = raw["throughput_per_second"] * raw["latency_mean_ns"] / 1e9
    across = (raw.get("latency_max_ns") or 0.0) / window_ns if window_ns else 1.0
    longest = _number(at.result.run.context, "deadline_ns") or window_ns
    failures = at.measured.failed * (BACK_OFF_NS + longest) / (slots * window_ns) if window_ns else 1.0
    if abs(in_calls / slots - 1) <= LITTLE_SHARE + across + failures:
        return ""
    return f"throughput x mean latency is {in_calls:.2f} calls in flight, not {slots}"
