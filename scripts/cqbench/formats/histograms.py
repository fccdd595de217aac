"""Latency histograms of the client's results: read, put together, as steps of a percentile plot, as .hgrm files.

The text in a result is HdrHistogram's encoding V2 (src/stats/hdr_encoding.cc). Its size and its header are checked
before the library gets it, which would unpack whatever it is told to.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

Integers = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

PREFIX = struct.Struct(">II")  # cookie, length of what follows
HEADER = struct.Struct(">IIIIQQd")  # cookie, length of the counts, offset, digits, lowest and highest value, ratio
COMPRESSED, PLAIN = 0x1C849314, 0x1C849313  # encoding V2
DIGITS, LOWEST, HIGHEST = 3, 1, 2**37 - 1  # the client's Histogram: values are nanoseconds
SUB_BUCKETS = 2048
BUCKETS = 27
HALF = SUB_BUCKETS // 2
COUNTS = (BUCKETS + 1) * HALF
# A count takes nine bytes at most. Text is limited to what an incompressible histogram would take.
MAX_PLAIN = HEADER.size + 9 * COUNTS
MAX_TEXT = (MAX_PLAIN + 1024) * 4 // 3
MAX_CALLS = 2**48
TICKS = 5  # per halving of the distance to 100 %, HdrHistogram's default
MIN_ABOVE = 10  # calls above a step; with fewer the client gives no percentile either


class BadHistogram(ValueError):
    """A text that is not a latency histogram of the client; says why, in one line."""


@dataclass(frozen=True)
class Histogram:
    """A recorded histogram. values: the highest of each used bucket, in ns, ascending. seen: calls up to it.
    least_age_ns: minimum age of the calls that never ended, which count with their age; higher values are unknown.
    None: all ended.
    """

    values: Integers
    seen: Integers
    least_age_ns: float | None = None

    @property
    def calls(self) -> int:
        return int(self.seen[-1])

    @property
    def known(self) -> int:
        """Buckets that are below the ages."""
        return len(self.values) if self.least_age_ns is None else int(np.searchsorted(self.values, self.least_age_ns))

    def at(self, shares: Numbers) -> Integers:
        """The places of the values that these shares of the calls, 0 to 1, stay at or below. Nearest rank."""
        places: Integers = np.searchsorted(self.seen / self.calls, shares)
        return places


def decode(text: Any, calls: Any) -> HdrHistogram:
    """text, calls: what a result says are the histogram and the number of calls in it. Raises BadHistogram."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise BadHistogram(f"not a text of at most {MAX_TEXT} characters")
    if not isinstance(calls, int) or not 0 < calls <= MAX_CALLS:
        raise BadHistogram("the point does not say how many calls are in it")
    try:
        _check(base64.b64decode(text, validate=True))
    except ValueError as error:
        raise error if isinstance(error, BadHistogram) else BadHistogram("not base64") from None
    try:
        histogram = HdrHistogram.decode(text)
    except (ValueError, IndexError, OverflowError, RuntimeError):
        raise BadHistogram("its counts cannot be read") from None
    counts = np.frombuffer(histogram.counts, dtype=np.uint64)
    # As Python's integers: crafted counts do not wrap around.
    held = sum(counts[np.flatnonzero(counts)].tolist())
    if held != calls:
        raise BadHistogram(f"it holds {held} calls, the point has {calls}")
    return histogram


def merge(histograms: Iterable[HdrHistogram], least_age_ns: float | None = None) -> Histogram:
    """One of all of them; there is at least one."""
    rest = iter(histograms)
    total = next(rest)
    for histogram in rest:
        total.add(histogram)
    counts = np.frombuffer(total.counts, dtype=np.uint64)
    used = np.flatnonzero(counts)
    return Histogram(highest_values(used), np.cumsum(counts[used].astype(np.int64)), least_age_ns)


def _check(data: bytes) -> None:
    """Nothing but what the client writes gets to the library. Raises BadHistogram."""
    if len(data) < PREFIX.size or PREFIX.unpack_from(data) != (COMPRESSED, len(data) - PREFIX.size):
        raise BadHistogram("not HdrHistogram's encoding V2, compressed")
    plain = _inflate(data[PREFIX.size :])
    if len(plain) <= HEADER.size:
        raise BadHistogram("it has no counts")
    wanted = (PLAIN, len(plain) - HEADER.size, 0, DIGITS, LOWEST, HIGHEST, 1.0)
    if HEADER.unpack_from(plain) != wanted:
        raise BadHistogram(f"not of {DIGITS} significant digits and values from {LOWEST} to {HIGHEST} ns")
    if plain[-1] & 0x80:
        raise BadHistogram("it ends within a number")


