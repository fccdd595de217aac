"""Plots: the look of series, the rows behind the plots, the ends of the axes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import report_samples as samples
from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import closed
from cqbench.model.figures import CLIENT_CPU, P50
from cqbench.render.report import axes, plots, rows, specs, style
from cqbench.render.report.catalogue import PLOTS
from cqbench.render.report.model import Point, Report, Series, Slice, Timeline, Value
from cqbench.render.report.plots import Frame, Panel

REPORT = samples.usual()


def frame(key: str, report: Report = REPORT) -> Frame:
    (found,) = [f for plot in PLOTS for f in plots.frames(plot, report) if f.id == key]
    return found


def panel(key: str, method: str = "unary", report: Report = REPORT) -> Panel:
    (found,) = [p for p in frame(key, report).panels if p.method == method]
    return found


def report_of(*series: Series) -> Report:
    return replace(REPORT, series=series, against=())


def one(points: tuple[Point, ...], **changes: object) -> Report:
    return report_of(replace(REPORT.series[0], points=points, **changes))  # type: ignore[arg-type]


def luminance(colour: str) -> float:
    """WCAG's relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# The look.


@pytest.mark.parametrize("theme", [0, 1])
def test_every_colour_stands_out_from_the_ground(theme: int) -> None:
    for pair in (*style.COLOURS, style.INK, style.SOFT):
        assert contrast(pair[theme], style.PAPER[theme]) >= 4.5, pair


def test_an_api_has_its_colour_whatever_else_is_in_the_report() -> None:
    of = {(s.api, s.sharing): look for s, look in zip(REPORT.series, style.looks(REPORT.series), strict=True)}
    assert [of[api, "shared"].colour for api in style.APIS] == [0, 1, 2]
    (alone,) = style.looks([s for s in REPORT.series if s.api == "callback"])
    assert alone.colour == 2


def test_sharing_is_told_by_line_and_marker_not_by_colour() -> None:
    shared, separate = style.looks(REPORT.series[:2])
    assert shared.colour == separate.colour
    assert shared.line.dash == () and separate.line.dash != ()
    assert shared.line.shape != separate.line.shape and shared.line.hollow != separate.line.hollow


def test_pools_of_different_sizes_differ() -> None:
    kinds = ("shared", "separate", "pool:2", "pool:4", "pool:8", "pool:16")
    lines = [look.line for look in style.looks([replace(REPORT.series[0], sharing=k) for k in kinds])]
    assert len(set(lines)) == len({line.dash for line in lines}) == len({line.shape for line in lines}) == len(kinds)


def test_what_scales_has_a_line_of_its_own() -> None:
    kinds = ("scaling:4", "shared", "separate", "pool:2", "pool:4", "scaling:48", "pool:16")
    looks = style.looks([replace(REPORT.series[0], sharing=k) for k in kinds])
    assert looks[0].line == style.SCALING and len({look.line for look in looks}) == len(kinds)
    assert len({look.line.dash for look in looks}) == len({look.line.shape for look in looks}) == len(kinds)
    (alone,) = style.looks([replace(REPORT.series[0], sharing="scaling:48")])
    assert alone.line == style.SCALING


def test_settings_of_one_api_have_colours_of_their_own_until_there_are_no_more() -> None:
    several = [replace(REPORT.series[0], setting=f"{n} threads") for n in range(9)]
    assert [look.colour for look in style.looks(several)] == [0, 1, 2, 3, 4, 5, 6, 7, 0]
    assert style.repeats(several) and not style.repeats(several[:8])


# Rows.


def test_each_figure_of_each_point_has_a_row_with_interval_and_marks() -> None:
    found = [r for r in panel("throughput").tables["points"] if r["s"] == 1]
    points = REPORT.series[1].points
    assert [r["n"] for r in found] == [p.load.number for p in points] == [1, 4, 8, 16, 32, 48]
    assert [r["v"] for r in found] == [p.values[THROUGHPUT].middle for p in points]
    assert [(r["lo"], r["hi"]) for r in found] == [
        (p.values[THROUGHPUT].low, p.values[THROUGHPUT].high) for p in points
    ]
    assert [r["m"] for r in found] == [0, rows.SATURATED, 0, rows.UNRELIABLE, 0, rows.UNRELIABLE + rows.PARTIAL]


def test_numbers_of_points_lead_to_the_points() -> None:
    points = [(i, p.load.number) for i, s in enumerate(REPORT.series) for p in s.points]
    for row in panel("p99", "streaming").tables["points"]:
        assert points[row["p"]] == (row["s"], row["n"])


