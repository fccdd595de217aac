"""Reading the client's JSON files. Everything in them is checked here, once; the rest of the package trusts it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_BYTES = 64 * 1024 * 1024
MAX_MESSAGE = 160
SCHEMA_VERSION = 2  # the newest that is read, result.schema.json's. Version 1 has no key for it and no evidence.

EVIDENCE = ("client_", "server_")  # what keys of the evidence begin with
# Those of the evidence that are no number, nor ought to be; result.schema.json describes them.
NOT_FIGURES = tuple(f"{end}{what}" for end in EVIDENCE for what in ("cpus", "congestion_control"))


class BadDocument(ValueError):
    """A file that is not a usable result; the text is one line that names it and says why."""


@dataclass(frozen=True)
class Measured:
    """One in-flight count of one repetition. Figures are None where nothing was measured."""

    inflight: int
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
    suspect: tuple[str, ...] = ()  # why it should not be believed, or not be read as it stands; none in version 1


@dataclass(frozen=True)
class Document:
    """One run of the client."""

    path: str
    mode: str
    api: str
    policy: str
    workload: str
    target: str
    grpc_version: str
    cpu_model: str  # of the client's machine; '' when it is not known
    partial: bool
    points: tuple[Measured, ...]
    suspect: tuple[str, ...] = ()  # what holds for every point; none in version 1


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
    except _Wrong as wrong:
        raise BadDocument(f"{name}: not a result of this grpc_ping_client (or of an older one): {wrong}") from None


def entries(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where it is in the file, and what it says: for each of Document.points, in their order."""
    # Points that measured nothing have a list of their own: Google Benchmark's reader wants a time in every benchmark.
    for place in ("benchmarks", "not_measured"):
        for i, entry in enumerate(data.get(place) or []):
            # Aggregates repeat what the repetitions say.
            if _get(entry, "run_type", str, f"{place}[{i}]") == "iteration":
                yield f"{place}[{i}]", entry


def one_line(text: str, limit: int = MAX_MESSAGE) -> str:
    """Printable and short: messages come from the network and go to a terminal."""
    clean = "".join(c if c.isprintable() else " " for c in text).strip()
    return clean if len(clean) <= limit else clean[: limit - 3] + "..."


class _Wrong(ValueError):
    pass


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")


def _get(data: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
    """The value of a required key. A bool is not a number here."""
    if not isinstance(data, dict):
        raise _Wrong(f"{where} is not an object")
    if key not in data:
        raise _Wrong(f"{where} has no '{key}'")
    value = data[key]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _Wrong(f"'{key}' in {where} has the wrong type")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_number(value, key, where)
    return value


def _check_number(value: float, key: str, where: str) -> None:
    # Integers are compared, not converted: a huge one does not fit a float.
    if not 0 <= value < 2**63 or (isinstance(value, float) and not math.isfinite(value)):
        raise _Wrong(f"'{key}' in {where} is out of range")


def _optional(data: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
    return _get(data, key, kind, where) if data.get(key) is not None else None


def _check_version(context: dict[str, Any], name: str) -> None:
    version = _optional(context, "schema_version", int, "context")
    if version == 0:
        raise _Wrong("'schema_version' in context is zero")
    if version is not None and version > SCHEMA_VERSION:
        raise BadDocument(
            f"{name}: schema_version {version} is newer than {SCHEMA_VERSION}, which this version of cqbench reads"
        )


def _document(data: Any, name: str) -> Document:
    context = _get(data, "context", dict, "the file")
    _check_version(context, name)
    _get(context, "cqbench_version", str, "context")
    text = {
        key: one_line(_get(context, key, str, "context"))
        for key in ("mode", "api", "channel_policy", "workload", "target", "grpc_version")
    }
    _check_settings(context)
    _get(data, "benchmarks", list, "the file")
    _optional(data, "not_measured", list, "the file")
    points = [_point(entry, where) for where, entry in entries(data)]
    return Document(
        name,
        text["mode"],
        text["api"],
        text["channel_policy"],
        text["workload"],
        text["target"],
        text["grpc_version"],
        one_line(_optional(context, "cpu_model", str, "context") or ""),
        _get(context, "partial", bool, "context"),
        tuple(points),
        _suspect(context, "context"),
    )


def _check_settings(context: dict[str, Any]) -> None:
    """Where and how it was measured, as far as anything but its text matters. All absent in version 1."""
    _optional(context, "channel_args", dict, "context")
    _list(context, "command_line", str, "context")
    for i, server in enumerate(_list(context, "servers", dict, "context")):
        where = f"servers[{i}] of context"
        _list(server, "cpus", int, where)
        _list(server, "channel_args", str, where)
        _optional(server, "service_time_ns", (int, float), where)


def _list(data: dict[str, Any], key: str, kind: type, where: str) -> list[Any]:
    """Empty when it is absent."""
    items: list[Any] = _optional(data, key, list, where) or []
    if not all(isinstance(item, kind) and not isinstance(item, bool) for item in items):
        raise _Wrong(f"'{key}' in {where} has an item of the wrong type")
    return items


def _check_evidence(entry: dict[str, Any], where: str) -> None:
    for key in entry:
        if key.startswith(EVIDENCE) and key not in NOT_FIGURES:
            _optional(entry, key, (int, float), where)


def _point(entry: dict[str, Any], where: str) -> Measured:
    completed = _get(entry, "completed", int, where)
    failure = one_line(_optional(entry, "error_message", str, where) or "")
    if completed == 0 and not failure:
        failure = "no call succeeded"
    inflight = _get(entry, "inflight", int, where)
    if inflight == 0:
        raise _Wrong(f"'inflight' in {where} is zero")
    number = (int, float)
    throughput = _get(entry, "throughput_per_second", number, where)
    _check_evidence(entry, where)
    return Measured(
        inflight=inflight,
        repetition=_get(entry, "repetition_index", int, where),
        throughput=float(throughput) if completed and not failure else None,
        **{
            f"{field}_ns": _optional(entry, f"latency_{key}_ns", number, where)
            for field, key in (("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p999", "p99_9"), ("max", "max"))
        },
        connections=_optional(entry, "connections", int, where),
        expected_connections=_get(entry, "expected_connections", int, where),
        completed=completed,
        failed=_get(entry, "failed", int, where),
        partial=_get(entry, "partial", bool, where),
        failure=failure,
        warnings=tuple(one_line(str(w)) for w in _get(entry, "warnings", list, where)),
        errors=tuple(_error(e, where) for e in _get(entry, "errors", list, where)),
        suspect=_suspect(entry, where),
    )


def _suspect(data: dict[str, Any], where: str) -> tuple[str, ...]:
    return tuple(one_line(str(reason)) for reason in _optional(data, "suspect", list, where) or [])


def _error(entry: Any, where: str) -> str:
    place = f"errors of {where}"
    message = one_line(_get(entry, "first_message", str, place))
    return one_line(
        f"{_get(entry, 'code', str, place)} x {_get(entry, 'count', int, place)}" + (f" ({message})" if message else "")
    )