def _inflate(data: bytes) -> bytes:
    """Never more than MAX_PLAIN bytes. Raises BadHistogram."""
    stream = zlib.decompressobj()
    try:
        plain = stream.decompress(data, MAX_PLAIN + 1)
    except zlib.error:
        raise BadHistogram("zlib cannot read it") from None
    if len(plain) > MAX_PLAIN:
        raise BadHistogram(f"more than {MAX_PLAIN} bytes when unpacked")
    if not stream.eof or stream.unused_data:
        raise BadHistogram("it is cut short, or there is more behind it")
    return plain


def highest_values(index: Integers) -> Integers:
    """Returns the highest values of buckets, in ns, like HighestValueOf() in src/stats/histogram.h."""
    shift = np.maximum(index // HALF - 1, 0)
    highest: Integers = ((index - shift * HALF + 1) << shift) - 1
    return highest


def _shares() -> Numbers:
    """The percentile axis: 0, 0.1, ... 0.5, 0.55, ... 0.75, 0.775 and so on, for more calls than MAX_CALLS."""
    # Each by a single division, so that it equals calls / all calls where it should.
    wholes = [2 * TICKS * 2**halving for halving in range(MAX_CALLS.bit_length() + 1)]
    return np.array([(whole - 2 * TICKS + tick) / whole for whole in wholes for tick in range(TICKS)])


AXIS = _shares()


def steps(histogram: Histogram) -> tuple[tuple[float, float], ...]:
    """Share of the calls, latency in microseconds: as far out as there are MIN_ABOVE calls above, and as all calls have
    ended. None with fewer calls than that.
    """
    axis = AXIS[histogram.calls * (1 - AXIS) >= MIN_ABOVE]
    axis = axis[histogram.at(axis) < histogram.known]
    micros = histogram.values[histogram.at(axis)] / 1000
    return tuple((share, float(f"{us:.4g}")) for share, us in zip(axis.tolist(), micros.tolist(), strict=True))


def to_hgrm(histogram: Histogram) -> str:
    """HdrHistogram's percentile output in microseconds, for its plotter: up to the last call, or to the first of which
    only the age is known.

    Not the library's own writer: it leaves the deviation unscaled, has other steps than HdrHistogram, and takes a tenth
    of a second per file.
    """
    lines = [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}", ""]
    last = len(histogram.seen) - 1
    for share, place in zip(AXIS.tolist(), histogram.at(AXIS).tolist(), strict=True):
        if place >= histogram.known:
            lines.append(f"#[calls that never ended begin at {(histogram.least_age_ns or 0) / 1000:.3f}]")
            return "\n".join(lines) + "\n"
        value, seen = histogram.values[place] / 1000, histogram.seen[place]
        lines.append(f"{value:12.3f} {share:2.12f} {seen:10d} {1 / (1 - share):14.2f}")
        if place == last:
            break
    highest = histogram.values[last] / 1000
    lines.append(f"{highest:12.3f} {1:2.12f} {histogram.calls:10d}")
    mean, deviation = _moments(histogram)
    lines.append(f"#[Mean    = {mean:12.3f}, StdDeviation   = {deviation:12.3f}]")
    lines.append(f"#[Max     = {highest:12.3f}, Total count    = {histogram.calls:12d}]")
    lines.append(f"#[Buckets = {BUCKETS:12d}, SubBuckets     = {SUB_BUCKETS:12d}]")
    return "\n".join(lines) + "\n"


def _moments(histogram: Histogram) -> tuple[float, float]:
    """Mean and standard deviation in microseconds, of the middles of the buckets."""
    _, exponents = np.frexp(histogram.values)
    widths = 1 << np.maximum(exponents - SUB_BUCKETS.bit_length() + 1, 0)
    middles = histogram.values + 1 - widths + (widths >> 1)
    counts = np.diff(histogram.seen, prepend=0)
    mean = float(np.average(middles, weights=counts))
    return mean / 1000, float(np.sqrt(np.average((middles - mean) ** 2, weights=counts))) / 1000
