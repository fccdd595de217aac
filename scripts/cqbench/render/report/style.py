"""How a series looks: colour by API and setting, line and marker by sharing. Both are legible in grey and to the
colour-blind: what matters most (shared or separate) never depends on colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cqbench.render.report.model import Series

# On white and on the page's dark ground; each at least 4.5:1 there, told apart with the usual colour deficiencies.
COLOURS = (
    ("#0067a5", "#5bb5f0"),  # blue
    ("#b84a00", "#ff9e5e"),  # vermilion
    ("#00795a", "#45c9a0"),  # green
    ("#8e3b8b", "#d98bd6"),  # purple
    ("#806400", "#dcbc3c"),  # ochre
    ("#a3123a", "#ff7c96"),  # crimson
    ("#00748a", "#54cfe0"),  # cyan
    ("#4d5b66", "#aebac4"),  # slate
)
INK, SOFT, GRID, PAPER = ("#1b1b1b", "#ebe8e3"), ("#595959", "#a9a6a0"), ("#e4e2de", "#35373a"), ("#ffffff", "#17181a")
WARNING = ("#c62828", "#ff8a80")
PALER = 0.55  # of a further run's colour in the ground's: the same hue, told from the first
APIS = ("sync", "cq", "callback")


@dataclass(frozen=True)
class Theme:
    """Colours as a drawing names them: CSS variables on the page, which follow its light and dark; hex in figures."""

    ink: str
    soft: str
    grid: str
    paper: str
    warning: str
    colours: tuple[str, ...]
    pale: tuple[str, ...]


def _mixed(colour: str) -> str:
    """With white, as CSS's color-mix() does on the page."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(PALER * part + (1 - PALER) * 255):02x}" for part in parts)


PAGE = Theme(
    "var(--ink)", "var(--soft)", "var(--grid)", "var(--paper)", "var(--warning)",
    *(tuple(f"var(--{kind}{i})" for i in range(len(COLOURS))) for kind in ("c", "p")),
)  # fmt: skip
PRINT = Theme(
    INK[0], SOFT[0], GRID[0], PAPER[0], WARNING[0],
    *(tuple(of(light) for light, _ in COLOURS) for of in (str, _mixed)),
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """shape: a Vega symbol. path: the same within 5 units of (0, 0), for the legend. hollow: filled with the ground."""

    dash: tuple[int, ...]
    shape: str
    path: str
    hollow: bool


CIRCLE = "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z"
SHARED = Line((), "circle", CIRCLE, False)
SEPARATE = Line((7, 3), "square", "M-3.5,-3.5h7v7h-7Z", True)
SCALING = Line((12, 3, 1, 3, 1, 3), "triangle-right", "M4.5,0L-3.5,4.5V-4.5Z", False)
POOLS = (
    Line((2, 2), "triangle-up", "M0,-4.5L4.5,3.5H-4.5Z", False),
    Line((9, 3, 2, 3), "diamond", "M0,-5L4,0L0,5L-4,0Z", True),
    Line((5, 2, 1, 2, 1, 2), "triangle-down", "M0,4.5L4.5,-3.5H-4.5Z", True),
    Line((3, 1), "cross", "M-1.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z", False),
)


@dataclass(frozen=True)
class Look:
    """A series' colour (an index into Theme.colours, or where it is paler into Theme.pale) and line."""

    colour: int
    line: Line
    pale: bool = False

    def of(self, theme: Theme) -> str:
        return (theme.pale if self.pale else theme.colours)[self.colour]


def looks(series: Sequence[Series]) -> list[Look]:
    """In the order of the series. With more kinds of series than colours, colours come again."""
    groups = _groups(series)
    lines = _lines(dict.fromkeys(s.sharing for s in series))
    return [Look(groups[(s.api, s.setting)] % len(COLOURS), lines[s.sharing], s.run > 0) for s in series]


def repeats(series: Sequence[Series]) -> bool:
    """True if two kinds of series have the same colour."""
    return len(set(_groups(series).values())) > len(COLOURS)


def _groups(series: Sequence[Series]) -> dict[tuple[str, str], int]:
    """An API keeps its colour from report to report as long as nothing but the API and sharing varies."""
    kinds = list(dict.fromkeys((s.api, s.setting) for s in series))
    apis = [api for api, _ in kinds]
    if len(set(apis)) == len(kinds) and set(apis) <= set(APIS):
        return {kind: APIS.index(kind[0]) for kind in kinds}
    return {kind: i for i, kind in enumerate(kinds)}


def _lines(sharings: Iterable[str]) -> dict[str, Line]:
    """Returns a line for each way of connecting. Scaling channels share a line; further limits look like further
    pools.
    """
    found = {"shared": SHARED, "separate": SEPARATE}
    others = []
    for sharing in sharings:
        if sharing.startswith("scaling:") and SCALING not in found.values():
            found[sharing] = SCALING
        elif sharing not in found:
            others.append(sharing)
    return found | {sharing: POOLS[i % len(POOLS)] for i, sharing in enumerate(others)}


def config(theme: Theme) -> dict[str, Any]:
    """Vega-Lite's configuration."""
    text = {"labelColor": theme.soft, "titleColor": theme.soft, "labelFontSize": 11, "titleFontSize": 11}
    quiet = {"domainColor": theme.soft, "tickColor": theme.soft, "gridColor": theme.grid, "titleFontWeight": "normal"}
    return {
        "background": None,
        "font": "Helvetica Neue, Arial, Liberation Sans, DejaVu Sans, sans-serif",
        "view": {"stroke": None},
        "axis": {**text, **quiet, "tickSize": 4, "labelPadding": 4},
        "legend": {"labelColor": theme.ink, "labelLimit": 360, "symbolLimit": 0},
        "title": {"color": theme.ink, "fontSize": 13, "fontWeight": "bold", "anchor": "start", "offset": 14},
        # The page names each plot itself; one label for each of thousands of marks would bury a screen reader.
        "aria": False,
    }
