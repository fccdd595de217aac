"""The page in a real browser: tooltips, zoom, the address, images, downloads, keyboard, paper."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
import report_samples as samples
from browser_tab import Open, Tab, expected
from cqbench.formats.figures import THROUGHPUT
from cqbench.model.figures import P99
from cqbench.render.report import page
from playwright.sync_api import Download

pytest_plugins = ["browser_tab"]


# Tooltips.


def point_at(tab: Tab, panel: str, series: int, inflight: int) -> None:
    """Moves the mouse to a place next to the mark."""
    tab.page.locator(f"#panel-{panel}").scroll_into_view_if_needed()
    tab.page.wait_for_timeout(100)  # scrolling hides the tooltip, and the browser tells of it later
    place = tab.run(
        """([id, s, n]) => {
            const panel = panels.find((p) => p.id === id);
            const row = rowsOf(panel).find((r) => r.s === s && r.n === n);
            const [x, y] = zero(panel);
            return [x + panel.view.scale("x")(n), y + panel.view.scale("y")(row.v)];
        }""",
        [panel, series, inflight],
    )
    tab.page.mouse.move(place[0] + 2, place[1] + 1)


def test_the_tooltip_has_the_exact_figures(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    point_at(tab, "throughput-unary", 1, 48)
    value = samples.usual().series[1].points[-1].values[THROUGHPUT]
    assert tab.page.locator(".tip").inner_text().split("\n") == [
        "sync, separate",
        "48 in flight, unary, 6 repetitions",
        f"Throughput {value.middle:,.0f} calls/s ({value.low:,.0f}–{value.high:,.0f})",
        f"warning: {samples.BUSY}",
        "warning: not warmed up",
        "cut short",
    ]
    tab.page.keyboard.press("Escape")
    assert not tab.page.locator(".tip").is_visible()


def test_the_ring_is_on_the_mark(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    point_at(tab, "p50-unary", 0, 48)
    box = tab.page.locator(".ring").bounding_box()
    last = tab.run(
        """() => { const all = [...document.querySelectorAll('#panel-p50-unary g.markers_marks path')];
            const boxes = all.map((e) => e.getBoundingClientRect());
            return boxes.map((b) => [b.x + b.width / 2, b.y + b.height / 2]); }"""
    )
    assert box
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert min((x - middle[0]) ** 2 + (y - middle[1]) ** 2 for x, y in last) < 1


def test_far_from_all_points_there_is_no_tooltip(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    point_at(tab, "throughput-unary", 0, 48)
    assert tab.page.locator(".tip").is_visible()
    box = tab.page.locator("#panel-throughput-unary").bounding_box()
    assert box
    tab.page.mouse.move(box["x"] + 80, box["y"] + 50)
    assert not tab.page.locator(".tip").is_visible()


def test_a_line_is_at_the_same_load_in_all_plots(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    point_at(tab, "throughput-unary", 0, 8)
    lines = """() => panels.filter((p) => p.line && !p.line.hidden).map((p) => {
        const box = p.line.getBoundingClientRect();
        return [p.id, Math.round(p.view.scale("x").invert(box.x - zero(p)[0]) * 100) / 100]; })"""
    found = dict(tab.run(lines))
    assert {"throughput-unary", "throughput-streaming"} <= set(found) and not any("tradeoff" in p for p in found)
    assert set(found.values()) == {8}
    tab.page.keyboard.press("Escape")
    assert tab.run(lines) == []


# Zoom, the address, images.


def zoom(tab: Tab, panel: str) -> None:
    """By a rectangle from 30 % to 70 % of the width, 20 % to 80 % of the height."""
    tab.page.locator(f"#panel-{panel}").scroll_into_view_if_needed()
    tab.page.wait_for_timeout(100)
    corners = tab.run(
        """(id) => { const p = panels.find((p) => p.id === id); const [x, y] = zero(p);
            const [w, h] = [p.view.width(), p.view.height()];
            return [x + 0.3 * w, y + 0.2 * h, x + 0.7 * w, y + 0.8 * h]; }""",
        panel,
    )
    tab.page.mouse.move(*corners[:2])
    tab.page.mouse.down()
    tab.page.mouse.move(*corners[2:], steps=4)
    tab.page.mouse.up()
    tab.ready()


def ends(tab: Tab, panel: str) -> list[float]:
    return [tab.signal(panel, name) for name in ("x_min", "x_max", "y_min", "y_max")]


def test_dragging_zooms_all_panels_of_a_plot_and_a_double_click_brings_it_back(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    whole = ends(tab, "throughput-unary")
    zoom(tab, "throughput-unary")
    part = ends(tab, "throughput-unary")
    assert part[:2] == pytest.approx([48**0.3, 48**0.7], rel=0.03) and 0 < part[2] < part[3] < whole[3]
    assert ends(tab, "throughput-streaming") == part and ends(tab, "p50-unary")[:2] == whole[:2]
    assert tab.page.get_by_role("button", name="reset zoom").count() == 2
    tab.page.locator("#panel-throughput-streaming").dblclick()
    tab.ready()
    assert ends(tab, "throughput-unary") == whole and tab.page.get_by_role("button", name="reset zoom").count() == 0


def test_the_wheel_zooms_with_control_and_scrolls_without(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    whole = ends(tab, "throughput-unary")
    point_at(tab, "throughput-unary", 0, 8)
    tab.page.mouse.wheel(0, -1)
    tab.ready()
    assert ends(tab, "throughput-unary") == whole
    point_at(tab, "throughput-unary", 0, 8)
    tab.page.keyboard.down("Control")
    tab.page.mouse.wheel(0, -100)
    tab.page.keyboard.up("Control")
    tab.ready()
    assert whole[0] < ends(tab, "throughput-unary")[0] < 8 < ends(tab, "throughput-unary")[1] < whole[1]


def menu(tab: Tab, panel: str, item: str) -> None:
    tab.page.locator(f"figure:has(#panel-{panel}) details.menu summary").click()
    tab.page.locator(f"figure:has(#panel-{panel})").get_by_role("button", name=item).click()


def test_a_value_axis_can_be_logarithmic_and_back(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    kind = "panels.find((p) => p.id === 'throughput-streaming').view.scale('y').type"
    menu(tab, "throughput-unary", "logarithmic axis")
    tab.ready()
    assert tab.run(kind) == "log" and tab.signal("throughput-unary", "y_min") > 0
    menu(tab, "throughput-unary", "linear axis")
    tab.ready()
    assert tab.run(kind) == "linear"


def test_what_is_seen_travels_in_the_address(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    tab.box(0).uncheck()
    tab.page.get_by_label("logarithmic in-flight axis").uncheck()
    tab.page.get_by_label("fitted curves").uncheck()
    tab.page.locator("#choice-distribution").select_option("4 in flight")
    tab.page.get_by_label("Colours").select_option("dark")
    menu(tab, "p50-unary", "linear axis")
    zoom(tab, "throughput-unary")
    part, address = ends(tab, "throughput-unary"), tab.page.url
    tab.page.goto("about:blank")
    tab.page.goto(address)
    tab.ready()
    assert ends(tab, "throughput-unary") == part and tab.signal("throughput-unary", "hidden") == {"0": True}
    assert not tab.box(0).is_checked() and tab.page.locator("#choice-distribution").input_value() == "4 in flight"
    assert not tab.page.get_by_label("logarithmic in-flight axis").is_checked()
    assert tab.run("[state.fits, state.linear, state.flipped, state.theme]") == [False, True, {"p50": True}, "dark"]
    assert tab.page.url == address
    tab.requests[:] = tab.requests[:1]


def test_an_address_that_means_nothing_does_no_harm(open_tab: Open) -> None:
    tab = open_tab("brief")
    tab.run("location.hash = 'hide=none,&zoom=throughput:a:b:c:d,p50:9:1:2:3&x=odd&distribution=7&theme=<b>&runs='")
    tab.ready()
    assert tab.run("[state.hidden, state.zoom, state.linear, state.theme]") == [{}, {}, False, ""]
    assert tab.page.locator("#choice-distribution").input_value() == "48 in flight"


@pytest.mark.parametrize("kind", ["PNG", "SVG"])
def test_a_plot_can_be_saved_as_an_image(open_tab: Open, kind: str) -> None:
    tab = open_tab("brief", color_scheme="dark").ready()
    with tab.page.expect_download() as waiting:
        menu(tab, "throughput-unary", f"save as {kind}")
    found = Path(waiting.value.path()).read_bytes()
    assert waiting.value.suggested_filename == f"throughput-unary.{kind.lower()}"
    if kind == "PNG":
        assert found[:8] == b"\x89PNG\r\n\x1a\n"
    else:
        text = found.decode()
        assert "Throughput against calls in flight, unary" in text and "sync, separate" in text
        assert "var(--" not in text and "#17181a" in text


def test_a_plot_that_fails_says_so_and_can_be_drawn_again(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    tab.run("() => { window.real = vegaEmbed; vegaEmbed = () => Promise.reject(new Error('no memory')); }")
    tab.page.get_by_label("logarithmic in-flight axis").uncheck()
    tab.wait("panels.find((p) => p.id === 'throughput-unary').failed", "a plot that fails")
    tab.run("() => { vegaEmbed = real; }")
    panel = tab.page.locator("#panel-throughput-unary")
    assert "This plot could not be drawn: no memory" in panel.inner_text()
    panel.get_by_role("button", name="draw again").click()
    tab.wait("panels.find((p) => p.id === 'throughput-unary').view", "the plot")
    assert tab.marks("throughput-unary") == 34


# Copying, downloads.


def test_copying_a_command(open_tab: Open) -> None:
    tab = open_tab(permissions=["clipboard-read", "clipboard-write"])
    tab.page.locator("details.commands").first.evaluate("(e) => { e.open = true; }")
    button = tab.page.get_by_role("button", name="Copy the client command of sync, shared, unary")
    button.click()
    tab.wait("document.getElementById('status').textContent", "a word about it")
    assert tab.run("navigator.clipboard.readText()") == samples.usual().series[0].client_command
    assert button.inner_text() == "copied"


def test_where_copying_is_refused_the_command_is_selected(open_tab: Open) -> None:
    tab = open_tab()
    tab.run("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    tab.page.locator("details.commands").first.evaluate("(e) => { e.open = true; }")
    tab.page.get_by_role("button", name="Copy the server command of sync, shared, unary").click()
    tab.wait("document.getElementById('status').textContent.includes('selected')", "a word about it")
    assert tab.run("getSelection().toString().trim()") == samples.usual().series[0].server_command


def downloaded(tab: Tab, button: str) -> tuple[str, str]:
    with tab.page.expect_download() as waiting:
        tab.page.get_by_role("button", name=button).click()
    file: Download = waiting.value
    return file.suggested_filename, Path(file.path()).read_text(encoding="utf-8")


def test_downloads_have_the_figures(open_tab: Open) -> None:
    tab = open_tab()
    name, text = downloaded(tab, "all data, JSON")
    assert name == "cqbench.json" and json.loads(text) == samples.usual().data
    name, text = downloaded(tab, "points, CSV")
    rows = list(csv.DictReader(io.StringIO(text)))
    first = samples.usual().series[0].points[0].values[P99]
    assert name == "cqbench.csv" and len(rows) == 69
    assert (float(rows[0][P99]), float(rows[0][f"{P99}_low"])) == (first.middle, first.low)


# Access and paper.


def test_the_tab_key_reaches_every_control(open_tab: Open) -> None:
    tab = open_tab("brief")
    controls = "[...document.querySelectorAll('button, select, input, summary')]"
    wanted = tab.run(f"{controls}.filter((e) => !e.disabled && e.checkVisibility()).length")
    seen = set()
    for _ in range(2 * wanted + 40):
        tab.page.keyboard.press("Tab")
        focus = "document.activeElement"
        place = tab.run(f"{controls}.indexOf({focus})")
        if place >= 0 and place not in seen:
            seen.add(place)
            assert tab.run(f"getComputedStyle({focus}).outlineStyle") != "none"
    assert len(seen) == wanted > 20
    box = tab.box(0)
    box.focus()
    tab.page.keyboard.press("Space")
    assert not box.is_checked()


@pytest.mark.parametrize("name", ["brief", "hostile"])
def test_a_phone_needs_no_sideways_scrolling(open_tab: Open, name: str) -> None:
    tab = open_tab(name, viewport={"width": 360, "height": 700}).ready()
    tab.page.get_by_role("button", name="open all tables").click()
    tab.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    assert tab.run("document.documentElement.scrollWidth") == 360
    widths = tab.run("[...document.querySelectorAll('.panel svg')].map((e) => e.getBoundingClientRect().right)")
    assert len(widths) == len(expected(getattr(samples, name)())) and max(widths) <= 360


def test_without_javascript_verdict_and_tables_can_be_read(open_tab: Open) -> None:
    tab = open_tab(java_script_enabled=False)
    assert "The plots need JavaScript" in tab.page.locator("noscript").inner_text()
    assert "0.80 (0.76–0.84)" in tab.page.locator("article").first.inner_text()
    assert tab.page.locator(".answer").inner_text() == "NO: separate connections are slower at 48 in flight"
    tab.page.locator("#table-unary-sync-shared summary").click()
    assert tab.page.locator("#table-unary-sync-shared tbody tr").count() == 7
    assert not tab.page.locator(".legend").is_visible() and not tab.page.locator("select").first.is_visible()


def test_before_printing_all_plots_are_there(open_tab: Open) -> None:
    """The browser waits for no timer then: what is not drawn when the event's handlers are done is not printed."""
    tab = open_tab()
    tab.wait("typeof panels === 'object' && panels.some((p) => p.view)", "the first plot")
    drawn = tab.run(
        """() => { const before = panels.filter((p) => p.view).length; dispatchEvent(new Event("beforeprint"));
            return new Promise((done) => { const channel = new MessageChannel();
                channel.port1.onmessage = () => done([before, panels.filter((p) => p.view).length]);
                channel.port2.postMessage(0); }); }"""
    )
    assert drawn[0] < 52 and drawn[1] == 52


