"""Shared by all measuring sessions: programs that run to their end, results or one line with the reason, and rounds.
The caller decides what is measured, and in which order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from cqbench.formats.point import Measured
from cqbench.formats.result import Document, parse
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line
from cqbench.measure.processes import Agenda, Failed, Finished, Interrupt, run

# The interval holds a call over the slowest network.
PROBE = ("--inflight", "1", "--warmup", "0.05", "--interval", "0.5")
PROBE_PATIENCE_S = 30.0
Thing = TypeVar("Thing")
Figure = TypeVar("Figure")


def _nothing(_elapsed_s: float) -> None:
    """A tick that does nothing."""


def say(text: str) -> None:
    """To people; standard output carries the result only."""
    print(f"== {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Session:
    """Programs run one after another, until signals end it. Commands are whole: whoever makes them has pinned them."""

    interrupt: Interrupt

    @property
    def stopped(self) -> bool:
        return bool(self.interrupt.signum)

    def finish(
        self,
        command: Sequence[str],
        patience_s: float,
        tick: Callable[[float], None] = _nothing,
        agenda: Agenda | None = None,
    ) -> Finished:
        """A program to its end, however that is."""
        return run([*command], self.interrupt, patience_s, tick, agenda)

    def run(
        self,
        command: Sequence[str],
        patience_s: float,
        tick: Callable[[float], None] = _nothing,
        may_fail: bool = False,
    ) -> Finished:
        """A program that ended well; with may_fail one that printed something. Raises Failed."""
        done = self.finish(command, patience_s, tick)
        if done.why or (done.returncode != 0 and not (may_fail and done.stdout)):
            raise Failed(one_line(done.complaint(), 400))
        return done

    def probe(self, client: Sequence[str], host: str, flags: Sequence[str] = ()) -> Finished:
        """One short point on a server that is there already, to see whether our client can use it."""
        return self.finish([*client, "--host", host, *flags, *PROBE], PROBE_PATIENCE_S)


def result(text: str) -> Document:
    """The client's, with a call or more at each point. Raises Failed."""
    try:
        document = parse(text.encode(), "the client's result")
    except BadDocument as error:
        raise Failed(str(error)) from None
    if document.partial or not document.points or not all(point.completed for point in document.points):
        why = next((point.failure for point in document.points if point.failure), "the client measured nothing")
        raise Failed("interrupted" if document.partial else why)
    return document


def measured(text: str) -> list[Measured]:
    """The points of a client's result with a call or more, also of one that was interrupted; none of what is none."""
    try:
        return [point for point in parse(text.encode(), "the client's result").points if point.completed]
    except BadDocument:
        return []


@dataclass
class Rounds(Generic[Figure]):
    """By round, the figures; and what failed and why, with its rounds."""

    interrupt: Interrupt
    figures: list[dict[str, Figure]] = field(default_factory=list)
    failures: dict[str, list[int]] = field(default_factory=dict)

    def run(
        self,
        number: int,
        things: Sequence[Thing],
        name: Callable[[Thing], str],
        measure: Callable[[Thing], Mapping[str, Figure]],
        begin: Callable[[int, int, Thing], None],
    ) -> None:
        """Every other round runs backwards, so that a drift over the round favours neither side of a ratio. A failure
        ends only its own measurement. begin: is told the round, the place in it, and what is measured next."""
        for i in range(1, number + 1):
            found: dict[str, Figure] = {}
            self.figures.append(found)
            for place, thing in enumerate(things if i % 2 else things[::-1]):
                if self.interrupt.signum:
                    return
                begin(i, place, thing)
                try:
                    found |= measure(thing)
                except (Failed, OSError) as error:
                    if not self.interrupt.signum:
                        self.failures.setdefault(f"{name(thing)}: {error}", []).append(i)
                        say(f"round {i}: FAILED: {name(thing)}: {error}")

    def remarks(self) -> list[str]:
        """Returns what is missing, a line each."""
        partial = ["PARTIAL: interrupted."] if self.interrupt.signum else []
        failed = (f"FAILED in round {', '.join(map(str, rounds))}: {what}" for what, rounds in self.failures.items())
        return [*partial, *failed]
