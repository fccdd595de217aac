"""Latency histograms: what the client wrote comes back, anything else is refused, .hgrm files are HdrHistogram's."""

from __future__ import annotations

import base64
import io
import json
import random
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cqbench.formats import histograms
from cqbench.formats.histograms import HEADER, BadHistogram, Histogram, decode, merge, steps, to_hgrm
from cqbench.render.report import files
from hdrh.histogram import HdrHistogram

DATA = Path(__file__).parent / "data/report"
ENTRIES = [
    entry
    for file in sorted(DATA.glob("experiment/raw/*/0[1-3].json"))
    for entry in json.loads(file.read_text())["benchmarks"]
]


def encoded(values: list[int]) -> str:
    """As the client would write it."""
    histogram = HdrHistogram(1, 2**37 - 1, 3)
    for value in values:
        assert histogram.record_value(value)
    text: str = histogram.encode().decode()
    return text


def packed(plain: bytes) -> str:
    """Any counts, in the wrapping of the encoding."""
    inner = zlib.compress(plain)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(inner)) + inner).decode()


def header(counts: bytes, **changes: Any) -> bytes:
    fields = {"cookie": 0x1C849313, "length": len(counts), "offset": 0, "digits": 3, "low": 1, "high": 2**37 - 1}
    return HEADER.pack(*{**fields, "ratio": 1.0, **changes}.values()) + counts


def values(calls: int = 20_000) -> list[int]:
    """Latencies in nanoseconds, the same every time."""
    generator = random.Random(1)
    return [int(generator.lognormvariate(11.5, 0.6)) for _ in range(calls)]


def one(recorded: list[int]) -> Histogram:
    return merge([decode(encoded(recorded), len(recorded))])


# Reading.


@pytest.mark.parametrize("entry", ENTRIES[:12])
def test_what_the_client_wrote_has_its_own_percentiles(entry: dict[str, Any]) -> None:
    histogram = merge([decode(entry["latency_histogram"], entry["latency_samples"])])
    assert histogram.calls == entry["latency_samples"]
    for share, name in ((0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")):
        if f"latency_{name}_ns" in entry:
            assert histogram.values[histogram.at(np.array([share]))[0]] == entry[f"latency_{name}_ns"]
    assert histogram.values[-1] == pytest.approx(entry["latency_max_ns"], rel=1e-3)


def test_merging_is_recording_everything_in_one() -> None:
    recorded = values()
    parts = [recorded[:5], recorded[5:9000], recorded[9000:]]
    together = merge(decode(encoded(part), len(part)) for part in parts)
    alone = one(recorded)
    assert np.array_equal(together.values, alone.values) and np.array_equal(together.seen, alone.seen)


def test_buckets_are_the_librarys() -> None:
    recorded = sorted({0, 1, 2047, 2048, 2049, 4095, 4096, 10**6, 10**9, 2**37 - 1})
    library = HdrHistogram(1, 2**37 - 1, 3)
    assert one(recorded).values.tolist() == sorted({library.get_highest_equivalent_value(v) for v in recorded})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "not a text"),
        (12, "not a text"),
        ("A" * (histograms.MAX_TEXT + 1), "not a text of at most"),
        ("?" * 40, "not base64"),
        ("", "encoding V2"),
        ("HISTFAAA", "encoding V2"),
        (base64.b64encode(struct.pack(">II", 0x1C849314, 5) + b"abc").decode(), "encoding V2"),
        (base64.b64encode(struct.pack(">II", 0x1C849314, 3) + b"abc").decode(), "zlib cannot read"),
        (packed(b"short"), "no counts"),
        (packed(header(b"")), "no counts"),
        (packed(header(b"\x02", digits=5)), "3 significant digits"),
        (packed(header(b"\x02", high=2**63)), "values from 1 to"),
        (packed(header(b"\x02", low=0)), "values from 1 to"),
        (packed(header(b"\x02", offset=7)), "significant digits"),
        (packed(header(b"\x02", ratio=2.0)), "significant digits"),
        (packed(header(b"\x02", length=2)), "significant digits"),
        (packed(header(b"\x82")), "ends within a number"),
        (packed(header(b"\x04")), "holds 2 calls, the point has 1"),
        (packed(header(b"\xff" * 8 + b"\x7f")), "counts cannot be read|holds"),
    ],
    ids=map(str, range(19)),
)
def test_anything_else_is_refused(text: Any, why: str) -> None:
    with pytest.raises(BadHistogram, match=why):
        decode(text, 1)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = packed(header(b"\0" * 200_000_000))
    assert len(bomb) < histograms.MAX_TEXT
    monkeypatch.setattr(HdrHistogram, "decode", None)  # must not get that far
    largest = 0
    inflate = zlib.decompressobj

    class Watched:
        def __init__(self) -> None:
            self.stream = inflate()

        def decompress(self, data: bytes, limit: int) -> bytes:
            nonlocal largest
            plain = self.stream.decompress(data, limit)
            largest = max(largest, len(plain))
            return plain

    monkeypatch.setattr(zlib, "decompressobj", Watched)
    with pytest.raises(BadHistogram, match="when unpacked"):
        decode(bomb, 1)
    assert largest == histograms.MAX_PLAIN + 1


