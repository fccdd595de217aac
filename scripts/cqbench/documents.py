"""Reading the client's JSON files. Everything in them is checked here, once; the rest of the package trusts it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench import offered, reasons
from cqbench.json_values import Wrong, listed, one_line, optional, required
from cqbench.offered import Load
from cqbench.reasons import Reason

MAX_BYTES = 64 * 1024 * 1024
SCHEMA_VERSION = 3  # the newest that is read, result.schema.json's. Version 1 has no key for it and no evidence.
CLOSED, OPEN = "closed", "open"
OLD_POLICIES = {"per-worker": "per-slot"}  # as versions 1 and 2 call them -> as they are called now

EVIDENCE = ("client_", "server_")  # what keys of the evidence begin with
NUMBERS = (  # what keys of numbers begin with that are looked at
    *EVIDENCE,
    *("calls_", "latency_from_sent_", "latency_least_age_ns", "pacer_", "slot_wait_", "largest_burst"),
)
SLICES = (
    *("slice_completed", "slice_failed"),
    *(f"slice_latency_{what}_ns" for what in ("p50", "p99", "max")),  # 0 where no call ended
)
# Those of the evidence that are no number, nor ought to be; result.schema.json describes them.
NOT_FIGURES = tuple(f"{end}{what}" for end in EVIDENCE for what in ("cpus", "congestion_control"))
# Those that may be below 0: a sample was taken after the window had opened, or before it closed.
SIGNED = tuple(f"{end}sample_{where}_ns" for end in EVIDENCE for where in ("before", "after"))


class BadDocument(ValueError):
    """A file that is not a usable result; the text is one line that names it and says why."""


@dataclass(frozen=True)
class Measured:
    """One load of one repetition. Figures are None where nothing was measured. Latency counts from when a call was due;
    in a closed loop it was sent then.
    """

    load: Load
    inflight: int  # calls in flight; in an open loop the most that may be outstanding
    repetition: int
    throughput: float | None  # per second
    p50_ns: float | None
    p90_ns: float | None
    p99_ns: float | None
    p999_ns: float | None
    max_ns: float | None
    connections: int | None
    expected_connections: int
    completed: int
    failed: int
    partial: bool
    failure: str  # why there is nothing; empty when there is
    warnings: tuple[str, ...]
    errors: tuple[str, ...]  # "UNAVAILABLE x 3 (first message)"
    error_codes: tuple[str, ...] = ()  # of the same, "UNAVAILABLE"
    suspect: tuple[Reason, ...] = ()  # why it should not be believed; none in version 1
    limits: tuple[Reason, ...] = ()  # what it ran into; none in version 1
    sent_p50_ns: float | None = None  # latency from when a call was sent; open loop only
    sent_p99_ns: float | None = None
    schedule_hash: str = ""  # of the due times; open loop only


@dataclass(frozen=True)
class Document:
    """One run of the client."""

    path: str
    method: str
    api: str
    policy: str
    workload: str
    target: str
    grpc_version: str
    cpu_model: str  # of the client's machine; '' when it is not known
    partial: bool
    points: tuple[Measured, ...]
    suspect: tuple[Reason, ...] = ()  # what holds for every point; none in version 1
    loop: str = CLOSED
    messages: str = ""  # how they are held: "reused"; '' in older files
    stub: str = ""  # "generated"; '' in older files
    arrivals: str = ""  # "poisson"; open loop only
    at_limit: str = ""  # "queue"; open loop only

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


def read_bytes(path: Path) -> bytes:
    """Read once, so that a pipe (<(zcat ...)) does too. Raises BadDocument."""
    name = one_line(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadDocument(f"{name}: {error.strerror or error}") from None
    if len(data) > MAX_BYTES:
        raise BadDocument(f"{name}: larger than {MAX_BYTES // 2**20} MiB, not a result of grpc_ping_client")
    return data


def parse(data: bytes, name: str) -> Document:
    """Raises BadDocument."""
    return check(decode(data, name), name)


def decode(data: bytes, name: str) -> Any:
    """JSON of whatever kind. Raises BadDocument."""
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant)
    except RecursionError:
        raise BadDocument(f"{name}: nested too deeply, not a result of grpc_ping_client") from None
    except ValueError as error:
        raise BadDocument(f"{name}: not JSON: {one_line(str(error))}") from None


def check(data: Any, name: str) -> Document:
    """Of decoded JSON. Raises BadDocument; after it, context and entries can be read without looking at types."""
    try:
        return _document(data, name)
    except Wrong as wrong:
        raise BadDocument(f"{name}: not a result of this grpc_ping_client (or of an older one): {wrong}") from None


def entries(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where it is in the file, and what it says: for each of Document.points, in their order."""
    # Points that measured nothing have a list of their own: Google Benchmark's reader wants a time in every benchmark.
    for place in ("benchmarks", "not_measured"):
        for i, entry in enumerate(data.get(place) or []):
            # Aggregates repeat what the repetitions say.
            if required(entry, "run_type", str, f"{place}[{i}]") == "iteration":
                yield f"{place}[{i}]", entry


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _check_version(context: dict[str, Any], name: str) -> None:
    version = optional(context, "schema_version", int, "context")
    if version == 0:
        raise Wrong("'schema_version' in context is zero")
    if version is not None and version > SCHEMA_VERSION:
        raise BadDocument(
            f"{name}: schema_version {version} is newer than {SCHEMA_VERSION}, which this version of cqbench reads"
        )


