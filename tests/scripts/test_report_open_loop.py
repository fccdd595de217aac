"""Open loops in the report: files -> points by rate, both latencies, time series in which a stall is seen."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
import report_samples as samples
from cqbench.formats.offered import closed
from cqbench.formats.offered import open_loop as rate
from cqbench.model.figures import FIGURES, P99, REACHED
from cqbench.render.report import data, embedded, page, plots, rows
from cqbench.render.report.model import Report, Series
from cqbench.render.report.points import MAX_SLICES
from made_results import HASH, REAL, SLICE_NS, open_loop, put

FULL = {"code": "client-cpu-saturated", "text": "the client is full"}
LATE = {"code": "pacer-late", "text": "the pacer was late"}


def made(tmp_path: Path, *documents: dict[str, object]) -> Report:
    for i, document in enumerate(documents):
        put(tmp_path / f"{i:02}.json", document)
    return data.make([tmp_path])


def only(report: Report) -> Series:
    (series,) = report.series
    return series


def test_points_are_rates_with_both_latencies(tmp_path: Path) -> None:
    series = only(made(tmp_path, open_loop({4000: [4000.0] * 6, 500.5: [500] * 6})))
    assert series.open and [p.load for p in series.points] == [rate(500.5), rate(4000)]
    point = series.points[1].values
    assert (point[P99].middle, point["latency_from_sent_p99_ns"].middle) == (320_000, 300_000)
    assert (point["pacer_lateness_p99_ns"].middle, point["slot_wait_max_ns"].middle) == (60_000, 80_000)
    assert [point[name].middle for name in ("largest_burst", "calls_due", "calls_dropped", "calls_unsent")] == [
        3, 8000, 0, 0
    ]  # fmt: skip
    assert series.fit is None and series.ideal_rate is None


def test_a_closed_loop_has_no_figures_of_pacing(tmp_path: Path) -> None:
    series = only(made(tmp_path, REAL))
    assert not series.open and [p.load for p in series.points] == [closed(2)]
    assert not [key for key in series.points[0].values if FIGURES[key].needs == "open_loop"]


def test_loops_of_one_setting_are_two_series(tmp_path: Path) -> None:
    report = made(tmp_path, REAL, open_loop({2: [2.0]}))
    assert [(s.open, s.points[0].load) for s in report.series] == [(False, closed(2)), (True, rate(2))]
    shown = {plot.key: {p.id for f in frames for p in f.panels} for plot, frames in plots.plots(report)}
    assert "throughput-unary" in shown["throughput"] and "open-throughput-unary" in shown["open-throughput"]
    for plot, frames in plots.plots(report):
        for panel in (p for f in frames for p in f.panels if f.shape not in plots.CHOOSE):
            assert {report.series[row["s"]].open for row in panel.tables["points"]} <= set(plot.of), panel.id


def test_limits_are_no_doubts(tmp_path: Path) -> None:
    series = only(made(tmp_path, open_loop({8: [8.0, 8.0]}, {"warnings": [LATE], "notes": [FULL]})))
    (point,) = series.points
    assert point.warnings == ("the pacer was late (in 2 of 2 repetitions)",)
    assert point.saturated == ("the client is full (in 2 of 2 repetitions)",)
    assert rows.marks(point) == rows.UNRELIABLE + rows.SATURATED


def test_a_stall_is_in_the_time_series(tmp_path: Path) -> None:
    """The time series is that of the repetition with the stall."""
    calm, stalled = open_loop({2000: [2000.0]}), open_loop({2000: [2000.0]}, stalled=[2000])
    (line,) = only(made(tmp_path, calm, stalled, calm)).timelines
    assert (line.load, line.repetition, len(line.slices)) == (rate(2000), 2, 20)
    assert [s.per_second for s in line.slices[5:13]] == [2000, 0, 0, 0, 0, 0, 12_000, 2000]
    assert [s.highest for s in line.slices[5:12]] == [500, 500_000, 400_000, 300_000, 200_000, 100_000, 500]
    assert line.slices[0].at == pytest.approx(SLICE_NS / 2e9)


def test_slices_without_an_answer_have_no_latency(tmp_path: Path) -> None:
    empty = {"bucket_latency_p99_ns": [0] * 20, "bucket_latency_max_ns": [0] * 20, "bucket_completed": [0] * 19 + [1]}
    (line,) = only(made(tmp_path, open_loop({2000: [2000.0]}, empty))).timelines
    assert {(s.p99, s.highest) for s in line.slices} == {(None, None)}


def test_many_slices_are_put_together(tmp_path: Path) -> None:
    """The worst of neighbours stands for them."""
    number = 3 * MAX_SLICES
    series = {"bucket_completed": [10] * number, "bucket_failed": [0] * number}
    peak = [1000] * (number - 1) + [7000]
    series |= {f"bucket_latency_{what}_ns": peak for what in ("p50", "p99", "max")}
    (line,) = only(made(tmp_path, open_loop({100: [100.0]}, series))).timelines
    assert len(line.slices) == MAX_SLICES and {s.per_second for s in line.slices} == {100}
    assert [s.highest for s in line.slices[-2:]] == [1, 7]


def test_the_tables_the_csv_and_the_download(tmp_path: Path) -> None:
    report = made(tmp_path, open_loop({500.5: [500.0]}, {"notes": [FULL]}))
    text = page.render(report)
    assert "Rate asked, calls/s" in text and "500.5 ^" in text and "saturated: the client is full" in text
    (row,) = csv.DictReader(io.StringIO(embedded.points_csv(report)))
    assert (row["loop"], row["inflight"], row["target_rate"]) == ("open", "", "500.5")
    assert row["saturated"] == "the client is full"
    (plain,) = report.data["series"]
    assert plain["open"] and [point["load"] for point in plain["points"]] == [500.5]
    assert [part["per_second"] for part in plain["timelines"][0]["slices"]] == [500] * 20


def test_the_machine_says_how_calls_arrive(tmp_path: Path) -> None:
    rows = dict(made(tmp_path, open_loop({8: [8.0]}, {"schedule_hash": HASH})).machine)
    assert rows["Arrivals"] == "poisson, queue at the limit of 100 outstanding, seed 1, pacing hybrid"


def test_latencies_from_due_and_from_sent_stand_side_by_side() -> None:
    report = samples.open_rates()
    (frames,) = [frames for plot, frames in plots.plots(report) if plot.key == "open-latency"]
    for frame in frames:
        assert [p.caption for p in frame.panels] == [
            "unary, from due", "unary, from sent", "streaming, from due", "streaming, from sent"
        ]  # fmt: skip
        due, sent = ({(r["s"], r["n"]): r["v"] for r in panel.tables["points"]} for panel in frame.panels[:2])
        assert due.keys() == sent.keys() and all(due[key] > sent[key] for key in due)


def test_without_time_series_there_is_no_plot_over_time() -> None:
    assert "time" not in [plot.key for plot, _ in plots.plots(samples.usual())]


def test_the_knee_is_the_last_rate_before_the_first_that_was_not_reached(tmp_path: Path) -> None:
    report = made(tmp_path, open_loop({1000: [1000.0] * 6, 2000: [1990.0] * 6, 4000: [3000.0] * 6, 5000: [5000.0] * 6}))
    assert only(report).knee == 2000
    assert only(report).points[2].values[REACHED].middle == 0.75
    ((_, kept, _, beyond, reached, _),) = report.knees.texts
    assert (kept, beyond, reached) == ("2000/s", "4000/s", "75 %")
    ((_, frames),) = [of for of in plots.plots(report) if of[0].key == "open-throughput"]
    assert frames[0].panels[0].tables["knees"] == [{"s": 0, "n": 2000}]


def test_a_series_that_never_keeps_up_has_no_knee(tmp_path: Path) -> None:
    report = made(tmp_path, open_loop({1000: [500.0] * 6}))
    assert only(report).knee is None and report.knees.texts[0][1] == "-" and report.knees.texts[0][4] == "50 %"