def test_what_is_cut_short_or_goes_on_is_refused() -> None:
    whole = base64.b64decode(encoded(values(500)))[8:]
    for inner in (whole[:-3], whole + b"more"):
        text = base64.b64encode(struct.pack(">II", 0x1C849314, len(inner)) + inner).decode()
        with pytest.raises(BadHistogram, match="cut short|zlib"):
            decode(text, 500)


@pytest.mark.parametrize("calls", [None, 0, -1, "20", 2**60, 1.5])
def test_a_point_that_does_not_say_its_calls_is_refused(calls: Any) -> None:
    with pytest.raises(BadHistogram, match="does not say how many"):
        decode(encoded(values(20)), calls)


def test_counts_that_wrap_around_do_not_pass() -> None:
    # Four counts of 2^62 - 1 and one of 5 are 1 in 64 bits.
    huge = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f"
    with pytest.raises(BadHistogram, match="holds 18446744073709551617 calls, the point has 1"):
        decode(packed(header(4 * huge + b"\x0a")), 1)


def test_damaged_counts_are_refused_or_harmless() -> None:
    plain = zlib.decompress(base64.b64decode(encoded(values(300)))[8:])
    generator = random.Random(2)
    refused = 0
    for _ in range(2000):
        counts = bytearray(plain[HEADER.size :])
        for _ in range(generator.randint(1, 4)):
            counts[generator.randrange(len(counts))] = generator.randrange(256)
        try:
            histogram = merge([decode(packed(header(bytes(counts))), 300)])
        except BadHistogram:
            refused += 1
        else:
            assert histogram.calls == 300
    assert refused > 1000


# Steps.