def _document(data: Any, name: str) -> Document:
    context = required(data, "context", dict, "the file")
    _check_version(context, name)
    required(context, "cqbench_version", str, "context")
    old = (context.get("schema_version") or 1) < 3
    method = "mode" if old else "method"
    text = {
        key: one_line(required(context, key, str, "context"))
        for key in (method, "api", "channel_policy", "workload", "target", "grpc_version")
    }
    loop = CLOSED if old else required(context, "loop", str, "context")
    if loop not in (CLOSED, OPEN):
        raise Wrong(f"'loop' in context is neither {CLOSED} nor {OPEN}")
    _check_settings(context)
    required(data, "benchmarks", list, "the file")
    optional(data, "not_measured", list, "the file")
    points = [_point(entry, where, old, loop == OPEN) for where, entry in entries(data)]
    more = {
        key: one_line(optional(context, key, str, "context") or "")
        for key in ("messages", "stub", "arrivals", "at_limit")
    }
    return Document(
        name,
        text[method],
        text["api"],
        OLD_POLICIES.get(text["channel_policy"], text["channel_policy"]),
        text["workload"],
        text["target"],
        text["grpc_version"],
        one_line(optional(context, "cpu_model", str, "context") or ""),
        required(context, "partial", bool, "context"),
        tuple(points),
        _reasons(context, "context", old)[0],
        loop,
        **more,
    )


def _check_settings(context: dict[str, Any]) -> None:
    """Where and how it was measured, as far as anything but its text matters. All absent in version 1."""
    optional(context, "channel_args", dict, "context")
    listed(context, "command_line", str, "context")
    for i, server in enumerate(listed(context, "servers", dict, "context")):
        where = f"servers[{i}] of context"
        listed(server, "cpus", int, where)
        listed(server, "channel_args", str, where)
        optional(server, "service_time_ns", (int, float), where)


def _check_numbers(entry: dict[str, Any], where: str) -> None:
    for key in entry:
        if key.startswith(NUMBERS) and key not in NOT_FIGURES and not key.endswith("_histogram"):
            value = entry[key]
            signed = key in SIGNED and isinstance(value, (int, float)) and not isinstance(value, bool)
            optional({key: abs(value) if signed else value}, key, (int, float), where)


def _point(entry: dict[str, Any], where: str, old: bool, in_open_loop: bool) -> Measured:
    completed = required(entry, "completed", int, where)
    failure = one_line(optional(entry, "error_message", str, where) or "")
    if completed == 0 and not failure:
        failure = "no call succeeded"
    inflight = required(entry, "inflight", int, where)
    if inflight == 0:
        raise Wrong(f"'inflight' in {where} is zero")
    number = (int, float)
    asked = required(entry, "rate_asked_per_second", number, where) if in_open_loop else None
    if asked == 0:
        raise Wrong(f"'rate_asked_per_second' in {where} is zero")
    suspect, limits = _reasons(entry, where, old)
    throughput = required(entry, "throughput_per_second", number, where)
    _check_numbers(entry, where)
    _check_slices(entry, where)
    return Measured(
        load=offered.closed(inflight) if asked is None else offered.open_loop(float(asked)),
        inflight=inflight,
        repetition=required(entry, "repetition_index", int, where),
        throughput=float(throughput) if completed and not failure else None,
        **{
            f"{field}_ns": optional(entry, f"latency_{key}_ns", number, where)
            for field, key in (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99_9"), ("max", "max"))
        },
        connections=optional(entry, "connections", int, where),
        expected_connections=required(entry, "expected_connections", int, where),
        completed=completed,
        failed=required(entry, "failed", int, where),
        partial=required(entry, "partial", bool, where),
        failure=failure,
        warnings=tuple(one_line(str(w)) for w in required(entry, "warnings", list, where)),
        errors=tuple(_error(e, where) for e in required(entry, "errors", list, where)),
        error_codes=tuple(one_line(e["code"]) for e in entry["errors"]),
        suspect=suspect,
        limits=limits,
        **{
            f"sent_{name}_ns": optional(entry, f"latency_from_sent_{name}_ns", number, where)
            for name in ("p50", "p99")
        },
        schedule_hash=one_line(optional(entry, "schedule_hash", str, where) or ""),
    )


def _reasons(data: dict[str, Any], where: str, old: bool) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """Doubts and limits."""
    if old:
        return reasons.of_old(one_line(str(reason)) for reason in optional(data, "suspect", list, where) or [])
    return _coded(data, "suspect", where), _coded(data, "limits", where)


def _coded(data: dict[str, Any], key: str, where: str) -> tuple[Reason, ...]:
    place = f"'{key}' of {where}"
    return tuple(
        Reason(one_line(required(said, "code", str, place)), one_line(required(said, "text", str, place)))
        for said in listed(data, key, dict, where)
    )


def _check_slices(entry: dict[str, Any], where: str) -> None:
    """The time series: lists of one length."""
    found = {key: listed(entry, key, (int, float), where) for key in SLICES if entry.get(key) is not None}
    if found and not required(entry, "slice_ns", (int, float), where):
        raise Wrong(f"'slice_ns' in {where} is zero")
    for key, values in found.items():
        if len(values) != len(found.get(SLICES[0], [])):
            raise Wrong(f"'{key}' in {where} is not as long as '{SLICES[0]}'")
        for value in values:
            required({key: value}, key, (int, float), where)


def _error(entry: Any, where: str) -> str:
    place = f"errors of {where}"
    message = one_line(required(entry, "first_message", str, place))
    counted = f"{required(entry, 'code', str, place)} x {required(entry, 'count', int, place)}"
    return one_line(counted + (f" ({message})" if message else ""))
