"""Where and how results were measured: what must be the same for a comparison to mean anything, and what may differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cqbench.cpus import format_cpus
from cqbench.documents import CLOSED
from cqbench.surroundings import Surroundings

# Keys of the context in result.schema.json, and of its servers. The network and the environment are the manifest's.
MUST_AGREE = (
    "host_name",
    "cpu_model",
    "num_cpus",
    "affinity",
    "request_bytes",
    "response_bytes",
    "payload",
    "stream_messages",
    "messages",
    "stub",
    "loop",
    "arrivals",
    "at_limit",
    "interval_ns",
    "deadline_ns",
    "library_build_type",
)
SERVERS_MUST_AGREE = (
    "cpu_model",
    "cpus",
    "api",
    "num_cqs",
    "workers_per_cq",
    "callbacks_per_cq",
    "messages",
    "build_type",
)
MAY_DIFFER = (
    "cqbench_version",
    "grpc_version",
    "protobuf_version",
    "compiler",
    "kernel",
    "clock_source",
    "cpu_scaling_enabled",
    "deadlock_detection",
    "poll",
    "warmup_ns",
    "pace",
    "schedule_seed",
    "channel_args",
    "service_config",
)
SERVERS_MAY_DIFFER = (
    "cqbench_version",
    "grpc_version",
    "kernel",
    "clock_source",
    "cpu_scaling_enabled",
    "deadlock_detection",
    "counts_allocations",
    "poll",
    "channel_args",
)

MAX_OUTSTANDING = "max_outstanding"  # of an open loop: its points' calls in flight
# Said only by runs that have them; that neither side says anything about them is nothing to tell.
NOT_OF_ALL = ("payload", "stream_messages", "messages", "stub", "arrivals", "at_limit", MAX_OUTSTANDING)
REQUIRED = (*MUST_AGREE, MAX_OUTSTANDING, "network", *(f"servers.{key}" for key in SERVERS_MUST_AGREE))
ALLOWED = (*MAY_DIFFER, "environment", *(f"servers.{key}" for key in SERVERS_MAY_DIFFER))

Settings = dict[str, str]  # key -> value as text; without the keys that the file says nothing about


@dataclass(frozen=True)
class Difference:
    """A key with other values before than after, or with several on one side. series: where; empty: everywhere."""

    key: str
    before: str
    after: str
    series: tuple[str, ...] = ()


def settings(context: Mapping[str, Any], around: Surroundings, outstanding: Iterable[int] = ()) -> Settings:
    """Of one file, whose context has been checked. outstanding: the most there may be, of an open loop's points."""
    found = {key: _text(context[key]) for key in (*MUST_AGREE, *MAY_DIFFER) if _said(context.get(key))}
    found.setdefault("service_config", "none")
    found.setdefault("loop", CLOSED)  # older files say nothing about the only one there was
    if most := ", ".join(map(str, sorted(set(outstanding)))):
        found[MAX_OUTSTANDING] = most
    if not around.problem:
        found.update(network=around.network() or "no proxy", environment=around.environment() or "none")
    found.update(_servers(context.get("servers") or []))  # absent in version 1, empty with --no-evidence
    return found


def _servers(servers: list[dict[str, Any]]) -> Settings:
    """A set: the order in which they were named does not matter, and neither do their addresses."""
    keys = (*SERVERS_MUST_AGREE, *SERVERS_MAY_DIFFER)
    ordered = sorted(servers, key=lambda server: [_text(server.get(key)) for key in keys])
    return {
        f"servers.{key}": "; ".join(_text(server.get(key)) for server in ordered)
        for key in keys
        if any(_said(server.get(key)) for server in servers)
    }


def _said(value: Any) -> bool:
    return value is not None and value != ""


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list) and value and all(type(cpu) is int and 0 <= cpu < 2**20 for cpu in value):
        return format_cpus(tuple(value))
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def differences(
    before: Mapping[str, Iterable[Settings]], after: Mapping[str, Iterable[Settings]], keys: Iterable[str]
) -> list[Difference]:
    """before, after: series -> the settings of its files; the same series in both. In the order of the keys.

    Saying nothing about a key is no other value. Files of one side that differ from each other are a
    difference as well: they are not repetitions of the same thing.
    """
    found = []
    for key in keys:
        where: dict[tuple[str, str], list[str]] = {}
        for series in before:
            first, second = _values(before[series], key), _values(after[series], key)
            if len({*first, *second}) > 1:
                texts = " | ".join(first) or "nothing", " | ".join(second) or "nothing"
                where.setdefault(texts, []).append(series)
        for (first_text, second_text), names in where.items():
            everywhere = len(names) == len(before)
            found.append(Difference(key, first_text, second_text, () if everywhere else tuple(names)))
    return found


def unknown(
    before: Mapping[str, Iterable[Settings]], after: Mapping[str, Iterable[Settings]], keys: Iterable[str]
) -> list[str]:
    """The keys that a side says nothing about in some series; all those of the servers together are 'servers'."""
    silent = [key for key in keys if any(_silent(key, before[s], after[s]) for s in before)]
    # Servers whose library has the queues to itself have no such keys; those without evidence have none at all.
    if "servers.api" in silent:
        return [*(key for key in silent if not key.startswith("servers.")), "servers"]
    return [key for key in silent if not key.startswith("servers.")]


def _silent(key: str, before: Iterable[Settings], after: Iterable[Settings]) -> bool:
    said = [bool(_values(files, key)) for files in (before, after)]
    return not all(said) and (key not in NOT_OF_ALL or any(said))


def _values(files: Iterable[Settings], key: str) -> list[str]:
    return sorted({file[key] for file in files if key in file})
