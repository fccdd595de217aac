"""A report as plain data: data.py makes it from results, plots.py draws it, page.py writes the page.

Nothing here reads a file or knows how a figure is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from cqbench.formats.offered import Load
from cqbench.render.table import Table, plain
from cqbench.render.verdict.answer import Answer


@dataclass(frozen=True)
class Value:
    """A median over the repetitions with its 95 % interval; low and high are None with too few repetitions for one."""

    middle: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Value:
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Value(self.middle * factor, low, high)


@dataclass(frozen=True)
class Run:
    """One repetition of a point. at: seconds from the first point of its experiment; None where it is not known."""

    number: int  # from 1
    at: float | None
    values: dict[str, float]  # by name of the figure
    unreliable: bool = False


@dataclass(frozen=True)
class Point:
    """One load of a series. values: by name of the figure, in its unit; what could not be measured is not in it."""

    load: Load
    values: dict[str, Value]
    repetitions: int
    warnings: tuple[str, ...] = ()  # why it is unreliable, or not to be read as it stands; each reason once
    saturated: tuple[str, ...] = ()  # which resources; each once
    partial: bool = False  # cut short: shown only where there is nothing whole
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Distribution:
    """Latencies of one load, from due, all repetitions together. steps: (share of the calls from 0 to below 1, the
    latency in microseconds that this share stays at or below), ascending. calls: how many there were.
    """

    load: Load
    calls: int
    steps: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Slice:
    """A part of a window. at: its middle, in seconds. Latencies in microseconds, None where no call ended."""

    at: float
    per_second: float
    p99: float | None
    highest: float | None
    failed: float | None = None  # calls per second; None where nobody looked


@dataclass(frozen=True)
class Timeline:
    """How one repetition of a load went: that with the slowest slice, so that a stall is not missed. With a fault in it
    (words): that with as many lost calls as half of the others, and 0 is when the fault began.
    """

    load: Load
    repetition: int  # from 1
    slices: tuple[Slice, ...]
    fault: str = ""

    @property
    def slowest(self) -> float:
        return max((s.highest or 0.0 for s in self.slices), default=0.0)


@dataclass(frozen=True)
class Fit:
    """The Universal Scalability Law fitted to a series' throughput. curve: (in-flight, per second), to be drawn."""

    curve: tuple[tuple[float, float], ...]
    words: str  # coefficients and peak, or why not to rely on it
    poor: bool


@dataclass(frozen=True)
class Series:
    """A curve in every plot: one configuration of an experiment, or one setting in files without configurations."""

    id: str  # unique, [a-z0-9-]+: for datasets, elements and file names
    title: str  # short, for the legend
    method: str  # unary, streaming, ...: their plots stand side by side
    api: str  # sync, cq, callback
    sharing: str  # shared, separate, pool:N, scaling:N
    setting: str  # what else distinguishes it, in words; '' when nothing does
    points: tuple[Point, ...]  # by load
    distributions: tuple[Distribution, ...] = ()
    timelines: tuple[Timeline, ...] = ()
    open: bool = False  # an open loop: its loads are rates
    fit: Fit | None = None
    ideal_rate: float | None = None  # per second and call in flight: the median throughput at 1; None without it
    knee: float | None = None  # of an open loop: the highest rate up to which all that was asked was reached
    client_command: str = ""  # exact, as it can be typed
    server_command: str = ""
    run: int = 0  # which of the experiments it is from, from 0


@dataclass(frozen=True)
class Against:
    """A series against another that differs from it in the value of one axis only. values: ratios series / base."""

    axis: str
    series: int  # their numbers in Report.series
    base: int
    title: str  # "separate ÷ shared"
    values: dict[Load, dict[str, Value]]


@dataclass(frozen=True)
class Card:
    """A configuration of a scenario at every load."""

    title: str
    verdict: str  # a code
    compares: str  # 'separate ÷ shared'
    table: Table


@dataclass(frozen=True)
class Verdict:
    """An experiment's answer, the tables that text has as well, and every load. name: 'A', '' where there is one
    experiment.
    """

    name: str
    answer: Answer
    outcomes: Table
    absolute: Table
    legend: str
    cards: tuple[Card, ...]

    @property
    def judged(self) -> bool:
        """True if a load was compared."""
        return any(row.each for row in self.answer.table)


def _nothing() -> Table:
    return plain(())


@dataclass(frozen=True)
class Report:
    """One page. In texts of several experiments A, B, ... are their names."""

    title: str
    question: str
    made: str  # when the measurements began, RFC 3339
    partial: str  # what is missing, one sentence; '' when nothing is
    verdicts: tuple[Verdict, ...]  # of the experiments, in order
    series: tuple[Series, ...]
    machine: tuple[tuple[str, str], ...]  # label, value: CPU, kernel, versions, pinning, ...
    facts: tuple[tuple[str, str], ...] = ()  # facts and warnings that a reader needs before the answer
    experiments: tuple[str, ...] = ()  # their folders, where there are several
    against: tuple[Against, ...] = ()  # the most telling axis first
    errors: Table = field(default_factory=_nothing)  # failed calls by status code
    spreads: Table = field(default_factory=_nothing)  # over client processes that measured together
    ranks: Table = field(default_factory=_nothing)  # each of them
    floors: Table = field(default_factory=_nothing)  # the same call with less of gRPC
    faults: Table = field(default_factory=_nothing)  # what was made to go wrong, and what that cost
    knees: Table = field(default_factory=_nothing)  # of open loops
    profiles: tuple[tuple[str, tuple[Table, ...]], ...] = ()  # of cqbench cost: what was counted, and its tables
    notes: tuple[str, ...] = ()  # remarks about the whole run, such as other programs on its CPUs
    failures: tuple[str, ...] = ()  # "CONFIGURATION, repetition 3: why"
    data: dict[str, Any] = field(default_factory=dict)  # for download: all of the above figures
