"""The client's JSON files as models: everything in them is checked here, once; the rest of the package trusts it.

Files of older versions are brought to the newest one's words first. result.schema.json describes every key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from cqbench.files import reasons
from cqbench.files.model import Amount, Count, Line, Model, complaint
from cqbench.files.point import SLICES, Baseline, Measured
from cqbench.files.reasons import Reason
from cqbench.files.source import BadDocument, decode, read_bytes
from cqbench.files.text import one_line

SCHEMA_VERSION = 3  # the newest that is read, result.schema.json's. Version 1 has no key for it and no evidence.
BILL = "cqbench_bill"  # a key of what `cqbench cost` writes
CLOSED, OPEN = "closed", "open"
OLD_POLICIES = {"per-worker": "per-slot"}  # as versions 1 and 2 call them -> as they are called now

ENDS = ("client", "server")
EVIDENCE = tuple(f"{end}_" for end in ENDS)  # what keys of the evidence begin with
NUMBERS = (  # what keys of numbers begin with that are looked at
    *EVIDENCE,
    *("breakdown_", "calls_", "latency_", "pacer_", "slot_wait_", "largest_burst", "outstanding_", "unfinished"),
    *("payload_bytes_", "chunks_", "chunk_gap_"),
)
# Those of the evidence that are no number, nor ought to be; result.schema.json describes them.
NOT_FIGURES = tuple(f"{end}{what}" for end in EVIDENCE for what in ("cpus", "congestion_control"))
# Those that may be below 0: a sample was taken after the window had opened, or before it closed.
SIGNED = tuple(f"{end}sample_{where}_ns" for end in EVIDENCE for where in ("before", "after"))


class Server(Model):
    """What a server says of itself; all absent in version 1. An alien server says nothing."""

    cpus: list[Count] = []
    poll: str = ""
    channel_args: list[str] = []
    service_time_ns: Amount | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data


class FoundRate(Model):
    """The answer of a search for the highest rate that meets an objective. Per second; with its 95 % interval."""

    resolved: bool
    rate: Annotated[float, Field(gt=0, lt=2**63)] | None = Field(default=None, alias="rate_per_second")
    low: Amount | None = None
    high: Amount | None = None
    unresolved_why: Line = ""  # empty when it is resolved

    @model_validator(mode="after")
    def _is_an_answer(self) -> FoundRate:
        if self.resolved and None in (self.rate, self.low, self.high):
            raise ValueError("is resolved without 'rate_per_second', 'low' or 'high'")
        return self

    @property
    def words(self) -> str:
        """'highest rate 23456/s (21000 to 25000)'."""
        if not self.resolved:
            return f"unresolved: {self.unresolved_why or 'no reason given'}"
        return f"highest rate {self.rate:.0f}/s ({self.low:.0f} to {self.high:.0f})"


class Document(Model):
    """One run of the client: its context, and the points."""

    path: str
    cqbench_version: Line
    method: Line
    api: Line
    policy: Line = Field(alias="channel_policy")
    workload: Line
    target: Line
    grpc_version: Line
    cpu_model: Line = ""  # of the client's machine; '' when it is not known
    partial: bool
    suspect: list[Reason] = []  # what holds for every point; none in version 1
    loop: str
    messages: Line = ""  # how they are held: "reused"; '' in older files
    stub: Line = ""  # "generated"; '' in older files
    arrivals: Line = ""  # "poisson"; open loop only
    at_limit: Line = ""  # "queue"; open loop only
    channel_args: dict[str, Any] = {}
    command_line: list[str] = []
    servers: list[Server] = []
    points: list[Measured]
    baselines: list[Baseline] = []
    found_rate: FoundRate | None = None  # of --find-rate
    context: dict[str, Any]  # as it is in the file, for what is only shown or compared as text

    @field_validator("loop")
    @classmethod
    def _loop_is_known(cls, value: str) -> str:
        if value not in (CLOSED, OPEN):
            raise ValueError(f"is neither {CLOSED} nor {OPEN}")
        return value

    @property
    def open(self) -> bool:
        return self.loop == OPEN

    @property
    def special(self) -> tuple[str, ...]:
        """What the client's names of series add, where it is not the default."""
        holder = self.messages if self.messages != "reused" else ""
        stub = self.stub if self.stub == "generic" and holder != "bytes" else ""
        return tuple(filter(None, (holder, stub, OPEN if self.open else "")))

    @property
    def how(self) -> str:
        """The same in words, with how an open loop's calls arrive; '' where all is the default."""
        holder, stub = (next((s for s in self.special if s == word), "") for word in (self.messages, "generic"))
        loop = f"open loop, {self.arrivals} arrivals, {self.at_limit} at the limit" if self.open else ""
        return ", ".join(filter(None, (f"{holder} messages" * bool(holder), f"{stub} stub" * bool(stub), loop)))


