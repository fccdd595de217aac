"""The page in a real browser: it draws, the legend and the options act, and it asks nobody for anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from browser_tab import WIDE, Open, Tab, expected
from cqbench.formats.figures import THROUGHPUT
from cqbench.render.report import page

pytest_plugins = ["browser_tab"]


# Drawing.


@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_every_figure_has_a_mark_in_every_plot(open_tab: Open, name: str) -> None:
    tab = open_tab(name).ready()
    wanted = expected(getattr(samples, name)())
    assert len(wanted) == 52 and min(wanted.values()) > 0
    drawn = {p: tab.marks(p, "curves" if p.startswith("distribution") else "markers") for p in wanted}
    assert drawn == wanted
    assert tab.requests == [tab.page.url]


def test_an_open_loop_is_drawn_against_its_rates_and_over_time(open_tab: Open) -> None:
    tab = open_tab("open_rates").ready()
    wanted = expected(samples.open_rates())
    assert {p for p in wanted if p.endswith("unary-from-sent")} == {f"open-{p}-unary-from-sent" for p in (
        "p50", "p99", "p99-9"
    )}  # fmt: skip
    assert wanted["open-throughput-unary"] == 6 and not any("distribution" in p for p in wanted)
    assert {p: tab.marks(p, "curves" if p.startswith("time") else "markers") for p in wanted} == wanted
    counts = {n: tab.marks("open-throughput-unary", n) for n in ("saturated", "unreliable", "ideal_lines")}
    assert counts == {"saturated": 2, "unreliable": 0, "ideal_lines": 2}
    sides = [f"{method}-from-{side}" for method in ("unary", "streaming") for side in ("due", "sent")]
    assert len({tab.signal(f"open-p99-{side}", "y_max") for side in sides}) == 1
    assert tab.page.locator("#log2").count() == 0


def test_the_load_with_the_stall_is_shown_and_another_can_be_chosen(open_tab: Open) -> None:
    tab = open_tab("open_rates").ready()
    assert tab.page.locator("#choice-time").input_value() == "2000/s asked"
    rows = "panels.find((p) => p.id === 'time-rate-unary').view.data('points').map((r) => r.v)"
    assert tab.run(rows).count(0) == 2 * 5
    tab.page.locator("#choice-time").select_option("4000.5/s asked")
    tab.ready()
    assert tab.run(rows) == [4000.5] * 40


def test_marks_of_doubt_bands_ideal_and_fits(brief: Tab) -> None:
    tab = brief
    counts = {n: tab.marks("throughput-unary", n) for n in ("unreliable", "partial", "bands", "ideal_lines", "fitted")}
    assert tab.marks("throughput-unary", "saturated") == 1
    assert counts == {"unreliable": 2, "partial": 1, "bands": 4, "ideal_lines": 5, "fitted": 5}
    paths = "[...document.querySelectorAll('#panel-throughput-unary g.ideal_lines_marks path')]"
    assert tab.run(f"{paths}.every((e) => e.closest('[clip-path]'))")
    faint = [e.get_attribute("opacity") for e in tab.page.locator("#panel-throughput-unary g.fitted_marks path").all()]
    assert sorted(f or "1" for f in faint) == ["0.35", "1", "1", "1", "1"]
    dashes = [
        e.get_attribute("stroke-dasharray") for e in tab.page.locator("#panel-p50-unary g.curves_marks path").all()
    ]
    assert sorted(d or "" for d in dashes) == ["", "", "", "7,3", "7,3"]


def test_unary_and_streaming_have_one_scale(brief: Tab) -> None:
    tab = brief
    for frame in ("throughput", "p50", "queues", "distribution"):
        assert tab.signal(f"{frame}-unary", "y_max") == tab.signal(f"{frame}-streaming", "y_max")
    report = samples.usual()
    highest = max(p.values[THROUGHPUT].high or 0 for s in report.series for p in s.points)
    assert tab.signal("throughput-unary", "y_max") == pytest.approx(1.06 * highest, rel=1e-3)


def test_fifty_series_of_48_points_begin_with_what_can_be_seen(open_tab: Open, files: Callable[[str], Path]) -> None:
    assert files("large").stat().st_size < 8e6
    tab = open_tab("large", first="window.held = []; window.requestIdleCallback = (action) => held.push(action)")
    tab.wait("typeof panels === 'object' && panels.slice(0, 2).every((p) => p.view)", "the first plots")
    drawn = tab.run("panels.map((p) => Boolean(p.view))")
    assert len(drawn) == 52 and drawn.index(False) < 8, "what is not on the screen waits until the browser is idle"
    tab.run(
        "() => { window.requestIdleCallback = (action) => setTimeout(action); held.forEach((action) => action()); }"
    )
    tab.wait("panels.filter((p) => p.id.startsWith('throughput-')).every((p) => p.view)", "throughput")
    assert tab.marks("throughput-unary") == tab.marks("throughput-streaming") == 25 * 48
    assert not tab.page.get_by_text("the reason is in the tooltip").is_hidden()
    assert tab.page.locator(".legend").evaluate("(e) => e.getBoundingClientRect().height") <= WIDE["height"]


def test_the_first_screen_has_answer_machine_and_ratios(open_tab: Open) -> None:
    tab = open_tab(viewport={"width": 1400, "height": 1500}).ready()
    for selector in (".answer", ".facts", "#panel-ratio-unary svg", "#panel-ratio-streaming svg", ".card"):
        box = tab.page.locator(selector).first.bounding_box()
        assert box and box["y"] > 0
        assert box["y"] + (0 if selector == ".card" else box["height"]) < 1500, selector


def test_ratios_have_bars_and_lines_to_compare_with(brief: Tab) -> None:
    tab = brief
    assert tab.marks("ratio-unary") == tab.marks("ratio-unary", "curves") + 11 == 13
    assert tab.page.locator("#panel-ratio-unary g.bars_marks line").count() == 13
    assert tab.page.locator("#panel-ratio-unary g.mark-rule.role-mark line").count() == 15


def test_repetitions_are_dots_that_can_be_left_out(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    assert tab.marks("throughput-unary", "repetitions") == 7 * 6 * 3 + 6 * 6 + 7 * 2
    tab.page.get_by_label("repetitions as dots").uncheck()
    tab.ready()
    assert tab.marks("throughput-unary", "repetitions") == 0 and tab.marks("throughput-unary") == 34


def test_doubts_and_limits_have_marks_and_colours_of_their_own(brief: Tab) -> None:
    tab = brief
    assert tab.marks("throughput-unary", "unreliable") == 2 and tab.marks("throughput-unary", "saturated") == 1
    stroke = "(n) => getComputedStyle(document.querySelector(`#panel-throughput-unary g.${n}_marks path`)).stroke"
    assert [tab.run(stroke, name) for name in ("unreliable", "saturated")] == ["rgb(198, 40, 40)", "rgb(27, 27, 27)"]


def test_a_second_experiment_is_paler(open_tab: Open, tmp_path: Path) -> None:
    report = samples.brief()
    both = tuple(replace(s, run=i % 2) for i, s in enumerate(report.series))
    path = tmp_path / "both.html"
    path.write_text(page.render(replace(report, series=both, experiments=("A: a", "B: b"))), encoding="utf-8")
    tab = open_tab(path).ready()
    strokes = tab.run(
        "[...document.querySelectorAll('#panel-p50-unary g.curves_marks path')].map((e) => e.getAttribute('stroke'))"
    )
    assert strokes[:4] == ["var(--c0)", "var(--p0)", "var(--c1)", "var(--p1)"]
    tab.page.get_by_role("button", name="only B", exact=True).click()
    tab.ready()
    assert tab.marks("p50-unary", "curves") == 2


# The legend.


def test_hiding_a_series_hides_it_everywhere(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    before = {p: tab.marks(p) for p in ("throughput-unary", "tradeoff-p50-unary", "queues-unary", "p50-streaming")}
    tab.box(0).uncheck()
    tab.ready()
    after = {p: tab.marks(p) for p in before}
    assert [before[p] - after[p] for p in before] == [7, 7, 14, 0]
    assert tab.marks("distribution-unary", "curves") == 4 and tab.marks("throughput-unary", "ideal_lines") == 4
    assert tab.page.locator("#shown").inner_text() == "9 of 10 shown"


def test_the_axis_follows_what_is_shown(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    before = tab.signal("throughput-unary", "y_max")
    tab.page.get_by_role("button", name="none", exact=True).click()
    tab.box(3).check()
    tab.ready()
    highest = samples.usual().series[3].points[-1].values[THROUGHPUT].high
    after = tab.signal("throughput-streaming", "y_max")
    assert highest and after < before and after == pytest.approx(1.06 * highest, rel=1e-3)


def test_buttons_show_groups(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    shown = {}
    for name in ("none", "only shared", "only separate", "only pool:4", "all"):
        tab.page.get_by_role("button", name=name, exact=True).click()
        tab.ready()
        shown[name] = tab.marks("p50-unary"), tab.marks("p50-streaming")
    assert shown == {
        "none": (0, 0),
        "only shared": (21, 14),
        "only separate": (13, 14),
        "only pool:4": (0, 7),
        "all": (34, 35),
    }


def test_a_series_without_points_cannot_be_chosen(open_tab: Open) -> None:
    tab = open_tab()
    failed = tab.box(10)
    assert failed.is_disabled() and not failed.is_checked()


def test_pointing_at_a_series_makes_the_others_faint(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    tab.page.locator("label.series").nth(2).hover()
    curves = "[...document.querySelectorAll('#panel-throughput-unary g.curves_marks path')]"
    faint = f"{curves}.filter((e) => e.getAttribute('opacity') === '0.12').length"
    tab.wait(f"{faint} === 4", "four faint curves")
    tab.page.mouse.move(5, 5)
    tab.wait(f"{faint} === 0", "no faint curve")


# Options.


def test_the_choice_of_a_load_changes_the_distribution(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    assert tab.page.locator("#choice-distribution").input_value() == "48 in flight"
    before = tab.signal("distribution-unary", "y_max")
    tab.page.locator("#choice-distribution").select_option("4 in flight")
    tab.ready()
    (steps,) = [d.steps for d in samples.usual().series[0].distributions if d.load.number == 4]
    rows = tab.run("panels.find((p) => p.id === 'distribution-unary').view.data('points').filter((r) => r.s === 0)")
    assert [r["v"] for r in rows] == [v for _, v in steps]
    assert tab.signal("distribution-unary", "y_max") < before
    assert tab.marks("distribution-unary", "curves") == 5


def test_the_axis_can_be_linear(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    place = "panels[0].view.scale('x')"
    logarithmic = tab.run(f"[2, 4, 8].map({place})")
    assert logarithmic[1] - logarithmic[0] == pytest.approx(logarithmic[2] - logarithmic[1])
    tab.page.get_by_label("logarithmic in-flight axis").uncheck()
    tab.ready()
    linear = tab.run(f"[2, 4, 8].map({place})")
    assert linear[2] - linear[1] == pytest.approx(2 * (linear[1] - linear[0]))
    assert tab.run(f"{place}(0)") == 0 and tab.marks("throughput-unary") == 34


def test_fits_can_be_hidden(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    tab.page.get_by_label("fitted curves").uncheck()
    tab.ready()
    assert tab.marks("throughput-unary", "fitted") == 0 and tab.marks("throughput-unary", "ideal_lines") == 5


def test_the_theme_follows_the_system_and_the_switch(open_tab: Open) -> None:
    tab = open_tab("brief", color_scheme="dark").ready()
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    line = "getComputedStyle(document.querySelector('#panel-p50-unary g.curves_marks path')).stroke"
    seen = [(tab.run(ground), tab.run(line))]
    for theme in ("light", "dark"):
        tab.page.get_by_label("Colours").select_option(theme)
        seen.append((tab.run(ground), tab.run(line)))
    assert seen[0] == seen[2] == ("rgb(23, 24, 26)", "rgb(91, 181, 240)")
    assert seen[1] == ("rgb(255, 255, 255)", "rgb(0, 103, 165)")
