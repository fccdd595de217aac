"""The page in a real browser: it draws, reacts, prints, and asks nobody for anything."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import report_samples as samples
from playwright.sync_api import Browser, BrowserContext, Download, Locator, Page, Request, sync_playwright

from cqbench import report_page
from cqbench import report_plots as plots
from cqbench.report_model import Report

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run"
).split()
PATIENCE = 20_000  # milliseconds
READY = "typeof panels === 'object' && due.size === 0 && panels.every((p) => p.view)"
WIDE = {"width": 1400, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = which("chromium")
    assert program, "chromium is missing: install the Debian package chromium (scripts/test.sh does)"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a sample, written once."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(report_page.render(getattr(samples, name)()), encoding="utf-8")
        return path

    return write


class Tab:
    """An open page with what it complained about and asked for."""

    def __init__(self, context: BrowserContext, path: Path) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", self._requested)
        self.page.goto(path.as_uri())

    def _requested(self, request: Request) -> None:
        self.requests.append(request.url)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.page.evaluate(script, *arguments)

    def wait(self, condition: str, what: str) -> None:
        """For a condition in JavaScript. Not wait_for_function(): it needs the eval() that the page forbids."""
        for _ in range(PATIENCE // 50):
            if self.run(f"Boolean({condition})"):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"waited in vain for {what}; {self.complaints}")

    def ready(self) -> Tab:
        """Once all that there is to draw is drawn."""
        self.wait(READY, "all plots")
        self.run("Promise.all(panels.map((p) => p.busy))")
        return self

    def box(self, series: int) -> Locator:
        return self.page.locator(f'input[data-series="{series}"]')

    def marks(self, panel: str, name: str = "markers") -> int:
        return self.page.locator(f"#panel-{panel} g.{name}_marks path").count()

    def signal(self, panel: str, name: str) -> Any:
        return self.run("([id, name]) => panels.find((p) => p.id === id).view.signal(name)", [panel, name])


Open = Callable[..., Tab]


@pytest.fixture
def open_tab(browser: Browser, files: Callable[[str], Path]) -> Iterator[Open]:
    """Opens a sample's page; at the end nobody must have complained, and nothing but the file been asked for."""
    tabs: list[tuple[Tab, Path]] = []
    contexts: list[BrowserContext] = []

    def open_one(name: str = "usual", **options: Any) -> Tab:
        context = browser.new_context(**{"viewport": WIDE, "accept_downloads": True, **options})
        contexts.append(context)
        path = files(name) if isinstance(name, str) else name
        tabs.append((Tab(context, path), path))
        return tabs[-1][0]

    yield open_one
    seen = [(tab.complaints, tab.requests, path) for tab, path in tabs]
    for context in contexts:
        context.close()
    for complaints, requests, path in seen:
        assert complaints == []
        assert {r for r in requests if not r.startswith("blob:")} <= {path.as_uri()}


def expected(report: Report) -> dict[str, int]:
    """Panel -> how many figures it has to show; curves, for the distribution."""
    found = {}
    for plot in plots.plots(report):
        for frame in plots.frames(plot, report):
            for panel in frame.panels:
                rows = panel.tables["points"]
                figures = [r for r in rows if r["v"] is not None]
                whole = {r["s"] for r in figures} if frame.shape in plots.CHOOSE else figures
                if not panel.missing:
                    found[panel.id] = len(whole)
    return found


# Drawing.


@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_every_figure_has_a_mark_in_every_plot(open_tab: Open, name: str) -> None:
    tab = open_tab(name).ready()
    wanted = expected(getattr(samples, name)())
    assert len(wanted) == 36 and min(wanted.values()) > 0
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
    counts = {n: tab.marks("open-throughput-unary", n) for n in ("limited", "suspect", "ideal_lines")}
    assert counts == {"limited": 2, "suspect": 0, "ideal_lines": 2}
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