def test_on_paper(open_tab: Open) -> None:
    tab = open_tab("brief", color_scheme="dark").ready()
    size = "(({ width, height }) => [width, height])(panels[0].element.querySelector('svg').getBoundingClientRect())"
    screen = tab.run(size)
    assert tab.page.pdf(format="A4")[:5] == b"%PDF-"
    tab.ready()
    assert tab.run(size) == pytest.approx(screen, abs=1)
    tab.page.emulate_media(media="print")
    tab.page.set_viewport_size({"width": 680, "height": 960})
    tab.run("dispatchEvent(new Event('beforeprint'))")
    assert tab.run("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    shown = tab.run(
        "panels.filter((p) => p.element.checkVisibility() && p.element.querySelector('g.mark-line path')).length"
    )
    assert shown == len(expected(samples.brief())) == 24
    gone = "button:not([data-toggle]), .tip, #theme, details.table, details.menu"
    assert tab.run("(s) => [...document.querySelectorAll(s)].some((e) => e.checkVisibility())", gone) is False
    assert tab.page.locator("details.commands pre").first.is_visible()
    assert tab.run("[...document.querySelectorAll('.frame')].every((e) => getComputedStyle(e).breakInside === 'avoid')")
    assert tab.run("document.documentElement.scrollWidth") <= 680
    widths = tab.run("panels.map((p) => p.element.querySelector('svg').width.baseVal.value)")
    assert min(widths) == max(widths) < 340


def test_a_report_of_nothing_opens(open_tab: Open, tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    path.write_text(
        page.render(replace(samples.usual(), series=(), verdicts=(), against=(), data={})), encoding="utf-8"
    )
    tab = open_tab(path)
    tab.wait("document.getElementById('shown').textContent === '0 of 0 shown'", "the legend")