def test_without_an_interval_there_is_none() -> None:
    found = [r for r in panel("throughput").tables["points"] if r["s"] == 8]
    assert REPORT.series[8].api == "callback" and found
    assert {(r["lo"], r["hi"]) for r in found} == {(None, None)}


def test_a_figure_that_is_absent_leaves_a_gap() -> None:
    found = {r["n"]: r["v"] for r in panel("p99-9").tables["points"] if r["s"] == 1}
    assert found[8] is None and found[4] is not None and found[16] is not None


def test_a_series_without_the_metric_has_no_rows() -> None:
    assert {r["s"] for r in panel("server-cpu").tables["points"]} == {0, 1, 2, 3}
    assert {r["s"] for r in panel("client-cpu").tables["points"]} == {0, 1, 2, 3, 8}


def test_a_logarithmic_axis_gets_no_zero() -> None:
    values = {1: Value(0.0, 0.0, 1.0), 2: Value(5000.0, 0.0, 9000.0)}
    report = one(tuple(Point(closed(n), {P50: value}, 6) for n, value in values.items()))
    found = panel("p50", report=report).tables["points"]
    assert [(r["v"], r["lo"]) for r in found] == [(None, None), (5.0, None)]
    linear = one((Point(closed(1), {CLIENT_CPU: Value(0.0, 0.0, 1.0)}, 6),))
    assert panel("client-cpu", report=linear).tables["points"][0]["v"] == 0.0


def test_latency_against_throughput_needs_both() -> None:
    figures = ({THROUGHPUT: Value(10.0), P50: Value(3000.0)}, {THROUGHPUT: Value(10.0)}, {P50: Value(3000.0)})
    report = one(tuple(Point(closed(n), dict(f), 1) for n, f in enumerate(figures, 1)))
    (row,) = panel("tradeoff-p50", report=report).tables["points"]
    assert (row["n"], row["x"], row["v"]) == (1, 10.0, 3.0)


def test_completion_queues_have_two_curves() -> None:
    found = [r for r in panel("queues").tables["points"] if r["s"] == 0 and r["n"] == 16]
    assert [(r["k"], r["v"]) for r in found] == [(0, pytest.approx(116)), (1, pytest.approx(84))]


def test_the_ideal_is_a_straight_line_through_the_rate_at_1() -> None:
    found = [r for r in panel("throughput").tables["ideal"] if r["s"] == 0]
    rate = REPORT.series[0].ideal_rate
    assert rate and found[0] == {"s": 0, "n": 1.0, "v": rate} and found[-1]["n"] == pytest.approx(48)
    assert all(r["v"] == pytest.approx(rate * r["n"]) for r in found)
    nothing = one(REPORT.series[0].points, ideal_rate=None)
    assert panel("throughput", report=nothing).tables["ideal"] == []


def test_poor_fits_are_marked() -> None:
    poor = {r["s"]: r["poor"] for r in panel("throughput").tables["fits"]}
    assert poor == {0: False, 1: True, 2: False, 3: False, 8: False}


# Distributions.


def test_percentiles_are_placed_by_the_calls_that_are_left() -> None:
    found = [r for r in panel("distribution").choices["16 in flight"] if r["s"] == 0]
    steps = REPORT.series[0].distributions[4]
    assert steps.load == closed(16) and len(found) == len(steps.steps)
    for row, (share, micros) in zip(found, steps.steps, strict=True):
        assert 1 - 10 ** -row["x"] == pytest.approx(share, abs=2e-3) and row["v"] == micros and row["c"] == steps.calls


def test_thinning_keeps_both_ends_and_the_order() -> None:
    steps = [(k / 100, float(k)) for k in range(500)]
    kept = rows.thin(steps, 72)
    assert 60 <= len(kept) <= 72 and kept == sorted(kept) and set(kept) <= set(steps)
    assert (kept[0], kept[-1]) == (steps[0], steps[-1])
    assert max(b[0] - a[0] for a, b in zip(kept, kept[1:], strict=False)) < 0.16
    assert rows.thin(steps[:72], 72) == steps[:72]
    assert rows.thin([(1.0, 1.0)] * 100, 72) == [(1.0, 1.0)]


def test_the_distribution_shown_first_is_the_highest_that_most_have() -> None:
    few = replace(REPORT.series[0], distributions=tuple(samples.distribution(n, 1e5) for n in (4, 8, 96)))
    many = replace(few, distributions=few.distributions[:2])
    (plot,) = [p for p in PLOTS if p.key == "distribution"]
    assert plots.default(plot, report_of(few, many)) == "8 in flight"
    assert plots.choices(plot, report_of(few, many)) == ["4 in flight", "8 in flight", "96 in flight"]
    assert plots.default(plot, report_of()) == ""


