"""Kinds of plots: their frames, how to read them, and whose series they show. catalogue.py lists the existing ones.

Titles, units and directions come from the catalogue of figures; here stands how frames are made of figures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cqbench.formats.figures import THROUGHPUT
from cqbench.model.figures import CPU, FIGURES, P50, P99, PERCENTILES, SENT_PERCENTILES, at_both_ends
from cqbench.render.report.model import Series
from cqbench.render.report.values import COMPARED

CLOSED, OPEN = (False,), (True,)
BAND = "Bands are 95 % intervals of the median; small dots the repetitions, in their order from left to right."
# Some results lack a figure: what measuring it takes.
SERVICE = "the control service of grpc_ping_server"
MANY_CALLS = "ten calls above a percentile: P99.9 takes 10,000 calls"
HISTOGRAMS = "the histograms of the result files"
SLICES = "a time series in the result files"
STARTED = "the points' times in the result files"
# By the catalogue's word.
NEEDS = {
    "breakdown": "--breakdown of grpc_ping_client",
    "counting": "a build that counts them",
    "tcp": "TCP and a kernel that tells of its connections",
}
DUE_AND_SENT = ("from due", "from sent")
RATIO = (
    "Bars are 95 % intervals of one ratio by itself: one that reaches the line at 1 shows no difference. Those of the "
    "verdict hold together and are wider. Two runs have bars from three sessions on either side on."
)
TWO = "two values of an axis at the same load"
RATIO_KEYS = {P99: "p99", P50: "p50", CPU[0]: "client-cpu", CPU[1]: "server-cpu"}
PERCENTILE_KEYS = ("p50", "p90", "p99", "p99-9")


@dataclass(frozen=True)
class Kind:
    """One frame of a plot. label: what distinguishes it there. metrics: names of figures. log: the y axis is. needs:
    what measuring takes. parts: with these, each metric has panels of its own, side by side on the same scales. level:
    a line across it.
    """

    key: str
    label: str
    metrics: tuple[str, ...]
    unit: str
    needs: str = ""
    log: bool = False
    parts: tuple[str, ...] = ()
    level: float | None = None


@dataclass(frozen=True)
class Plot:
    """caption: how to read it, one line. of: the loops whose series it shows. top: it comes before the findings."""

    key: str
    title: str
    caption: str
    shape: str
    kinds: tuple[Kind, ...]
    of: tuple[bool, ...] = (False,)
    top: bool = False

    def shows(self, series: Series) -> bool:
        return series.open in self.of


def kind(key: str, *metrics: str, label: str | None = None, needs: str = "", level: float | None = None) -> Kind:
    """label: the figure's own unless given. The y axis of latencies is logarithmic."""
    figure = FIGURES[metrics[-1]]
    latency = figure.name in (*PERCENTILES, *SENT_PERCENTILES)
    needs = needs or (MANY_CALLS if latency else NEEDS.get(figure.needs, SERVICE if "server" in figure.side else ""))
    label = figure.label if label is None else label
    return Kind(key, label, metrics, figure.shown_unit, needs, latency, level=level)


def ends(key: str, metric: str) -> tuple[Kind, Kind]:
    """A frame for either end."""
    client, server = at_both_ends(metric)
    return kind(f"client-{key}", client), kind(f"server-{key}", server)


def ratio(key: str, metric: str, label: str | None = None, needs: str = "") -> Kind:
    figure = FIGURES[metric]
    label = f"{figure.label} ({_better(metric)} is better)" if label is None else label
    return replace(kind(key, metric, label=label, needs=needs), unit="×", log=True)


def _better(metric: str) -> str:
    return "higher" if FIGURES[metric].better > 0 else "lower"


def ratios(prefix: str, shape: str, of: tuple[bool, ...], first: str, how: str = "") -> tuple[Plot, Plot]:
    """Returns the plots of the question, at the top of the page, and of the costs."""
    costs = tuple(
        ratio(f"{prefix}ratio-{RATIO_KEYS[name]}", name) for name in COMPARED if name not in (first, THROUGHPUT)
    )
    better = f"{_better(first).capitalize()} is better"
    return (
        Plot(
            f"{prefix}ratio",
            f"{FIGURES[first].label} ratio",
            f"{better}{how}. {RATIO}",
            shape,
            (ratio(f"{prefix}ratio", first, "", TWO),),
            of,
            True,
        ),
        Plot(f"{prefix}ratio-cost", "What it costs: further ratios", RATIO, shape, costs, of),
    )


def extremes(calls_of: str) -> tuple[str, str]:
    return f"{calls_of}_most_of_mean", f"{calls_of}_fewest_of_mean"
