"""Rank files -> one result of all of them, as the client would have written it had it made all calls itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cqbench.files.ranks import Rank
from cqbench.files.source import BadDocument
from cqbench.ranks import doubts, figures, latencies
from cqbench.ranks.members import COUNTS, SHARES, Key, Member
from cqbench.report.hgrm import BadHistogram

Json = dict[str, Any]

NANOS = 1_000_000_000.0
# Google Benchmark's keys and others that are the same for all ranks.
SAME = ("family_index", "per_family_instance_index", "run_type", "repetitions", "repetition_index", "time_unit")
STATUSES = (
    *("CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS"),
    *("PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED"),
    *("INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED", "BAD_RESPONSE"),
)


def merge(members: Sequence[Member], cpus: Sequence[str] = ()) -> Json:
    """members: of load(). cpus: of each rank, those that it was pinned to, '' where it was not; empty: not known.

    Raises BadDocument.
    """
    points = [_point(members, key, cpus) for key in sorted({key for member in members for key in member.points})]
    return {
        "context": _context(members, points),
        "benchmarks": [point for point in points if point["completed"]],
        "not_measured": [point for point in points if not point["completed"]],
    }


def _context(members: Sequence[Member], points: Sequence[Json]) -> Json:
    """That of the first rank, with what any of them says of the run."""
    context = dict(members[0].context)
    asked: list[Json] = next((m.context["servers"] for m in members if m.context.get("servers")), [])
    notes = list(dict.fromkeys(note for m in members for note in m.context.get("notes", [])))
    extras = sorted({key for m in members for key in m.extras})
    if extras:
        notes.append(f"not merged, because each rank has its own: {', '.join(extras)}")
    said = {(r["code"], r["text"]): r for m in members for r in m.context.get("suspect", [])}
    shares = {key: sum(m.context.get(key, 0) for m in members) for key in SHARES if key in context}
    partial = any(m.context["partial"] for m in members) or any(p["partial"] for p in points)
    return {**context, **shares, "servers": asked, "suspect": list(said.values()), "notes": notes, "partial": partial}


def _point(members: Sequence[Member], key: Key, cpus: Sequence[str]) -> Json:
    told = [m for m in members if key in m.points]
    # A rank that never began is as good as missing, and says why.
    there = [m for m in told if m.points[key]["window_ns"]] or told
    points = [m.points[key] for m in there]
    windows = [m.window(key) for m in there]
    found: Json = {name: points[0][name] for name in SAME if name in points[0]}
    found |= _load(points)
    found["name"] = found["run_name"] = _name(points[0]["name"], found)
    found |= _counts(points)
    found |= _latencies(there, points)
    found |= _lists(points)
    found |= _slices(points)
    numbers, absent = figures.merged(points)
    found |= numbers
    found |= figures.cpus(points, [w.host for w in windows])
    found |= _facts(points)
    found |= _times(found)
    missing = sorted(set(range(members[0].rank.count)) - {w.index for w in windows})
    found["partial"] = bool(missing) or any(p["partial"] for p in points)
    idle = [m for m in told if m not in there]
    found["notes"] = [*_notes(points, [name for name in absent if name not in found]), *_silent(idle, key)]
    found |= _judged(points, windows, missing, found, _counted(members[0].context))
    found["suspect"] += doubts.elsewhere(windows, cpus)
    return found


def _load(points: Sequence[Json]) -> Json:
    """Rates that were cut into parts add up to the one that was asked for, but for their rounding."""
    load: Json = {"inflight": sum(p["inflight"] for p in points)}
    rates = [p["rate_asked_per_second"] for p in points if "rate_asked_per_second" in p]
    if rates:
        load["rate_asked_per_second"] = _whole(float(f"{sum(rates):.12g}"))
    return load


def _name(name: str, load: Json) -> str:
    series = name.rpartition("/")[0]
    rate = load.get("rate_asked_per_second")
    return f"{series}/inflight:{load['inflight']}" if rate is None else f"{series}/rate:{rate:.10g}"


def _counts(points: Sequence[Json]) -> Json:
    found: Json = {key: sum(p[key] for p in points) for key in COUNTS}
    for key in ("threads", "channels", "expected_connections"):
        found[key] = sum(p.get(key, 0) for p in points)
    connections = [p.get("connections") for p in points]
    found["connections"] = None if None in connections else sum(c for c in connections if c is not None)
    found["iterations"] = found["completed"]
    # Each rank counts the calls of the announced window by their own times; where it was cut short, the longest.
    found["window_ns"] = max(p["window_ns"] for p in points)
    found["throughput_per_second"] = _rate(found["completed"], found["window_ns"])
    found["start_time"] = min(p["start_time"] for p in points)
    return found


def _rate(completed: int, window_ns: int) -> float:
    """As ThroughputPerSecond() in src/result/result.cc."""
    return float(completed) / (float(window_ns) / NANOS) if window_ns else 0.0


def _times(found: Json) -> Json:
    """Google Benchmark's."""
    completed = found["completed"]
    if not completed:
        return {}
    times: Json = {"real_time": float(found["window_ns"]) / float(completed)}
    if "client_cpu_user_ns" in found and "client_cpu_system_ns" in found:
        times["cpu_time"] = (found["client_cpu_user_ns"] + found["client_cpu_system_ns"]) / completed
    return times