# The question.


def test_each_pair_has_its_ratios_with_the_marks_of_both() -> None:
    (choice,) = panel("ratio").choices
    found = panel("ratio").choices[choice]
    assert choice == "connections" and {(r["a"], r["s"]) for r in found} == {(0, 1), (1, 3)}
    values = REPORT.against[0].values
    first = [r for r in found if r["a"] == 0]
    assert [(r["n"], r["v"], r["lo"]) for r in first] == [
        (n.number, v[THROUGHPUT].middle, v[THROUGHPUT].low) for n, v in values.items()
    ]
    assert {r["n"]: r["m"] for r in first}[16] == rows.UNRELIABLE
    other = replace(REPORT, against=(replace(REPORT.against[0], series=0, base=1),))
    assert {r["n"]: r["m"] for r in panel("ratio", report=other).choices["connections"]}[16] == rows.UNRELIABLE


def test_pairs_stand_side_by_side() -> None:
    assert {(r["a"], r["i"]) for r in panel("ratio").choices["connections"]} == {(0, -0.5), (1, 0.5)}


def test_lines_at_one_and_at_what_a_change_is_worth() -> None:
    layers = specs.spec(frame("ratio"), REPORT, style.PAGE)["layer"]
    assert [layer["encoding"]["y"]["datum"] for layer in layers if "datum" in layer["encoding"].get("y", {})] == [
        1,
        1.1,
    ]


def test_a_few_wide_intervals_do_not_squeeze_the_ratios() -> None:
    wide = [{"v": 1.2, "lo": 0.01, "hi": 90.0}, {"v": 0.8, "lo": 0.7, "hi": 0.9}]
    found = axes.ends(frame("ratio"), REPORT, wide)
    assert (found["y_min"], found["y_max"]) == pytest.approx((0.8 / 1.5 / 1.06, 1.25 * 1.5 * 1.06))
    assert axes.ends(frame("ratio"), REPORT, [{"v": 1.0}])["y_min"] < 0.9


# Repetitions.


def test_repetitions_stand_beside_their_median_in_their_order() -> None:
    found = [r for r in panel("throughput").tables["dots"] if r["s"] == 0 and r["n"] == 8]
    assert [(r["c"], r["i"]) for r in found] == [(i + 1, i - 2.5) for i in range(6)]
    assert [r["v"] for r in found] == [run.values[THROUGHPUT] for run in REPORT.series[0].points[3].runs]


def test_too_many_repetitions_are_no_dots() -> None:
    one = REPORT.series[0]
    many = tuple(replace(p, runs=p.runs * 40) for p in one.points)
    assert panel("throughput", report=report_of(replace(one, points=many))).tables["dots"] == []


def test_repetitions_by_time_show_drift_of_all_series_together() -> None:
    found = [r for r in panel("runs-share").choices["8 in flight"] if r["s"] == 0]
    assert [r["c"] for r in found] == [1, 2, 3, 4, 5, 6] and [r["m"] for r in found] == [0, 1, 0, 0, 0, 0]
    assert found[1]["x"] - found[0]["x"] == pytest.approx(1, abs=0.002)
    assert [r["v"] for r in found] == pytest.approx([101, 100.6, 100.2, 99.8, 99.4, 99], rel=1e-3)


def test_repetitions_of_unknown_time_are_not_drawn_by_it() -> None:
    one = REPORT.series[0]
    timeless = tuple(replace(p, runs=tuple(replace(r, at=None) for r in p.runs)) for p in one.points)
    assert panel("runs-throughput", report=report_of(replace(one, points=timeless))).missing.startswith("Not measured")


def test_a_fault_is_drawn_from_when_it_began_with_the_ways_to_connect_together() -> None:
    slices = (Slice(-0.5, 2000, 3.0, 4.0, 0.0), Slice(0.5, 0, None, None, 2000.0))
    shown = [
        replace(REPORT.series[i], title=title, method="unary", timelines=(Timeline(closed(8), 3, slices, words),))
        for i, (title, words) in enumerate((("a.one", "reset"), ("reset.one", "reset"), ("reset.two", "reset")))
    ]
    report = report_of(*shown)
    choices = {key: panel(f"fault-{key}", report=report).choices for key in ("rate", "failed", "p99")}
    assert {tuple(of) for of in choices.values()} == {("a: reset", "reset")}
    assert [(r["s"], r["x"], r["v"]) for r in choices["failed"]["reset"]] == [
        (1, -0.5, 0.0), (1, 0.5, 2000.0), (2, -0.5, 0.0), (2, 0.5, 2000.0)
    ]  # fmt: skip
    ends = axes.ends(frame("fault-failed", report), report, choices["failed"]["reset"])
    assert (ends["x_min"], ends["x_max"]) == (-0.5, 0.5)
    assert panel("time-rate", report=report).missing
    assert not any(title.startswith("Within a window") for title, _ in plots.absent(report))


