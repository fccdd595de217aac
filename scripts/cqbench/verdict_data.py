"""Result files -> series of repetitions, paired by what they share. documents.py checks the files.

A series is one workload, mode, API, setting and way of connecting; runs that differ in a setting which the files name
(server layout, CPUs, threads, payload, gRPC version) are never put together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cqbench.comparison import SEPARATE_POLICIES, SHARED_POLICIES
from cqbench.cpus import format_cpus
from cqbench.documents import BadDocument, Measured, one_line, parse
from cqbench.documents import MAX_BYTES as MAX_FILE_BYTES
from cqbench.verdict_rules import is_doubt
from cqbench.verdict_stats import median

NOT_RESULTS = ("manifest.json",)
THREAD_FLAGS = ("--threads", "--max-async-clients", "--max-channels")


@dataclass(frozen=True, order=True)
class Setting:
    """What must be equal for two runs to be compared, beside workload and mode. Words for people; '' is not known."""

    api: str
    client: str  # threads and waiting, where they are not the default: "--threads 4, spin"
    server: str  # "cq 1 x 2, 80 posted"
    cpus: str  # "client 0, server 1"
    payload: str  # and what the server does for it: "100/100 bytes, service 5 us constant burn"
    grpc: str
    extra: str  # channel arguments, service config


@dataclass(frozen=True)
class Repetition:
    """One in-flight count of one run. figures: numbers of the evidence, by their names in the file."""

    measured: Measured
    figures: dict[str, float]

    @property
    def doubts(self) -> tuple[str, ...]:
        return tuple(reason for reason in self.measured.suspect if is_doubt(reason))


@dataclass
class Series:
    """policy: 'shared', 'separate' (a connection per worker) or 'pool:N'. spins: client, server."""

    workload: str
    mode: str
    setting: Setting
    policy: str
    spins: tuple[bool, bool] = (False, False)
    points: dict[int, list[Repetition]] = field(default_factory=dict)
    left_out: int = 0  # points cut short or with failed calls
    general_doubts: list[str] = field(default_factory=list)  # about every point
    folders: dict[str, set[str]] = field(default_factory=dict)  # policy as given -> folders it came from

    def values(self, inflight: int, name: str) -> list[float | None]:
        """A figure of each repetition at a count; '_ns' latencies by their short names: p50_ns, p99_ns."""
        return [_value(r, name) for r in self.points.get(inflight, [])]

    def middle(self, inflight: int, name: str) -> float | None:
        return median(self.values(inflight, name))

    def repetitions(self, inflight: int) -> int:
        return len(self.points.get(inflight, []))


@dataclass
class Pair:
    """Both ways of connecting in one setting. pools: those not chosen as separate, compared in the advice only."""

    shared: Series | None
    separate: Series | None
    pools: list[Series]

    @property
    def any(self) -> Series:
        found = self.shared or self.separate
        assert found is not None
        return found


def _value(repetition: Repetition, name: str) -> float | None:
    if name in ("throughput", "p50_ns", "p99_ns"):
        value = getattr(repetition.measured, name)
        return None if value is None else float(value)
    return repetition.figures.get(name)


def find_files(path: Path) -> list[Path]:
    """The result files of an experiment's folder (raw/<variant>/<NN>.json) or bench.sh's, or the file itself."""
    if not path.is_dir():
        return [path]
    raw = path / "raw"
    found = raw.glob("*/*.json") if raw.is_dir() else path.glob("*.json")
    return sorted(p for p in found if p.name not in NOT_RESULTS)


def load_series(paths: Iterable[Path]) -> list[Series]:
    """In the order in which they first appear. Raises BadDocument."""
    found: dict[tuple[str, str, Setting, str], Series] = {}
    for path in paths:
        _add(path, found)
    return list(found.values())


def _add(path: Path, found: dict[tuple[str, str, Setting, str], Series]) -> None:
    """Raises BadDocument."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise BadDocument(f"{path}: {error.strerror or error}") from None
    if len(data) > MAX_FILE_BYTES:
        raise BadDocument(f"{path}: larger than {MAX_FILE_BYTES // 2**20} MiB, not a result of grpc_ping_client")
    document = parse(data, str(path))
    raw = json.loads(data)
    context = raw["context"]
    key = (document.workload, document.mode, _setting(context), side(document.policy))
    series = found.setdefault(key, Series(*key, spins=_spins(context)))
    series.folders.setdefault(document.policy, set()).add(str(path.parent))
    series.general_doubts += [d for d in document.suspect if d not in series.general_doubts]
    # The same order as in documents.py.
    entries = [e for place in ("benchmarks", "not_measured") for e in raw.get(place) or []]
    runs = [e for e in entries if e["run_type"] == "iteration"]
    for measured, entry in zip(document.points, runs, strict=True):
        if measured.partial or measured.failure or measured.failed or measured.throughput is None:
            series.left_out += 1
            continue
        series.points.setdefault(measured.inflight, []).append(Repetition(measured, _figures(entry)))