def _latencies(members: Sequence[Member], points: Sequence[Json]) -> Json:
    found: Json = {}
    for prefix in ("latency_", "latency_from_sent_"):
        parts = []
        for member, point in zip(members, points, strict=True):
            try:
                part = latencies.of_point(point, prefix)
            except BadHistogram as error:
                raise BadDocument(f"{member.path}: '{prefix}histogram' cannot be merged: {error}") from None
            if part:
                parts.append(part)
        if parts:
            found |= latencies.figures(latencies.merged(parts), prefix)
    return found


def _lists(points: Sequence[Json]) -> Json:
    """One after the other; channels are counted on."""
    channels, before = [], 0
    for point in points:
        channels += [[number + before for number in each] for each in point.get("channels_of_thread", [])]
        before += point.get("channels", 0)
    return {
        "errors": _errors(points),
        "warnings": [w["text"] for w in _collected_texts(points, "warnings")],
        "completed_per_slot": [count for p in points for count in p.get("completed_per_slot", [])],
        "channels_of_thread": channels,
    }


def _errors(points: Sequence[Json]) -> list[Json]:
    """By status code, most frequent first; of each the first rank's message."""
    found: dict[str, Json] = {}
    for error in (error for p in points for error in p["errors"]):
        first = found.setdefault(error["code"], {**error, "count": 0})
        first["count"] += error["count"]
    known = sorted(found.values(), key=lambda e: STATUSES.index(e["code"]) if e["code"] in STATUSES else len(STATUSES))
    return sorted(known, key=lambda e: -e["count"])


def _collected_texts(points: Sequence[Json], key: str) -> list[Json]:
    """Texts without a code, as if they had one."""
    coded = [{key: [{"code": "", "text": text} for text in p.get(key, [])]} for p in points]
    return doubts.collected(coded, [p["rank"]["index"] for p in points], key)


def _slices(points: Sequence[Json]) -> Json:
    """Without percentiles, which have no histogram in the files. Nothing where the ranks' slices are not the same."""
    if not all("slice_ns" in p for p in points):
        return {}
    if len({(p["slice_ns"], len(p["slice_completed"])) for p in points}) > 1:
        return {}

    def each(key: str) -> Iterable[tuple[int, ...]]:
        return zip(*(p[key] for p in points), strict=True)

    return {
        "slice_ns": points[0]["slice_ns"],
        "slice_completed": [sum(values) for values in each("slice_completed")],
        "slice_failed": [sum(values) for values in each("slice_failed")],
        **_by_code(points),
        "slice_latency_max_ns": [max(values) for values in each("slice_latency_max_ns")],
    }


def _by_code(points: Sequence[Json]) -> Json:
    """Of codes that occurred at any rank; nothing where a rank's client is too old to say it."""
    key = "slice_failed_by_code"
    if not all(key in p for p in points):
        return {}
    none = [0] * len(points[0]["slice_completed"])
    codes = sorted({code for p in points for code in p[key]})
    return {
        key: {
            code: [sum(values) for values in zip(*(p[key].get(code, none) for p in points), strict=True)]
            for code in codes
        }
    }