# Absent plots.


def test_what_nobody_has_says_so_and_what_it_takes() -> None:
    report = one((Point(closed(1), {THROUGHPUT: Value(1.0)}, 1),), distributions=())
    missing = {f.id: p.missing for plot in PLOTS for f in plots.frames(plot, report) for p in f.panels}
    assert missing.pop("throughput") == ""
    assert all(text.startswith("Not measured.") for text in missing.values())
    assert "control service" in missing["server-cpu"] and "10,000 calls" in missing["p99-9"]
    assert [f.id for _, frames in plots.plots(report) for f in frames] == ["throughput"]
    absent = dict(plots.absent(report))
    wanted = [key for key in missing if not key.startswith("fault-")]  # what nobody made to go wrong is not missed
    assert absent["Latency distribution"] == "the histograms of the result files" and len(absent) == len(wanted)


def test_one_mode_may_have_what_the_other_has_not() -> None:
    bare = replace(REPORT.series[4], points=(Point(closed(1), {THROUGHPUT: Value(1.0)}, 1),))
    report = report_of(REPORT.series[0], bare)
    assert panel("server-cpu", "unary", report).missing == ""
    assert panel("server-cpu", "streaming", report).missing != ""


def test_methods_in_the_usual_order() -> None:
    assert plots.methods(reversed(REPORT.series)) == ["unary", "streaming"]
    assert plots.methods([]) == []


# Axes.


def test_the_ideal_does_not_move_the_end_of_the_axis() -> None:
    drawn = frame("throughput")
    found = [r for p in drawn.panels for r in p.tables["points"]]
    highest = max(r["hi"] for r in found if r["hi"])
    assert max(r["v"] for r in drawn.panels[0].tables["ideal"]) > 3 * highest
    ends = axes.ends(drawn, REPORT, found)
    assert ends["y_min"] == 0 and ends["y_max"] == pytest.approx(highest * axes.MARGIN)


def test_a_logarithmic_axis_begins_below_the_lowest_figure() -> None:
    drawn = frame("p50")
    found = [r for p in drawn.panels for r in p.tables["points"]]
    lowest = min(r["lo"] or r["v"] for r in found)
    assert axes.ends(drawn, REPORT, found)["y_min"] == pytest.approx(lowest / axes.MARGIN)


def test_ends_without_figures_are_still_an_axis() -> None:
    for key in ("throughput", "p50", "tradeoff-p50", "distribution", "client-busy"):
        found = axes.ends(frame(key), REPORT, [])
        assert all(math.isfinite(v) for v in found.values()) and found["y_min"] < found["y_max"]
    zeros = [{"v": 0.0, "lo": None, "hi": None}]
    assert axes.ends(frame("client-busy"), REPORT, zeros)["y_max"] > 0


def test_the_in_flight_axis_is_marked_at_powers_of_two_and_at_its_end() -> None:
    x = specs.spec(frame("throughput"), REPORT, style.PAGE)["encoding"]["x"]
    assert axes.axes(frame("throughput"), REPORT)["x"]["ends"] == [1, 48]
    assert x["axis"]["values"] == [1, 2, 4, 8, 16, 32, 48]
    alone = one((Point(closed(8), {THROUGHPUT: Value(1.0)}, 1),))
    x = specs.spec(frame("throughput", alone), alone, style.PAGE)["encoding"]["x"]
    assert axes.axes(frame("throughput", alone), alone)["x"]["ends"] == [4, 16] and x["axis"]["values"] == [4, 8, 16]


def test_percentiles_are_named_where_they_are() -> None:
    axis = specs.spec(frame("distribution"), REPORT, style.PAGE)["encoding"]["x"]["axis"]
    assert axis["values"][:5] == pytest.approx([0, 0.30103, 1, 2, 3])
    assert "abs(datum.value - 3.0) < 0.001 ? '99.9'" in axis["labelExpr"]


def test_texts_of_results_are_in_no_specification() -> None:
    report = samples.hostile()
    for _, frames in plots.plots(report):
        for drawn in frames:
            assert samples.HOSTILE not in repr(specs.spec(drawn, report, style.PAGE))
