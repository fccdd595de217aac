"""A verdict as data: judge_runs() makes it; render/verdict says it. No figure is made here, and no sentence.

An experiment varies one thing in each of its *scenarios*: the *axis*. Each value of the axis is a *configuration*; all
are compared with one of them, the *baseline*, load by load. Ratios are configuration / baseline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from cqbench.formats.offered import Load
from cqbench.formats.reasons import Reason
from cqbench.model.thresholds import GAIN
from cqbench.stats.ratios import Ratio


class Decision(str, Enum):
    """The conclusion for a configuration at one load level, in the order of importance."""

    BOTTLENECK = "bottleneck"  # faster, and the shared connection is what held the baseline back
    LIKELY = "likely-bottleneck"  # faster; the evidence points to the connection, but some of it is inconclusive
    OTHER = "faster-for-another-reason"  # faster, but something else held the baseline back, or one connection keeps up
    FASTER = "faster"  # better; of connections: for a reason that is not known
    SLOWER = "slower"
    EQUIVALENT = "equivalent"  # the interval is within the margin
    INCONCLUSIVE = "inconclusive"
    SAME = "same"  # of connections: 1 in flight, where all configurations are one call on one connection

    @property
    def gain(self) -> bool:
        return self in (Decision.BOTTLENECK, Decision.LIKELY, Decision.OTHER, Decision.FASTER)

    @property
    def of_connection(self) -> bool:
        return self in (Decision.BOTTLENECK, Decision.LIKELY)


@dataclass(frozen=True)
class Cost:
    """A figure of a configuration at one load that differs by the interval, not within the margin. metric: 'p99',
    'client-cpu', 'server-cpu'.
    """

    metric: str
    ratio: Ratio


@dataclass(frozen=True)
class Row:
    """A configuration against the baseline at one load. judged: the ratio that decides, above 1 where the configuration
    is better: that of throughput, of an open loop that of P99 turned round. no_gain: an inconclusive one that rules out
    a gain above the margin. codes: why it was decided so, the reason first. warning: the client's own words, where a
    warning forbids a conclusion. linear: of the baseline, throughput / (n x that at 1). saturated: code of what held
    the configuration back, by its whole interval; ''. reached: of an open loop, the share of the target rate that
    baseline and configuration reached. rates, p99s: calls per second and P99 in nanoseconds of baseline and
    configuration; None where a repetition lacks the figure.
    """

    configuration: str
    load: Load
    decision: Decision
    judged: Ratio | None
    throughput: Ratio | None
    p99: Ratio | None
    client_cpu: Ratio | None  # CPU time per call
    server_cpu: Ratio | None
    costs: tuple[Cost, ...] = ()
    codes: tuple[str, ...] = ()
    warning: str = ""
    linear: Ratio | None = None
    saturated: str = ""
    repetitions: int = 0  # of the side that has fewer
    unreliable: int = 0  # those of both sides with a warning
    needed: int | None = None  # repetitions that detect the margin; None: decided, or more than can be advised
    no_gain: bool = False
    stream_limit: int | None = None  # of the server, per connection, where the baseline's calls wait for it
    reached: tuple[float | None, float | None] = (None, None)
    rates: tuple[float | None, float | None] = (None, None)
    p99s: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True)
class Effect:
    """The effect of one setting relative to another over several load levels (and scenarios), judged as one."""

    what: str  # the axis
    setting: str
    instead_of: str
    where: str  # what was the same on both sides, in words; '' for everything
    loads: tuple[Load, ...]
    ratio: Ratio
    decision: Decision
    by_load: tuple[tuple[Load, float], ...] = ()  # the estimate at each load by itself, which decides nothing


@dataclass(frozen=True)
class Scenario:
    """One baseline and its configurations. connections: the axis is the way to connect, of which more is known than
    ratios. effects: of each configuration over all loads above 1 in flight. ways: of connections, baseline and
    configurations by name with their way to connect, 'shared', 'separate', 'pool:4', 'scaling:10'.
    """

    name: str
    axis: str
    baseline: str
    configurations: tuple[str, ...]
    connections: bool
    open_loop: bool
    decision: Decision  # the most important of its rows
    rows: tuple[Row, ...]
    effects: tuple[Effect, ...]
    repetitions: int  # the fewest of any row
    margin: float = GAIN
    ways: tuple[tuple[str, str], ...] = ()

    @property
    def loads(self) -> list[Load]:
        return [row.load for row in self.rows]


@dataclass(frozen=True)
class Statement:
    """Something to say that is no figure: a code for programs, and the facts that its sentence needs."""

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


class Unreliable(NamedTuple):
    """Samples with a warning, of how many. kinds: the most frequent warnings, in how many samples, with an example."""

    number: int
    of: int
    kinds: tuple[tuple[int, Reason], ...]


@dataclass(frozen=True)
class Judgement:
    """All that follows from some runs. question: the experiment's own; '' where it asks none. faults: something was
    made to go wrong in every window, and nothing is judged. machine: what was the same everywhere, by name. seconds:
    that all runs took, where measuring went on until it was decided. notes: about the whole, such as other load.
    """

    question: str
    notes: tuple[str, ...] = ()
    faults: bool = False
    machine: Mapping[str, str] = field(default_factory=dict)
    seconds: float | None = None
    interleaved: bool = True
    unreliable: Unreliable | None = None
    scenarios: tuple[Scenario, ...] = ()
    also: tuple[Effect, ...] = ()  # other axes of the same experiment
    settings: tuple[Statement, ...] = ()  # what to set
    measure: tuple[Statement, ...] = ()  # what to measure, with numbers of repetitions
    cannot_show: tuple[Statement, ...] = ()