def test_marks_of_doubt_bands_ideal_and_fits(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    counts = {n: tab.marks("throughput-unary", n) for n in ("suspect", "partial", "bands", "ideal_lines", "fitted")}
    assert tab.marks("throughput-unary", "limited") == 1
    assert counts == {"suspect": 2, "partial": 1, "bands": 4, "ideal_lines": 5, "fitted": 5}
    paths = "[...document.querySelectorAll('#panel-throughput-unary g.ideal_lines_marks path')]"
    assert tab.run(f"{paths}.every((e) => e.closest('[clip-path]'))")
    faint = [e.get_attribute("opacity") for e in tab.page.locator("#panel-throughput-unary g.fitted_marks path").all()]
    assert sorted(f or "1" for f in faint) == ["0.35", "1", "1", "1", "1"]
    dashes = [
        e.get_attribute("stroke-dasharray") for e in tab.page.locator("#panel-p50-unary g.curves_marks path").all()
    ]
    assert sorted(d or "" for d in dashes) == ["", "", "", "7,3", "7,3"]


def test_unary_and_streaming_have_one_scale(open_tab: Open) -> None:
    tab = open_tab("brief").ready()
    for frame in ("throughput", "p50", "queues", "distribution"):
        assert tab.signal(f"{frame}-unary", "y_max") == tab.signal(f"{frame}-streaming", "y_max")
    report = samples.usual()
    highest = max(p.values["throughput"].high or 0 for s in report.series for p in s.points)
    assert tab.signal("throughput-unary", "y_max") == pytest.approx(1.06 * highest, rel=1e-3)


def test_fifty_series_of_48_points_begin_with_what_can_be_seen(open_tab: Open, files: Callable[[str], Path]) -> None:
    size = files("large").stat().st_size
    tab = open_tab("large")
    tab.wait("typeof panels === 'object' && panels.slice(0, 2).every((p) => p.view)", "the first plots")
    drawn, seconds = tab.run("[panels.map((p) => Boolean(p.view)), performance.now() / 1000]")
    print(f"\n50 series x 48 points: {size / 1e6:.2f} MB, first plots within {seconds:.2f} s")
    assert size < 8e6
    assert len(drawn) == 36 and drawn.index(False) < 8
    assert tab.marks("throughput-unary") == tab.marks("throughput-streaming") == 25 * 48
    assert not tab.page.get_by_text("the reason is in the tooltip").is_hidden()
    assert tab.page.locator(".legend").evaluate("(e) => e.getBoundingClientRect().height") <= WIDE["height"]


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
    highest = samples.usual().series[3].points[-1].values["throughput"].high
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
    assert tab.page.get_by_label("Load", exact=True).input_value() == "48 in flight"
    before = tab.signal("distribution-unary", "y_max")
    tab.page.get_by_label("Load", exact=True).select_option("4 in flight")
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


# Tooltips, copying, downloads.


def point_at(tab: Tab, panel: str, series: int, inflight: int) -> None:
    """Moves the mouse to a place beside the mark."""
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
    value = samples.usual().series[1].points[-1].values["throughput"]
    assert tab.page.locator(".tip").inner_text().split("\n") == [
        "sync, separate",
        "48 in flight, unary, 6 repetitions",
        f"Throughput {value.middle:,.0f} calls/s ({value.low:,.0f}–{value.high:,.0f})",
        f"suspect: {samples.SUSPECT}",
        "suspect: not warmed up",
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
    first = samples.usual().series[0].points[0].values["p99"]
    assert name == "cqbench.csv" and len(rows) == 69
    assert (float(rows[0]["p99"]), float(rows[0]["p99_low"])) == (first.middle, first.low)


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
    assert "NOT the bottleneck" in tab.page.locator("article").first.inner_text()
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
    assert drawn[0] < 36 and drawn[1] == 36


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
    assert shown == len(expected(samples.brief())) == 10
    assert (
        tab.run(
            "[...document.querySelectorAll('button, .tip, #theme, details.table')].some((e) => e.checkVisibility())"
        )
        is False
    )
    assert tab.page.locator("details.commands pre").first.is_visible()
    assert tab.run("[...document.querySelectorAll('.frame')].every((e) => getComputedStyle(e).breakInside === 'avoid')")
    assert tab.run("document.documentElement.scrollWidth") <= 680
    widths = tab.run("panels.map((p) => p.element.querySelector('svg').width.baseVal.value)")
    assert min(widths) == max(widths) < 340


def test_a_report_of_nothing_opens(open_tab: Open, tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    path.write_text(report_page.render(replace(samples.usual(), series=(), findings=(), data={})), encoding="utf-8")
    tab = open_tab(path)
    tab.wait("document.getElementById('shown').textContent === '0 of 0 shown'", "the legend")
