"""Latencies of several processes as one: buckets added as integers, and what follows by the client's formulas.

Every figure is the one that a client would have written that had recorded all calls itself, to the last bit: the same
steps in the same order as src/stats/histogram.cc and result.cc. Percentiles are never averaged.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cqbench.report import hgrm

Counts = npt.NDArray[np.uint64]

# Name -> percentile, and of how many calls in ten thousand more than it there must be ten; result.h says why.
PERCENTILES = (("p50", 50.0, 500), ("p90", 90.0, 100), ("p95", 95.0, 50), ("p99", 99.0, 10), ("p99_9", 99.9, 1))
ENOUGH = 10_000


@dataclass(frozen=True)
class Latencies:
    """Of one process or of all. None: not known, because calls never ended."""

    counts: Counts
    calls: int
    sum_ns: int | None
    min_ns: int | None
    max_ns: int | None
    at_least: int = 0  # calls that never ended, which are among the others with their age
    least_age_ns: int | None = None


def of_point(point: dict[str, Any], prefix: str) -> Latencies | None:
    """prefix: 'latency_'. None where there are none. Raises BadHistogram."""
    calls: Any = point.get(f"{prefix}samples")
    text = point.get(f"{prefix}histogram")
    if calls is None and text is None:
        return None
    counts = np.frombuffer(hgrm.decode(text, calls).counts, dtype=np.uint64)
    mean, least, highest = (point.get(f"{prefix}{what}_ns") for what in ("mean", "min", "max"))
    # The sum itself, however the mean was rounded, up to 2^51 ns: 26 days of calls.
    total = None if mean is None else round(mean * calls)
    at_least = point.get(f"{prefix}at_least", 0)
    age = point.get(f"{prefix}least_age_ns") if at_least else None
    return Latencies(counts, calls, total, least, highest, at_least, age)


def merged(parts: Sequence[Latencies]) -> Latencies:
    """There is at least one."""
    counts = parts[0].counts.copy()
    for part in parts[1:]:
        counts += part.counts
    sums = [part.sum_ns for part in parts]
    least = [part.min_ns for part in parts if part.min_ns is not None]
    highest = [part.max_ns for part in parts]
    ages = [part.least_age_ns for part in parts if part.least_age_ns is not None]
    return Latencies(
        counts,
        sum(part.calls for part in parts),
        None if None in sums else sum(s for s in sums if s is not None),
        min(least, default=None),
        None if None in highest else max(h for h in highest if h is not None),
        sum(part.at_least for part in parts),
        min(ages, default=None),
    )


def figures(of: Latencies, prefix: str) -> dict[str, Any]:
    """Keys as the client writes them."""
    found: dict[str, Any] = {"samples": of.calls}
    if of.at_least:
        found["at_least"] = of.at_least
        found["least_age_ns"] = of.least_age_ns or 0
    elif of.sum_ns is not None:
        found["mean_ns"] = float(of.sum_ns) / float(of.calls)
        found["stddev_ns"] = _deviation(of)
    values = {"min": of.min_ns, **_percentiles(of), "max": None if of.at_least else of.max_ns}
    for name, value in values.items():
        if value is not None and (of.least_age_ns is None or value < of.least_age_ns):
            found[f"{name}_ns"] = value
    found["histogram"] = encode(of.counts)
    return {f"{prefix}{key}": value for key, value in found.items()}


def _percentiles(of: Latencies) -> dict[str, int | None]:
    used = np.flatnonzero(of.counts)
    seen = np.cumsum(of.counts[used].astype(np.int64))
    last = len(used) - 1
    values: dict[str, int | None] = {}
    for name, percent, above in PERCENTILES:
        if of.calls * above < ENOUGH:
            continue
        exact = percent / 100.0 * float(of.calls)
        rank = min(max(math.ceil(exact - 1e-9 * exact), 1), of.calls)
        place = int(np.searchsorted(seen, rank))
        # In the last bucket that is used it is the greatest of all, which is not known where calls never ended.
        values[name] = of.max_ns if place == last else int(hgrm.highest_values(used[place : place + 1])[0])
    return values


def _deviation(of: Latencies) -> float:
    """One addition after the other, as the client does: another order would round in another way."""
    used = np.flatnonzero(of.counts)
    values, counts = hgrm.highest_values(used).astype(np.float64), of.counts[used].astype(np.float64)
    calls = float(of.calls)
    mean = np.add.accumulate(values * counts)[-1] / calls
    apart = values - mean
    return float(np.sqrt(np.add.accumulate(apart * apart * counts)[-1] / calls))


def encode(counts: Counts) -> str:
    """As EncodeHdr() in src/stats/hdr_encoding.cc writes it."""
    words = bytearray()
    following = 0
    used = np.flatnonzero(counts)
    for index, count in zip(used.tolist(), counts[used].tolist(), strict=True):
        if index > following:
            _append(words, 2 * (index - following) - 1)  # a run of empty ones, as a negative number
        _append(words, 2 * count)
        following = index + 1
    head = hgrm.HEADER.pack(hgrm.PLAIN, len(words), 0, hgrm.DIGITS, hgrm.LOWEST, hgrm.HIGHEST, 1.0)
    deflated = zlib.compress(head + bytes(words), 9)
    return base64.b64encode(struct.pack(">II", hgrm.COMPRESSED, len(deflated)) + deflated).decode()


def _append(words: bytearray, zigzag: int) -> None:
    """Seven bits a byte, the lowest first."""
    while zigzag >= 0x80:
        words.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    words.append(zigzag)
