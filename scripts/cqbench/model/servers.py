"""Servers' descriptions of themselves, as facts of a setting."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from cqbench.formats.text import format_cpus


def facts(context: Mapping[str, Any]) -> dict[str, str]:
    """A set: neither the order in which they were named matters nor their addresses. None without evidence."""
    servers = context.get("servers") or []
    found: dict[str, str] = {}
    for key, tell in _OF_A_SERVER.items():
        told = sorted({tell(server) for server in servers if isinstance(server, dict)} - {""})
        if told:
            found[f"server.{key}"] = "; ".join(told)
    return found


def _layout(server: Mapping[str, Any]) -> str:
    """'cq 8 x 2, 10 posted': queues x threads on each. Where the library has them to itself, the API alone."""
    words = text(server.get("api"))
    if server.get("num_cqs"):
        words += f" {server['num_cqs']} x {server.get('workers_per_cq', '?')}"
    if server.get("callbacks_per_cq"):
        words += f", {server['callbacks_per_cq']} posted"
    return words + (", spin" if server.get("poll") == "spin" else "")


def _service(server: Mapping[str, Any]) -> str:
    """'5 us constant burn', '' without: part of the work, not of how the server is laid out."""
    nanos = server.get("service_time_ns")
    how = [text(server.get(f"service_time_{key}")) for key in ("distribution", "mode")]
    return "" if nanos is None else " ".join(filter(None, [nanoseconds(nanos), *how]))


def nanoseconds(value: Any) -> str:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if value >= size:
            return f"{value / size:g} {unit}"
    return f"{value:g} ns"


def text(value: Any) -> str:
    """Returns a JSON value as text; '' for nothing."""
    if value is None or value == "" or value == {} or value == []:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(type(cpu) is int and 0 <= cpu < 2**20 for cpu in value):
        return format_cpus(tuple(value))
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _told(key: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda server: text(server.get(key))


_OF_A_SERVER: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "layout": _layout,
    "service": _service,
    "messages": lambda server: "" if server.get("messages") in (None, "reused") else text(server["messages"]),
    "channel_args": lambda server: " ".join(sorted(map(str, server.get("channel_args") or []))),
    **{
        key: _told(key)
        for key in (
            *("serializer", "compression", "write_hint"),
            *("cpus", "cpu_model", "kernel", "clock_source", "cpu_scaling_enabled"),
            *(
                "cqbench_version",
                "grpc_version",
                "grpc_link",
                "grpc_assertions",
                "build_type",
                "deadlock_detection",
                "counts_allocations",
            ),
        )
    },
}
