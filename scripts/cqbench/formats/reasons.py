"""Warnings of the client's self-check about a point or a run: a stable code for programs, and a text for people."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ConfigDict

from cqbench.formats.model import Line

OTHER_PROCESSES, OTHER_CLIENT, STEAL = "other-processes", "other-client", "steal"
NOT_WARMED_UP, DRIFT = "not-warmed-up", "drift"
SUSPENDED, STRAGGLER = "suspended", "straggler"  # the machine stood still; one client process was behind the others
UNFINISHED_CALLS, LITTLES_LAW = "unfinished-calls", "littles-law"
CLOCK_SOURCE, CPU_SCALING, SHARED_CPUS = "clock-source", "cpu-scaling", "shared-cpus"  # of a run
CONNECTIONS = "connections"  # other than the policy promises
CLIENT_CPU, SERVER_CPU = "client-cpu", "server-cpu"  # resources that may be saturated
SATURATED = "-saturated"  # what codes of notes about them end with
# A warning of ours: a manifest that cannot be used. Runs that only look alike may have been put together.
UNKNOWN_SURROUNDINGS = "unknown-surroundings"


@dataclass(frozen=True)
class Reason:
    """A warning, which makes a point unreliable, or a note, which explains it."""

    __pydantic_config__ = ConfigDict(strict=False)  # files have an object

    code: Line
    text: Line

    @property
    def kind(self) -> str:
        """The same for reasons that differ in their figures only: of the client and of the server are two."""
        return f"{self.code}: {alike(self.text)}"


def saturated(notes: Iterable[Reason]) -> list[Reason]:
    """By resource: what is saturated says what was measured."""
    found = (note for note in notes if note.code.endswith(SATURATED))
    return [Reason(note.code.removesuffix(SATURATED), note.text) for note in found]


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