def _facts(points: Sequence[Json]) -> Json:
    found: Json = {}
    hashes = [p["schedule_hash"] for p in points if "schedule_hash" in p]
    if hashes:
        together = 0
        for one in hashes:
            together ^= int(one, 16)
        found["schedule_hash"] = f"{together:016x}"
    controls = {name for p in points for name in p.get("client_congestion_control", "").split(", ") if name}
    if controls:
        found["client_congestion_control"] = ", ".join(sorted(controls))
    reasons = list(dict.fromkeys(p["error_message"] for p in points if "error_message" in p))
    if not any(p["completed"] for p in points):
        found |= {"error_occurred": True, "error_message": "; ".join(reasons) or "no call succeeded on any rank"}
    return found


def _silent(members: Sequence[Member], key: Key) -> list[str]:
    why = ((m.rank.index, m.points[key].get("error_message") or "no reason given") for m in members)
    return [f"rank {index} measured nothing: {text}" for index, text in why]


def _notes(points: Sequence[Json], absent: Sequence[str]) -> list[str]:
    notes = [n["text"] for n in _collected_texts(points, "notes")]
    dropped = [*absent, *(["slice_latency_p50_ns", "slice_latency_p99_ns"] if "slice_ns" in points[0] else [])]
    if any("objective_met" in p for p in points):
        dropped.append("objective_met")
    if dropped:
        notes.append(
            f"not in a merge of rank files, which have no histogram or raw numbers of it: {', '.join(dropped)}"
        )
    return notes


def _counted(context: Json) -> list[str]:
    """Edges of the window that a number of calls decided, in each rank by itself."""
    edges = {"skip_first": (doubts.OPENED, doubts.CLOSED), "total_calls": (doubts.CLOSED,)}
    return [edge for key, of in edges.items() if key in context for edge in of]


def _judged(
    points: Sequence[Json], windows: Sequence[Rank], missing: Sequence[int], found: Json, counted: Sequence[str]
) -> Json:
    ranks = [w.index for w in windows]
    late = doubts.stragglers(points)
    suspect = list(doubts.of_point(windows[0].count, missing, windows, points, found["window_ns"], counted))
    suspect += doubts.of_stragglers(ranks, late)
    suspect += doubts.other_client(found)
    suspect += doubts.collected(points, ranks, "suspect")
    rows = [_row(point, window, text) for point, window, text in zip(points, windows, late, strict=True)]
    return {
        "suspect": suspect,
        "limits": doubts.collected(points, ranks, "limits"),
        "ranks": {
            "count": windows[0].count,
            "missing": list(missing),
            "window_ns": found["window_ns"],
            "skew_open_ns": _whole(doubts.skew(doubts.opened(windows))),
            "skew_close_ns": _whole(doubts.skew(doubts.closed(windows))),
            "per_rank": rows,
        },
    }


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _row(point: Json, window: Rank, late: str) -> Json:
    row: Json = {
        "rank": window.index,
        "host": window.host,
        "pid": window.pid,
        "inflight": point["inflight"],
        "rate_asked_per_second": point.get("rate_asked_per_second"),
        "throughput_per_second": point["throughput_per_second"],
        "completed": point["completed"],
        "failed": point["failed"],
        "p99_ns": point.get("latency_p99_ns"),
        "cores_used": point.get("client_cores_used"),
        "cpu_per_rpc_ns": point.get("client_cpu_per_rpc_ns"),
        "cpus_allowed": window.cpus_allowed or None,
        "window_open_ns": point["rank"].get("window_open_ns"),
        "window_close_ns": point["rank"].get("window_close_ns"),
        "offset_ns": point["rank"].get("offset_ns"),
        "offset_bound_ns": point["rank"].get("offset_bound_ns"),
    }
    row = {key: value for key, value in row.items() if value is not None}
    own = doubts.own(point, "suspect") + ([{"code": doubts.STRAGGLER, "text": late}] if late else [])
    more = {"suspect": own, "limits": point["limits"], "partial": point["partial"]}
    return {**row, "connections": point.get("connections"), **more}
