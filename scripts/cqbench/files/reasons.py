"""What the client's self-check says of a point or a run: a stable code for programs beside the words for people.

Results of versions 1 and 2 have the words only. They get their codes here, once; nothing else looks at the words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ConfigDict

from cqbench.files.model import Line

OTHER = "other"  # of an older file, in words that are not known here
OTHER_PROCESSES, OTHER_CLIENT, STEAL = "other-processes", "other-client", "steal"
NOT_WARMED_UP, DRIFT = "not-warmed-up", "drift"
UNFINISHED_CALLS, LITTLES_LAW = "unfinished-calls", "littles-law"
CLOCK_SOURCE, CPU_SCALING, SHARED_CPUS = "clock-source", "cpu-scaling", "shared-cpus"  # of a run
CLIENT_CPU, SERVER_CPU = "client-cpu", "server-cpu"  # limits
# A doubt of ours: a manifest that cannot be used. Runs that only look alike may have been put together.
UNKNOWN_SURROUNDINGS = "unknown-surroundings"


@dataclass(frozen=True)
class Reason:
    """Of a doubt ('suspect') or of a limit, which is none: that the CPU is full says what was measured."""

    __pydantic_config__ = ConfigDict(strict=False)  # files have an object

    code: Line
    text: Line

    @property
    def kind(self) -> str:
        """The same for reasons that differ in their figures only: of the client and of the server are two."""
        return f"{self.code}: {alike(self.text)}"


# How the older sentences begin -> code. They had limits among the doubts.
OLD_DOUBTS = {
    "other processes used": OTHER_PROCESSES,
    "another client uses the server": OTHER_CLIENT,
    "the hypervisor took": STEAL,
    "not warmed up": NOT_WARMED_UP,
    "throughput drifts": DRIFT,
    "the clock source of the": CLOCK_SOURCE,
    "the CPU frequency governor of the": CPU_SCALING,
    "client and server share CPUs": SHARED_CPUS,
}
OLD_LIMIT = "CPU-bound:"
OLD_LIMITS = {f"{OLD_LIMIT} this measures CPU, not the connection: the server": SERVER_CPU, OLD_LIMIT: CLIENT_CPU}
OLD_NEITHER = "too few calls for P"  # a percentile is not there; the rest stands


def of_old(sentences: Iterable[str]) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """Doubts and limits."""
    said = [text for text in sentences if not text.startswith(OLD_NEITHER)]
    doubts = (Reason(_code(text, OLD_DOUBTS), text) for text in said if not text.startswith(OLD_LIMIT))
    limits = (Reason(_code(text, OLD_LIMITS), text) for text in said if text.startswith(OLD_LIMIT))
    return tuple(doubts), tuple(limits)


def _code(text: str, known: dict[str, str]) -> str:
    return next((code for beginning, code in known.items() if text.startswith(beginning)), OTHER)


def kinds(found: Iterable[Reason]) -> dict[str, list[Reason]]:
    """By kind, in the order in which they first appear."""
    groups: dict[str, list[Reason]] = {}
    for reason in found:
        groups.setdefault(reason.kind, []).append(reason)
    return groups


def alike(text: str) -> str:
    """The same for texts that differ in their figures only."""
    return re.sub(r"[-+0-9.]+", "#", text)


def as_json(found: Iterable[Reason]) -> list[dict[str, str]]:
    """As result files have them."""
    return [{"code": reason.code, "text": reason.text} for reason in found]
