"""Evidence of several clients as that of one: what is a sum is added, what is an extreme stays one, what is a quotient
is made again from its parts. What cannot be made from the files is left out, by name.

The server's side comes from the one rank that asked it; only what is per call is made again, with the calls of all.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

Json = dict[str, Any]
Combine = Callable[[Sequence[float]], float]

SUMS = re.compile(
    r"client_(connect_cpu_ns|cpu_(user|system|workers|library|other_threads)_ns|cores_used|threads(_workers|_library)?|(peak_)?rss_bytes"
    r"|(minor|major)_page_faults|connections(_with_tcp_nodelay)?|bytes_(sent|received)|retransmissions)"
    r"|chunks_per_second|payload_bytes_(asked_)?per_second|pacers|outstanding_(first|second)_half"
)
LEAST = re.compile(r"client_.*_min")
GREATEST = re.compile(
    r"client_.*_max|client_busiest_worker_share|client_sample_(before|after)_ns|client_connect_ns|chunk_gap_max_ns"
    r"|pacer_(lateness_max|margin)_ns|slot_wait_max_ns|largest_burst"
)
PER_RPC = re.compile(r"(client|server)_(in)?voluntary_context_switches_per_rpc")
# Over connections: of up to three, least, middle and greatest are all there is. Idle time has fewer values where a
# connection sent nothing.
MEDIAN = re.compile(r"client_(?!connection_idle).*_median")
IDLE = re.compile(r"client_connection_idle.*_median")
# Of the server, per call of the client that asked.
SERVER_PER_RPC = re.compile(r"server_((in)?voluntary_context_switches_per_rpc|rpcs_per_segment_sent|cpu_per_rpc_ns)")
OTHERS = re.compile(r"client_|chunk|payload_|pacer|slot_wait|outstanding|breakdown_|arrival_|largest_burst")
KEYS = 4096  # many ranks have the same ones
# Handled elsewhere, or no figures.
NOT_HERE = re.compile(r".*_histogram|client_cpus|client_congestion_control|client_cpus_(allowed|busy)|server_cpus")


def number(value: float) -> float | int:
    """As the client's JsonNumber()."""
    if abs(value) >= 1000 or value == math.floor(value):
        return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)
    return value


def merged(points: Sequence[Json]) -> tuple[Json, list[str]]:
    """Of the ranks' points, in their order: figures, and the names of those that cannot be merged."""
    completed = sum(p["completed"] for p in points)
    found: Json = {}
    absent = []
    for key in dict.fromkeys(key for p in points for key in p if _is_figure(key)):
        values = [p.get(key) for p in points]
        told = [v for v in values if v is not None]
        rule = _rule(key)
        if rule is None or len(told) < len(values):
            absent.append(key)
        else:
            found[key] = number(rule(told))
    found |= _quotients(points, found, completed)
    found |= _medians(points)
    found |= _server(points, completed)
    return found, sorted(set(absent) - set(found))


@lru_cache(KEYS)
def _is_figure(key: str) -> bool:
    return bool(OTHERS.match(key)) and not NOT_HERE.fullmatch(key) and not key.startswith("breakdown_server")


@lru_cache(KEYS)
def _rule(key: str) -> Combine | None:
    for pattern, rule in ((SUMS, sum), (LEAST, min), (GREATEST, max)):
        if pattern.fullmatch(key):
            return rule
    return None


def _quotients(points: Sequence[Json], found: Json, completed: int) -> Json:
    """What is made again of what was added up."""
    more: Json = {}
    if not completed:
        return more
    if "client_cpu_user_ns" in found and "client_cpu_system_ns" in found and "client_cores_used" in found:
        spent = found["client_cpu_user_ns"] + found["client_cpu_system_ns"]
        more["client_cpu_per_rpc_ns"] = number(spent / completed)
    for key in ("client_voluntary_context_switches_per_rpc", "client_involuntary_context_switches_per_rpc"):
        if all(key in p for p in points if p["completed"]):
            more[key] = number(sum(p.get(key, 0) * p["completed"] for p in points) / completed)
    segments = [p["completed"] / p["client_rpcs_per_segment_sent"] for p in points if _sent(p)]
    if len(segments) == len(points):
        more["client_rpcs_per_segment_sent"] = number(completed / sum(segments))
    more |= _bytes(points, found, completed)
    workers = [p.get("client_threads_workers") for p in points]
    if all(workers) and all("client_workers_busy_share" in p for p in points):
        busy = sum(p["client_workers_busy_share"] * n for p, n in zip(points, workers, strict=True))
        more["client_workers_busy_share"] = number(busy / sum(n for n in workers if n))
    return more


