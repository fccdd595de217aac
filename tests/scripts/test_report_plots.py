"""What is drawn: the look of series, the rows behind the plots, the ends of the axes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import report_samples as samples

from cqbench import report_plots as plots
from cqbench import report_specs as specs
from cqbench import report_style as style
from cqbench.offered import closed
from cqbench.report_model import Point, Report, Series, Value
from cqbench.report_plots import Frame, Panel

REPORT = samples.usual()


def frame(key: str, report: Report = REPORT) -> Frame:
    (found,) = [f for plot in plots.PLOTS for f in plots.frames(plot, report) if f.id == key]
    return found


def panel(key: str, method: str = "unary", report: Report = REPORT) -> Panel:
    (found,) = [p for p in frame(key, report).panels if p.method == method]
    return found


def report_of(*series: Series) -> Report:
    return replace(REPORT, series=series)


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
    rows = [r for r in panel("throughput").tables["points"] if r["s"] == 1]
    points = REPORT.series[1].points
    assert [r["n"] for r in rows] == [p.load.number for p in points] == [1, 4, 8, 16, 32, 48]
    assert [r["v"] for r in rows] == [p.values["throughput"].middle for p in points]
    assert [(r["lo"], r["hi"]) for r in rows] == [
        (p.values["throughput"].low, p.values["throughput"].high) for p in points
    ]
    assert [r["m"] for r in rows] == [0, plots.LIMITED, 0, plots.SUSPECT, 0, plots.SUSPECT + plots.PARTIAL]


def test_numbers_of_points_lead_to_the_points() -> None:
    points = [(i, p.load.number) for i, s in enumerate(REPORT.series) for p in s.points]
    for row in panel("p99", "streaming").tables["points"]:
        assert points[row["p"]] == (row["s"], row["n"])


def test_without_an_interval_there_is_none() -> None:
    rows = [r for r in panel("throughput").tables["points"] if r["s"] == 8]
    assert REPORT.series[8].api == "callback" and rows
    assert {(r["lo"], r["hi"]) for r in rows} == {(None, None)}


def test_a_figure_that_is_absent_leaves_a_gap() -> None:
    rows = {r["n"]: r["v"] for r in panel("p99-9").tables["points"] if r["s"] == 1}
    assert rows[8] is None and rows[4] is not None and rows[16] is not None


def test_a_series_without_the_metric_has_no_rows() -> None:
    assert {r["s"] for r in panel("server-cpu").tables["points"]} == {0, 1, 2, 3}
    assert {r["s"] for r in panel("client-cpu").tables["points"]} == {0, 1, 2, 3, 8}


def test_a_logarithmic_axis_gets_no_zero() -> None:
    values = {1: Value(0.0, 0.0, 1.0), 2: Value(5.0, 0.0, 9.0)}
    report = one(tuple(Point(closed(n), {"p50": value}, 6) for n, value in values.items()))
    rows = panel("p50", report=report).tables["points"]
    assert [(r["v"], r["lo"]) for r in rows] == [(None, None), (5.0, None)]
    linear = one((Point(closed(1), {"client_cpu": Value(0.0, 0.0, 1.0)}, 6),))
    assert panel("client-cpu", report=linear).tables["points"][0]["v"] == 0.0


def test_latency_against_throughput_needs_both() -> None:
    figures = ({"throughput": Value(10.0), "p50": Value(3.0)}, {"throughput": Value(10.0)}, {"p50": Value(3.0)})
    report = one(tuple(Point(closed(n), dict(f), 1) for n, f in enumerate(figures, 1)))
    (row,) = panel("tradeoff-p50", report=report).tables["points"]
    assert (row["n"], row["x"], row["v"]) == (1, 10.0, 3.0)


def test_completion_queues_have_two_curves() -> None:
    rows = [r for r in panel("queues").tables["points"] if r["s"] == 0 and r["n"] == 16]
    assert [(r["k"], r["v"]) for r in rows] == [(0, 116), (1, 84)]


def test_the_ideal_is_a_straight_line_through_the_rate_at_1() -> None:
    rows = [r for r in panel("throughput").tables["ideal"] if r["s"] == 0]
    rate = REPORT.series[0].ideal_rate
    assert rate and rows[0] == {"s": 0, "n": 1.0, "v": rate} and rows[-1]["n"] == pytest.approx(48)
    assert all(r["v"] == pytest.approx(rate * r["n"]) for r in rows)
    nothing = one(REPORT.series[0].points, ideal_rate=None)
    assert panel("throughput", report=nothing).tables["ideal"] == []


def test_poor_fits_are_marked() -> None:
    poor = {r["s"]: r["poor"] for r in panel("throughput").tables["fits"]}
    assert poor == {0: False, 1: True, 2: False, 3: False, 8: False}


# Distributions.


def test_percentiles_are_placed_by_the_calls_that_are_left() -> None:
    rows = [r for r in panel("distribution").choices[closed(16)] if r["s"] == 0]
    steps = REPORT.series[0].distributions[4]
    assert steps.load == closed(16) and len(rows) == len(steps.steps)
    for row, (share, micros) in zip(rows, steps.steps, strict=True):
        assert 1 - 10 ** -row["x"] == pytest.approx(share, abs=2e-3) and row["v"] == micros and row["c"] == steps.calls


def test_thinning_keeps_both_ends_and_the_order() -> None:
    steps = [(k / 100, float(k)) for k in range(500)]
    kept = plots.thin(steps, 72)
    assert 60 <= len(kept) <= 72 and kept == sorted(kept) and set(kept) <= set(steps)
    assert (kept[0], kept[-1]) == (steps[0], steps[-1])
    assert max(b[0] - a[0] for a, b in zip(kept, kept[1:], strict=False)) < 0.16
    assert plots.thin(steps[:72], 72) == steps[:72]
    assert plots.thin([(1.0, 1.0)] * 100, 72) == [(1.0, 1.0)]


def test_the_distribution_shown_first_is_the_highest_that_most_have() -> None:
    few = replace(REPORT.series[0], distributions=tuple(samples.distribution(n, 1e5) for n in (4, 8, 96)))
    many = replace(few, distributions=few.distributions[:2])
    (plot,) = [p for p in plots.PLOTS if p.key == "distribution"]
    assert plots.default_load(plot, report_of(few, many)) == closed(8)
    assert plots.choices(plot, report_of(few, many)) == [closed(4), closed(8), closed(96)]
    assert plots.default_load(plot, report_of()) is None


# What there is not.


def test_what_nobody_has_says_so_and_what_it_takes() -> None:
    report = one((Point(closed(1), {"throughput": Value(1.0)}, 1),), distributions=())
    missing = {f.id: p.missing for plot in plots.PLOTS for f in plots.frames(plot, report) for p in f.panels}
    assert missing.pop("throughput") == ""
    assert all(text.startswith("Not measured.") for text in missing.values())
    assert "control service" in missing["server-cpu"] and "10,000 calls" in missing["p99-9"]


def test_one_mode_may_have_what_the_other_has_not() -> None:
    bare = replace(REPORT.series[4], points=(Point(closed(1), {"throughput": Value(1.0)}, 1),))
    report = report_of(REPORT.series[0], bare)
    assert panel("server-cpu", "unary", report).missing == ""
    assert panel("server-cpu", "streaming", report).missing != ""


def test_methods_in_the_usual_order() -> None:
    assert plots.methods(reversed(REPORT.series)) == ["unary", "streaming"]
    assert plots.methods([]) == []


# Axes.


def test_the_ideal_does_not_move_the_end_of_the_axis() -> None:
    drawn = frame("throughput")
    rows = [r for p in drawn.panels for r in p.tables["points"]]
    highest = max(r["hi"] for r in rows if r["hi"])
    assert max(r["v"] for r in drawn.panels[0].tables["ideal"]) > 3 * highest
    assert specs.ends(drawn, rows) == {"y_min": 0, "y_max": pytest.approx(highest * specs.MARGIN)}


def test_a_logarithmic_axis_begins_below_the_lowest_figure() -> None:
    drawn = frame("p50")
    rows = [r for p in drawn.panels for r in p.tables["points"]]
    lowest = min(r["lo"] or r["v"] for r in rows)
    assert specs.ends(drawn, rows)["y_min"] == pytest.approx(lowest / specs.MARGIN)


def test_ends_without_figures_are_still_an_axis() -> None:
    for key in ("throughput", "p50", "tradeoff-p50", "distribution", "client-busy"):
        found = specs.ends(frame(key), [])
        assert all(math.isfinite(v) for v in found.values()) and found["y_min"] < found["y_max"]
    zeros = [{"v": 0.0, "lo": None, "hi": None}]
    assert specs.ends(frame("client-busy"), zeros)["y_max"] > 0


def test_the_in_flight_axis_is_marked_at_powers_of_two_and_at_its_end() -> None:
    x = specs.spec(frame("throughput"), REPORT, style.PAGE)["encoding"]["x"]
    assert x["scale"]["domain"] == [1, 48] and x["axis"]["values"] == [1, 2, 4, 8, 16, 32, 48]
    alone = one((Point(closed(8), {"throughput": Value(1.0)}, 1),))
    x = specs.spec(frame("throughput", alone), alone, style.PAGE)["encoding"]["x"]
    assert x["scale"]["domain"] == [4, 16] and x["axis"]["values"] == [4, 8, 16]


def test_percentiles_are_named_where_they_are() -> None:
    axis = specs.spec(frame("distribution"), REPORT, style.PAGE)["encoding"]["x"]["axis"]
    assert axis["values"][:5] == pytest.approx([0, 0.30103, 1, 2, 3])
    assert "abs(datum.value - 3.0) < 0.001 ? '99.9'" in axis["labelExpr"]


def test_texts_of_results_are_in_no_specification() -> None:
    report = samples.hostile()
    for plot in plots.plots(report):
        for drawn in plots.frames(plot, report):
            assert samples.HOSTILE not in repr(specs.spec(drawn, report, style.PAGE))