def test_steps_are_nearest_ranks_of_the_values() -> None:
    recorded = sorted(values())
    for share, micros in steps(one(recorded)):
        rank = max(1, -int(-share * len(recorded) // 1))  # rounded up
        assert micros == pytest.approx(recorded[rank - 1] / 1000, rel=2e-3)


def test_five_steps_halve_the_distance() -> None:
    found = [share for share, _ in steps(one(values()))]
    assert found[:12] == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775]
    assert found == sorted(set(found)) and found[-1] < 1


@pytest.mark.parametrize(
    ("calls", "last"), [(9, None), (10, 0.0), (19, 0.4), (20, 0.5), (1000, 0.9890625), (20_000, 0.9994140625)]
)
def test_steps_end_where_ten_calls_are_above(calls: int, last: float | None) -> None:
    found = steps(one(values(calls)))
    assert (found[-1][0] if found else None) == last
    if last is not None:
        assert calls * (1 - last) >= 10


def test_equal_latencies_are_one_level() -> None:
    assert {micros for _, micros in steps(one([5000] * 100))} == {5.003}  # the highest of its bucket


# .hgrm files.


def plotted(text: str) -> list[tuple[float, float]]:
    """Parses lines as HdrHistogram's plotter does: four columns, no remarks, 1/(1-Percentile) and Value."""
    rows = [line.strip().split() for line in text.split("\n")]
    numbers = [(r[3], r[0]) for r in rows if len(r) == 4 and not r[0].startswith("#") and r[0] != "Value"]
    return [(float(x), float(y)) for x, y in numbers]


def test_the_file_is_laid_out_as_hdrhistograms() -> None:
    histogram = one(values())
    library = HdrHistogram.decode(encoded(values()))
    out = io.BytesIO()
    library.output_percentile_distribution(out, 1000.0)
    theirs, ours = out.getvalue().decode().splitlines(), to_hgrm(histogram).splitlines()
    assert ours[:2] == theirs[:2] == ["       Value     Percentile TotalCount 1/(1-Percentile)", ""]
    by_level = {line.split()[1]: line for line in theirs[2:-3]}
    common = [line for line in ours[2:-3] if line.split()[1] in by_level]
    assert len(common) >= 3  # 0, 0.1 and 1: the library's other levels are not those of HdrHistogram itself
    assert common == [by_level[line.split()[1]] for line in common]
    assert ours[-3].split(",")[0] == theirs[-3].split(",")[0]  # mean; the library does not scale the deviation
    assert ours[-2].split(",")[0] == theirs[-2].split(",")[0]  # max
    assert ours[-1] == theirs[-1]  # buckets
    deviation = float(ours[-3].split("=")[2].strip(" ]"))
    assert deviation == pytest.approx(float(np.std(values())) / 1000, rel=1e-3)
    assert ours[-2].endswith("Total count    =        20000]")


def test_every_value_is_where_the_library_has_it() -> None:
    recorded = values(5000)
    library = HdrHistogram.decode(encoded(recorded))
    lines = [line.split() for line in to_hgrm(one(recorded)).splitlines()[2:-3]]
    for value, _, seen, *_ in lines:
        nanos = round(float(value) * 1000)
        assert library.get_highest_equivalent_value(nanos) == nanos
        assert int(seen) == sum(v <= nanos for v in recorded)


def test_it_ends_with_the_last_call_at_100_percent() -> None:
    for calls in (1, 2, 7, 1000):
        *_, last = to_hgrm(one(values(calls))).splitlines()[2:-3]
        assert last.split()[1:] == ["1.000000000000", str(calls)]


def test_the_plotter_gets_ascending_numbers() -> None:
    found = plotted(to_hgrm(one(values())))
    assert len(found) > 50 and found == sorted(found) and found[0][0] == 1.0


def test_writing_replaces_the_older_reports_files_and_no_others(tmp_path: Path) -> None:
    files.write_hgrm(tmp_path, {})
    assert not (tmp_path / "hgrm").exists()
    files.write_hgrm(tmp_path, {"a-1.hgrm": "one", "a-2.hgrm": "two"})
    (tmp_path / "hgrm/notes.txt").write_text("mine")
    files.write_hgrm(tmp_path, {"a-2.hgrm": "new"})
    assert {p.name: p.read_text() for p in (tmp_path / "hgrm").iterdir()} == {"a-2.hgrm": "new", "notes.txt": "mine"}


def test_ages_of_calls_that_never_ended_are_not_shown_as_latencies() -> None:
    """2 % of the calls hang: their ages, from 1 s on, say how long at least."""
    recorded = sorted(values())[:-400] + [10**9 + i for i in range(400)]
    histogram = merge([decode(encoded(recorded), len(recorded))], least_age_ns=1e9)
    known, all_of_them = steps(histogram), steps(one(recorded))
    assert known == tuple(step for step in all_of_them if step[0] <= 0.98) != all_of_them
    text = to_hgrm(histogram)
    assert text.endswith("\n#[calls that never ended begin at 1000000.000]\n") and "Max" not in text
    assert all(float(line.split()[0]) < 1e6 for line in text.splitlines()[2:-1])