def _bytes(points: Sequence[Json], found: Json, completed: int) -> Json:
    """On the wire by call, and by byte of payload."""
    more: Json = {}
    for name in ("client_bytes_sent", "client_bytes_received"):
        if name not in found:
            continue
        more[f"{name}_per_rpc"] = number(found[name] / completed)
        if all(p.get(f"{name}_per_payload_byte") for p in points):
            payload = sum(p[name] / p[f"{name}_per_payload_byte"] for p in points)
            more[f"{name}_per_payload_byte"] = number(found[name] / payload)
    return more


def _sent(point: Json) -> bool:
    return bool(point.get("client_rpcs_per_segment_sent"))


def _medians(points: Sequence[Json]) -> Json:
    """Over all connections, where the files have every one's value."""
    counts = [p.get("client_connections") for p in points]
    more: Json = {}
    for key in points[0]:
        most = 3 if MEDIAN.fullmatch(key) else 1 if IDLE.fullmatch(key) else 0
        if all(n is not None and 0 < n <= most for n in counts) and all(key in p for p in points):
            values = [v for p, n in zip(points, counts, strict=True) for v in _each(p, key, n or 0)]
            more[key] = number(statistics.median(values))
    return more


def _each(point: Json, key: str, connections: int) -> list[float]:
    ends = {1: ("median",), 2: ("min", "max"), 3: ("min", "median", "max")}[connections]
    return [point[f"{key.removesuffix('median')}{end}"] for end in ends]


def _server(points: Sequence[Json], completed: int) -> Json:
    """Of the first rank that has them."""
    asked = next((p for p in points if any(key.startswith("server_") for key in p)), None)
    if asked is None:
        return {}
    found: Json = {k: v for k, v in asked.items() if k.startswith(("server_", "breakdown_server_"))}
    spent = found.get("server_cpu_user_ns", 0) + found.get("server_cpu_system_ns", 0)
    each = found.get("server_cpu_per_rpc_ns")
    calls = spent / each if each else asked["completed"]  # by which that rank divided
    for key in [key for key in found if SERVER_PER_RPC.fullmatch(key)]:
        del found[key]
        if key == "server_cpu_per_rpc_ns":
            if completed:
                found[key] = number(spent / completed)
        elif completed and calls:
            scale = calls / completed if key.endswith("_per_rpc") else completed / calls
            found[key] = number(asked[key] * scale)
    return found


def cpus(points: Sequence[Json], hosts: Sequence[str]) -> Json:
    """client_cpus over all machines, those of the second from 100000 on, and how many there are and were busy.

    Absent where a rank does not have them. Ranks of one machine say the same of the CPUs that they share.
    """
    each = [p.get("client_cpus") for p in points]
    if not all(each):
        return {}
    seen: dict[int, Json] = {}
    places = {host: 100_000 * i for i, host in enumerate(dict.fromkeys(hosts))}
    for host, cpu in _cpus(each, hosts):
        seen.setdefault(cpu["cpu"] + places[host], {**cpu, "cpu": cpu["cpu"] + places[host]})
    listed = [seen[number] for number in sorted(seen)]
    busy = sum(cpu["busy_share"] for cpu in listed)
    return {"client_cpus": listed, "client_cpus_allowed": len(listed), "client_cpus_busy": number(busy)}


def _cpus(each: Sequence[Any], hosts: Sequence[str]) -> Iterator[tuple[str, Json]]:
    for host, found in zip(hosts, each, strict=True):
        yield from ((host, cpu) for cpu in found)