def side(policy: str) -> str:
    """'shared', 'separate', or 'pool:N' itself: N connections are not one per worker."""
    if policy in SHARED_POLICIES:
        return "shared"
    return "separate" if policy in SEPARATE_POLICIES else policy


def _figures(entry: dict[str, Any]) -> dict[str, float]:
    """The evidence: numbers only, and none that is not a number."""
    return {
        name: float(value)
        for name, value in entry.items()
        if name.startswith(("client_", "server_"))
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
        and 0 <= value < 2**63
    }


def _servers(context: dict[str, Any]) -> list[dict[str, Any]]:
    servers = context.get("servers")
    return [s for s in servers if isinstance(s, dict)] if isinstance(servers, list) else []


def _spins(context: dict[str, Any]) -> tuple[bool, bool]:
    """A spinning thread uses its CPU whatever there is to do: its use of CPU says nothing."""
    return context.get("poll") == "spin", any(s.get("poll") == "spin" for s in _servers(context))


def _setting(context: dict[str, Any]) -> Setting:
    servers = _servers(context)
    text = {key: str(context.get(key) or "") for key in ("api", "poll", "affinity", "grpc_version", "service_config")}
    cpus = [format_cpus(tuple(c for c in s.get("cpus") or [] if isinstance(c, int))) or "?" for s in servers]
    arguments = context.get("channel_args") or {}
    echo = context.get("workload") == "echo"
    payload = f"{context.get('request_bytes', 0)}/{context.get('response_bytes', 0)} bytes" if echo else ""
    words = (
        text["api"],
        ", ".join(filter(None, [_threads(context), "spin" if text["poll"] == "spin" else ""])),
        "; ".join(dict.fromkeys(_layout(s) for s in servers)),
        f"client {text['affinity'] or '?'}" + (f", server {'; '.join(cpus)}" if servers else ""),
        ", ".join(filter(None, [payload, *dict.fromkeys(_service(s) for s in servers)])),
        text["grpc_version"],
        " ".join([*(f"{k}={v}" for k, v in sorted(dict(arguments).items())), text["service_config"]]).strip(),
    )
    return Setting(*(one_line(word) for word in words))


def _layout(server: dict[str, Any]) -> str:
    """'cq 8 x 2, 10 posted': queues x threads on each. Where the library has them to itself, the API alone."""
    text = str(server.get("api", ""))
    if server.get("num_cqs"):
        text += f" {server['num_cqs']} x {server.get('workers_per_cq', '?')}"
    if server.get("callbacks_per_cq"):
        text += f", {server['callbacks_per_cq']} posted"
    arguments = [str(a) for a in server.get("channel_args") or []]
    return ", ".join([text, *(["spin"] if server.get("poll") == "spin" else []), *arguments])


def _service(server: dict[str, Any]) -> str:
    """'service 5 us constant burn', '' without: part of the load, not of how the server is laid out."""
    nanos = server.get("service_time_ns")
    if not isinstance(nanos, (int, float)):
        return ""
    how = [str(server.get(f"service_time_{key}") or "") for key in ("distribution", "mode")]
    return " ".join(filter(None, [f"service {nanos / 1000:g} us", *how]))


def _threads(context: dict[str, Any]) -> str:
    """As the command line says: the points' thread counts depend on the calls in flight."""
    words = [str(w) for w in context.get("command_line") or []]
    given = []
    for flag in THREAD_FLAGS:
        for i, word in enumerate(words):
            if word == flag and i + 1 < len(words):
                given.append(f"{flag} {words[i + 1]}")
            elif word.startswith(flag + "="):
                given.append(word.replace("=", " ", 1))
    return " ".join(given)


def make_pairs(series: Iterable[Series]) -> list[Pair]:
    """One per workload, mode and setting. Without a connection per worker, the largest pool stands for separate."""
    groups: dict[tuple[str, str, Setting], dict[str, Series]] = {}
    for s in series:
        groups.setdefault((s.workload, s.mode, s.setting), {})[s.policy] = s
    pairs = []
    for sides in groups.values():
        shared = sides.pop("shared", None)
        pools = sorted((s for name, s in sides.items() if name != "separate"), key=lambda s: _pool_size(s.policy))
        separate = sides.get("separate") or (pools.pop() if pools else None)
        pairs.append(Pair(shared, separate, pools))
    return pairs


def _pool_size(policy: str) -> int:
    digits = policy.rpartition(":")[2]
    return int(digits) if digits.isdigit() else 0
