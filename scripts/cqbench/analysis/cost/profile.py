"""A cost profile: figures of one call with their range, as data and as a file, which profile.schema.json describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, Literal

from cqbench.analysis.cost.counts import FUNCTION, TOTAL, Key
from cqbench.formats import problems
from cqbench.formats.model import Line, Model, Offset, Positive, Text
from cqbench.formats.source import BadDocument, decode, read_bytes
from cqbench.formats.text import one_line
from pydantic import ValidationError, model_validator

SCHEMA_VERSION = 1
MARK = "cqbench_cost_profile"  # the key that no other file has
CLIENT, SERVER, PROGRAM = "client", "server", "program"
SYSCALLS, INSTRUCTIONS, ALLOCATIONS, TIME = "syscalls", "instructions", "allocations", "time"
SAMPLES, SAMPLED_NS = "samples", "cpu-sampled-ns"
PARTS = (TIME, ALLOCATIONS, SAMPLES, SYSCALLS, INSTRUCTIONS)
LEAST_SHARE = 0.0005  # of all instructions: functions below are not in a cost profile, and their sum is
MAX_FUNCTIONS = 300


class Figure(Model):
    """Per call. low, high: minimum and maximum of the repetitions. values: theirs, in order."""

    side: Literal["client", "server", "program"]
    kind: Literal["total", "cpu", "syscall", "thread", "library", "function"]
    name: Line
    library: Line = ""
    median: Offset
    low: Offset
    high: Offset
    repetitions: Positive
    values: list[Offset]

    @model_validator(mode="after")
    def _whole(self) -> Figure:
        if len(self.values) != self.repetitions:
            raise ValueError(f"{self.name} has {len(self.values)} values of {self.repetitions} repetitions")
        return self

    @property
    def key(self) -> tuple[str, Key]:
        return self.side, Key(self.kind, self.name, self.library)

    @property
    def mean(self) -> float:
        return fmean(self.values)

    @property
    def width(self) -> float:
        """Between the least and the most repetition."""
        return self.high - self.low

    @property
    def spread(self) -> float:
        """The same as a share of the median; 0 where that is 0."""
        return self.width / abs(self.median) if self.median else 0.0


class Absent(Model):
    """A part that a cost profile lacks, and the reason."""

    side: Literal["client", "server", "program"]
    part: Line
    reason: Text


class Profile(Model):
    """One measurement. work: what was asked of the programs, which must agree where profiles are compared."""

    cqbench_cost_profile: Positive
    date: Line
    title: Line
    calls: dict[str, Positive]  # by part: N; counted was also with 5 N
    inflight: Positive | None = None
    messages_per_call: Positive | None = None
    work: dict[str, Line] = {}
    setting: dict[str, Line] = {}
    means: dict[str, Text] = {}
    figures: list[Figure]
    absent: list[Absent] = []
    notes: list[Text] = []
    partial: bool = False

    def of(self, side: str, kind: str) -> list[Figure]:
        """In the order of the file."""
        return [f for f in self.figures if f.side == side and f.kind == kind]

    def total(self, side: str, name: str) -> Figure | None:
        return next((f for f in self.of(side, TOTAL) if f.name == name), None)

    @property
    def sides(self) -> list[str]:
        found = {f.side for f in self.figures} | {a.side for a in self.absent}
        return [side for side in (CLIENT, SERVER, PROGRAM) if side in found]


def figures(side: str, repetitions: Sequence[Mapping[Key, float]]) -> list[Figure]:
    """Summarizes the counts of all repetitions. Functions: those that matter, the most expensive first."""
    keys = list(dict.fromkeys(key for one in repetitions for key in one))
    found = [figure(side, key, [one.get(key, 0.0) for one in repetitions]) for key in keys]
    whole = next((f.median for f in found if (f.kind, f.name) == (TOTAL, INSTRUCTIONS)), 0.0)
    kept = [f for f in found if f.kind == FUNCTION and f.median >= LEAST_SHARE * whole]
    kept = sorted(kept, key=lambda f: -f.median)[:MAX_FUNCTIONS]
    others = [f for f in found if f.kind != FUNCTION and (f.kind == TOTAL or f.low or f.high)]
    return [*(f for f in others if f.kind == TOTAL), *_by_cost(f for f in others if f.kind != TOTAL), *kept]


def _by_cost(found: Iterable[Figure]) -> list[Figure]:
    return sorted(found, key=lambda f: (f.kind, -f.median, f.name))


def figure(side: str, key: Key, values: Sequence[float]) -> Figure:
    """values: one of each repetition, not empty."""
    data = {"side": side, "kind": key.kind, "name": key.name, "library": key.library}
    numbers = {"median": _rounded(median(values)), "low": _rounded(min(values)), "high": _rounded(max(values))}
    each = [_rounded(value) for value in values]
    return Figure.model_validate({**data, **numbers, "repetitions": len(values), "values": each})


def _rounded(value: float) -> float:
    return round(value, 6) + 0.0  # no -0.0


def as_json(profile: Profile) -> dict[str, Any]:
    """Returns the JSON without empty values."""
    return {key: value for key, value in profile.model_dump().items() if value is not None}


def is_profile(data: bytes) -> bool:
    """True if a file looks like a cost profile."""
    return data.lstrip()[:1] == b"{" and f'"{MARK}"'.encode() in data[:4096]


def load(path: Path) -> Profile:
    """Raises BadDocument."""
    name = one_line(str(path))
    data = decode(read_bytes(path), name)
    version = data.get(MARK) if isinstance(data, dict) else None
    if type(version) is int and version > SCHEMA_VERSION:
        raise BadDocument(f"{name}: {MARK} {version} is newer than {SCHEMA_VERSION}, which this version reads")
    try:
        return Profile.model_validate(data)
    except ValidationError as error:
        raise BadDocument(f"{name}: not a cost profile of cqbench cost: {problems.first(error, data)}") from None
