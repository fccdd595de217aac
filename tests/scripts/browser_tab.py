"""A report's page in a real browser: a tab that remembers what it complained of and what it asked for.

A module of tests says pytest_plugins = ["browser_tab"] to get open_tab().
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from cqbench.render.report import page, plots
from cqbench.render.report.model import Report
from playwright.sync_api import Browser, BrowserContext, Dialog, Locator, Page, Request, ViewportSize, sync_playwright
from tools import need

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE = 20_000  # milliseconds
READY = "typeof panels === 'object' && due.size === 0 && panels.every((p) => p.view)"
WIDE: ViewportSize = {"width": 1400, "height": 900}
CURVES = ("distribution", "time")  # shapes without markers


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = need("chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield found
        found.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a sample, written once."""
    folder = tmp_path_factory.mktemp("pages")

    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(page.render(getattr(samples, name)()), encoding="utf-8")
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
        self.page.on("dialog", self._asked)
        self.page.on("request", self._requested)
        self.page.goto(path.as_uri())

    def _asked(self, dialog: Dialog) -> None:
        self.complaints.append("dialog")
        dialog.dismiss()

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
        raise AssertionError(f"no success while waiting for {what}; {self.complaints}")

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

    def open_one(name: str = "usual", first: str = "", **options: Any) -> Tab:
        """first: a script that runs before those of the page."""
        context = browser.new_context(**{"viewport": WIDE, "accept_downloads": True, **options})
        contexts.append(context)
        if first:
            context.add_init_script(first)
        path = files(name) if isinstance(name, str) else name
        tabs.append((Tab(context, path), path))
        return tabs[-1][0]

    yield open_one
    for context in contexts:
        context.close()
    for tab, path in tabs:
        assert_quiet(tab, path)


def assert_quiet(tab: Tab, path: Path) -> None:
    assert tab.complaints == []
    assert {r for r in tab.requests if not r.startswith("blob:")} <= {path.as_uri()}


@pytest.fixture(scope="session")
def brief(browser: Browser, files: Callable[[str], Path]) -> Iterator[Tab]:
    """The drawn page of the sample `brief`, for all tests that only look at it."""
    with browser.new_context(viewport=WIDE) as context:
        yield (tab := Tab(context, files("brief")).ready())
        assert_quiet(tab, files("brief"))


def expected(report: Report) -> dict[str, int]:
    """Panel -> how many figures it has to show; curves, for the distribution."""
    found = {}
    for _, frames in plots.plots(report):
        for frame in frames:
            for panel in frame.panels:
                rows = panel.tables["points"]
                figures = [r for r in rows if r["v"] is not None]
                whole = {r["s"] for r in figures} if frame.shape in CURVES else figures
                if not panel.missing:
                    found[panel.id] = len(whole)
    return found
