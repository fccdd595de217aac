"""The figures of a soak, round by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

SERVERS = ("cq", "callback", "sync", "generic")
CLIENT = "client"  # the one that lives as long as the soak, against a server of its own


@dataclass
class Round:
    """The figures of a process after a round; for a server also those of the reference case."""

    number: int
    at_s: float  # since the soak began
    process: str  # one of SERVERS, or CLIENT
    vitals: dict[str, int]
    reference: dict[str, float | None]


@dataclass
class Record:
    rounds: list[Round] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    cases: int = 0
    calls: int = 0
    restarts: int = 0

    def series(self, process: str, pick: Callable[[Round], float | None]) -> list[float]:
        found = [pick(one) for one in self.rounds if one.process == process]
        return [value for value in found if value is not None]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
