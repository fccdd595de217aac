"""A verdict as data: judge_runs() makes it; text, JSON and the report's cards show it. No figure is made here.

An experiment varies one thing in each of its *cases*: the *axis*. Each value of the axis is a *variant*; all are
compared with one of them, the *baseline*, load by load. Ratios are variant / baseline.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from cqbench.files.offered import Load
from cqbench.stats.ratios import Ratio


class Decision(str, Enum):
    """What follows for a variant at one load. The order is that of importance."""

    BOTTLENECK = "bottleneck"  # faster, and the shared connection is what held the baseline back
    LIKELY = "likely-bottleneck"  # faster, and what is known of the connection points there without being sure
    OTHER = "faster-for-another-reason"  # faster, but something else held the baseline back, or one connection keeps up
    FASTER = "faster"  # better; of connections: for a reason that is not known
    SLOWER = "slower"
    FULL = "cpus-full"  # of connections: a gain is neither shown nor ruled out; CPUs were full
    SMALL = "too-small"  # a difference of GAIN either way is ruled out
    NOT_FASTER = "not-faster"  # a gain of GAIN is ruled out, a loss is not
    OPEN = "open"
    SAME = "same"  # of connections: 1 in flight, where all variants are one call on one connection

    @property
    def gain(self) -> bool:
        return self in (Decision.BOTTLENECK, Decision.LIKELY, Decision.OTHER, Decision.FASTER)

    @property
    def undecided(self) -> bool:
        """The interval neither shows a gain nor rules one out: no sentence may say that there is none."""
        return self in (Decision.OPEN, Decision.FULL)

    @property
    def of_connection(self) -> bool:
        return self in (Decision.BOTTLENECK, Decision.LIKELY)


@dataclass(frozen=True)
class Cost:
    """Of a variant at one load, not 1 after its own correction. metric: 'p99', 'client-cpu', 'server-cpu'."""

    metric: str
    ratio: Ratio


@dataclass(frozen=True)
class Row:
    """A variant against the baseline at one load. judged: the ratio that decides, above 1 where the variant is better:
    that of throughput, of an open loop that of P99 turned round. p: Holm's, over the whole verdict; None: no test.
    because: why it was decided so, a clause without a full stop; codes: the same for programs, the reason first. said:
    of a doubt, what the client says. linear: of the baseline, throughput / (n x that at 1). limit: code of what held
    the variant back, by its whole interval; ''. reached: of an open loop, the share of the asked rate that baseline and
    variant reached.
    """

    variant: str
    load: Load
    decision: Decision
    judged: Ratio | None
    p: float | None
    throughput: Ratio | None
    p99: Ratio | None
    client_cpu: Ratio | None  # CPU time per call
    server_cpu: Ratio | None
    costs: tuple[Cost, ...] = ()
    because: str = ""
    codes: tuple[str, ...] = ()
    said: str = ""
    linear: Ratio | None = None
    limit: str = ""
    repetitions: int = 0  # of the side that has fewer
    suspect: int = 0  # those of both sides with a reason for doubt
    needed: int | None = None  # repetitions that would decide; None: decided, or more than can be advised
    reached: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True)
class Effect:
    """What one setting brings instead of another over several loads (and cases), judged as one."""

    what: str  # the axis
    setting: str
    instead_of: str
    where: str  # what was the same on both sides, in words; '' for everything
    loads: tuple[Load, ...]
    ratio: Ratio
    p: float | None  # Holm's
    decision: Decision


@dataclass(frozen=True)
class Case:
    """One baseline and its variants. connections: the axis is the way to connect, of which more is known than ratios.
    effects: of each variant over all loads above 1 in flight. answer: one sentence. reasons: a line each.
    """

    name: str
    axis: str
    baseline: str
    variants: tuple[str, ...]
    connections: bool
    open_loop: bool
    decision: Decision  # the most important of its rows
    rows: tuple[Row, ...]
    effects: tuple[Effect, ...]
    answer: str
    reasons: tuple[str, ...]
    repetitions: int  # the fewest of any row


@dataclass(frozen=True)
class Judgement:
    """All there is to say about some runs. notes: about the whole, such as other load. Every text is for people."""

    question: str
    answer: str
    machine: str
    notes: tuple[str, ...]
    cases: tuple[Case, ...]
    also: tuple[Effect, ...]  # other axes of the same experiment
    settings: tuple[str, ...]  # what to set
    measure: tuple[str, ...]  # what to measure, with numbers of repetitions
    cannot_show: tuple[str, ...]