def load(path: Path) -> Document:
    """Raises BadDocument."""
    return parse(read_bytes(path), one_line(str(path)))


def parse(data: bytes, name: str) -> Document:
    """Raises BadDocument."""
    try:
        found = decode(data, name)
        if isinstance(found, dict) and BILL in found:
            raise BadDocument(f"{name}: a bill of cqbench cost, not a result: keep bills outside of folders of results")
        return _document(found, name)
    except _Wrong as wrong:
        raise BadDocument(f"{name}: not a result of this grpc_ping_client (or of an older one): {wrong}") from None


class _Wrong(ValueError):
    """The text says what and where."""


def _member(data: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
    if not isinstance(data, dict):
        raise _Wrong(f"{where} is not an object")
    if key not in data:
        raise _Wrong(f"{where} has no '{key}'")
    if not isinstance(data[key], kind):
        raise _Wrong(f"'{key}' in {where} has the wrong type")
    return data[key]


def _document(data: Any, name: str) -> Document:
    context = {k: v for k, v in _member(data, "context", dict, "the file").items() if v is not None}
    version = _version(context, name)
    _member(context, "cqbench_version", str, "context")
    told = context if version >= 3 else _newer_context(context)
    _member(data, "benchmarks", list, "the file")
    points = [_point(entry, place, i, version, told.get("loop")) for place, i, entry in _entries(data)]
    try:
        more = {"path": name, "points": points, "baselines": data.get("baselines", []), "context": context}
        more["found_rate"] = data.get("find_rate")
        return Document.model_validate({**told, **more})
    except ValidationError as error:
        raise _Wrong(complaint(error, ["context"])) from None


def _version(context: dict[str, Any], name: str) -> int:
    version = context.get("schema_version", 1)
    if type(version) is not int or not 0 < version < 2**63:
        raise _Wrong("'schema_version' in context is not the number of a version")
    if version > SCHEMA_VERSION:
        raise BadDocument(
            f"{name}: schema_version {version} is newer than {SCHEMA_VERSION}, which this version of cqbench reads"
        )
    return version


def _newer_context(context: dict[str, Any]) -> dict[str, Any]:
    """Of versions 1 and 2 in the words of 3."""
    told = {**context, "method": _member(context, "mode", str, "context"), "loop": CLOSED}
    policy = told.get("channel_policy")
    told["channel_policy"] = OLD_POLICIES.get(policy, policy) if isinstance(policy, str) else policy
    return _newer_reasons(told)


def _newer_reasons(told: dict[str, Any]) -> dict[str, Any]:
    """Doubts and limits were sentences in one list."""
    said = told.get("suspect") or []
    if not isinstance(said, list):
        return told
    doubts, limits = reasons.of_old(one_line(str(text)) for text in said)
    return {**told, "suspect": reasons.as_json(doubts), "limits": reasons.as_json(limits)}


def _entries(data: dict[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Where it is in the file, and what it says."""
    # Points that measured nothing have a list of their own: Google Benchmark's reader wants a time in every benchmark.
    for place in ("benchmarks", "not_measured"):
        for i, entry in enumerate(_member(data, place, list, "the file") if data.get(place) is not None else ()):
            # Aggregates repeat what the repetitions say.
            if _member(entry, "run_type", str, f"{place}[{i}]") == "iteration":
                yield place, i, entry


def _point(entry: dict[str, Any], place: str, i: int, version: int, loop: Any) -> Measured:
    told = entry if version >= 3 else _newer_reasons(entry)
    if loop == OPEN:
        _member(told, "rate_asked_per_second", (int, float), f"{place}[{i}]")
    where = f"{place}[{i}]"
    try:
        point = Measured.model_validate({**told, "figures": _figures(told)})
    except ValidationError as error:
        raise _Wrong(complaint(error, [place, i]).replace(" in figures of ", " in ")) from None
    for key, value in point.figures.items():
        if value < 0 and key not in SIGNED:
            raise _Wrong(f"'{key}' in {where} is out of range")
    for key in SLICES:
        if getattr(point, key) and len(getattr(point, key)) != len(point.slice_completed):
            raise _Wrong(f"'{key}' in {where} is not as long as '{SLICES[0]}'")
    if any(len(counts) != len(point.slice_completed) for counts in point.slice_failed_by_code.values()):
        raise _Wrong(f"'slice_failed_by_code' in {where} is not as long as '{SLICES[0]}'")
    if point.slice_completed and point.slice_ns is None:
        raise _Wrong(f"{where} has no 'slice_ns'")
    return point


def _figures(entry: dict[str, Any]) -> dict[str, Any]:
    """The numbers that are looked at. What ought to be one is kept as it is, so that it is refused."""
    return {
        key: value
        for key, value in entry.items()
        if key.startswith(NUMBERS) and key not in NOT_FIGURES and not key.endswith("_histogram") and value is not None
    }
