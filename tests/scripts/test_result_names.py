"""result.schema.json describes every key; numbers have their unit in their name, or count something."""

from __future__ import annotations

import json
import re

from result_schema import SCHEMA, Json, keys_of, places, resolve

UNITS = re.compile(
    r"_(ns|ns_per_s|bytes|share|per_second|per_rpc|per_payload_byte|per_segment_sent|per_connection|per_queue)(_(min|median|max))?$"
)
NAMED_BY_GOOGLE_BENCHMARK = {
    "num_cpus", "mhz_per_cpu", "load_avg", "family_index", "per_family_instance_index", "repetitions",
    "repetition_index", "threads", "iterations", "real_time", "cpu_time",
}  # fmt: skip
COUNTS = {  # and numbers that name something: a version, a port, a CPU, a server
    "schema_version", "inflight", "channels", "connections", "expected_connections", "completed", "failed",
    "unfinished", "count", "completed_per_slot", "channels_of_thread", "total_calls", "skip_first",
    *(f"calls_{what}" for what in ("due", "sent", "dropped", "unsent", "ok")),
    *(f"latency{part}_{what}" for part in ("", "_from_sent") for what in ("samples", "censored")),
    "bucket_completed", "bucket_failed", "schedule_seed", "stream_messages", "pacers", "largest_burst",
    "outstanding_first_half", "outstanding_second_half", "arrival_gap_variation", "arrival_gap_correlation",
    "num_cqs", "workers_per_cq", "callbacks_per_cq", "max_concurrent_streams",
    "tcp_echo_port", "cpus", "cpu", "server_rpcs", "server_posted_requests", "data_messages", "data_seed",
    *(f"breakdown_{part}_samples" for part in ("client_issue", "client_wait", "server_handling", "server_finishing")),
    *(f"breakdown_{side}_{part}_samples" for side in ("client", "server") for part in ("serialize", "parse")),
    *(f"{side}_{what}" for side in ("client", "server") for what in (
        "cores_used", "cpus_allowed", "cpus_busy", "threads", "threads_workers", "threads_library", "connections",
        "connections_with_tcp_nodelay", "bytes_received", "bytes_sent", "retransmissions",
        "minor_page_faults", "major_page_faults")), "index", "pid", "rank", "missing", "cores_used",
    "allocations", "bytes", "calls", "samples", "lost_samples", "sampled_every",
}  # fmt: skip


def is_numeric(node: Json) -> bool:
    node = resolve(node)
    types = node.get("type", [])
    if "array" in types:
        return "items" in node and is_numeric(node["items"])
    number = isinstance(node.get("const"), int) and not isinstance(node["const"], bool)
    return number or bool({"number", "integer"} & {*([types] if isinstance(types, str) else types)})


def of_each(node: Json) -> Json:
    """Returns the items' schema of a list; any other node itself."""
    return of_each(node["items"]) if node.get("type") == "array" else node


def numeric_keys() -> dict[str, list[Json]]:
    """A summary's are left out: they are in the unit of the figure. So is an interval: it is in that of its middle."""
    found: dict[str, list[Json]] = {}
    for name, part in places():
        for key, node in keys_of(part) if name != "summary" else ():
            if is_numeric(node) and not (name == "find_rate" and key in ("low", "high")):
                found.setdefault(key, []).append(node)
    return found


def test_every_number_has_its_unit_in_the_name_or_is_a_count() -> None:
    named = set(numeric_keys())
    assert {key for key in named if not UNITS.search(key)} == NAMED_BY_GOOGLE_BENCHMARK | COUNTS
    assert not {key for key in NAMED_BY_GOOGLE_BENCHMARK | COUNTS if UNITS.search(key)}


def test_a_unit_in_the_name_is_the_schemas() -> None:
    for key, nodes in numeric_keys().items():
        for node in nodes:
            kind = of_each(node).get("$ref", "").removeprefix("#/$defs/")
            assert ("_ns" in key.replace("_ns_per_s", "")) == (kind in ("nanoseconds", "offset")), key
            assert ("_share" in key) == (kind in ("share", "ratio")), key


def test_every_key_is_described() -> None:
    bare = [
        f"{key} in {name}"
        for name, part in places()
        for key, node in keys_of(part)
        if not re.fullmatch(r"\S.+[.:]", node.get("description", ""))
    ]
    bare += [name for name, part in places() if not part.get("description", "").endswith(".")]
    assert bare == []


def test_every_definition_is_there_and_used() -> None:
    used = re.findall(r'"#/\$defs/([a-z0-9_]+)"', json.dumps(SCHEMA))
    assert set(used) == set(SCHEMA["$defs"])
