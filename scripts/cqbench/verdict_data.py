"""Runs -> series of repetitions, paired by what they share.

A series is one workload, method, API, setting and way of connecting; runs that differ in a setting which the files name
(server layout, CPUs, threads, payload, gRPC version) or the experiment's manifest (environment variables, a proxy) are
never put together. Names do not count: two variants that are alike in all of that, as when a thing is measured against
itself, are repetitions of one series, and the advice says that they were put together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from cqbench import verdict_scaling
from cqbench.cpus import format_cpus
from cqbench.documents import EVIDENCE, Measured, one_line
from cqbench.medians import median
from cqbench.reasons import UNKNOWN_SURROUNDINGS, Reason
from cqbench.runs import Run
from cqbench.verdict_scaling import SCALING, is_scaling

SHARED_POLICIES = ("per-slot", "shared")
SEPARATE_POLICIES = ("local-pool", "distinct-args")
THREAD_FLAGS = ("--threads", "--max-async-clients", "--max-channels")
MAX_WORDS = 400


@dataclass(frozen=True, order=True)
class Setting:
    """What must be equal for two runs to be compared, beside workload and method. Words for people; '' is not known."""

    api: str
    client: str  # threads, waiting, messages, where they are not the default: "--threads 4, spin, arena messages"
    server: str  # "cq 1 x 2, 80 posted"
    cpus: str  # "client 0, server 1"
    payload: str  # and what the server does for it: "100/100 bytes of text, service 5 us constant burn"
    grpc: str
    extra: str  # channel arguments, service config, environment variables, network: "both ends GRPC_TRACE=http"


@dataclass(frozen=True)
class Repetition:
    """One in-flight count of one run. figures: numbers of the evidence, by their names in the file."""

    measured: Measured
    figures: dict[str, float]

    @property
    def doubts(self) -> tuple[Reason, ...]:
        return self.measured.suspect


@dataclass
class Series:
    """policy: 'shared', 'separate' (a connection per slot), 'pool:N', or 'scaling:N', a shared channel that may grow
    to N connections. spins: client, server. added_rtt_ns: to each round trip, by a proxy; None without one.
    """

    workload: str
    method: str
    setting: Setting
    policy: str
    spins: tuple[bool, bool] = (False, False)
    added_rtt_ns: float | None = None
    points: dict[int, list[Repetition]] = field(default_factory=dict)
    left_out: list[Measured] = field(default_factory=list)  # points cut short, with failed calls, or without figures
    general_doubts: list[Reason] = field(default_factory=list)  # about every point
    folders: dict[str, set[str]] = field(default_factory=dict)  # policy as given -> folders it came from
    variants: set[str] = field(default_factory=set)  # of experiments; '' for runs outside of them

    def values(self, inflight: int, name: str) -> list[float | None]:
        """A figure of each repetition at a count; '_ns' latencies by their short names: p50_ns, p99_ns."""
        return [_value(r, name) for r in self.points.get(inflight, [])]

    def middle(self, inflight: int, name: str) -> float | None:
        return median(self.values(inflight, name))

    def repetitions(self, inflight: int) -> int:
        return len(self.points.get(inflight, []))

    def failed(self, inflight: int | None = None) -> list[Measured]:
        """Points left out because calls failed; of all counts by default."""
        return [m for m in self.left_out if m.failed and inflight in (None, m.inflight)]


@dataclass
class Pair:
    """Both ways of connecting in one setting. others: further ones, compared in the advice only."""

    shared: Series | None
    separate: Series | None
    others: list[Series]

    @property
    def any(self) -> Series:
        return next(iter(self.all))

    @property
    def all(self) -> list[Series]:
        return [s for s in (self.shared, self.separate, *self.others) if s is not None]


def _value(repetition: Repetition, name: str) -> float | None:
    if name in ("throughput", "p50_ns", "p99_ns"):
        value = getattr(repetition.measured, name)
        return None if value is None else float(value)
    return repetition.figures.get(name)


def load_series(runs: Iterable[Run]) -> list[Series]:
    """Of closed loops, in the order in which they first appear.

    What calls wait for is in their throughput at some number in flight; an open loop has the throughput that is asked.
    """
    found: dict[tuple[str, str, Setting, str], Series] = {}
    for run in runs:
        if not run.document.open:
            _add(run, found)
    return list(found.values())


def _add(run: Run, found: dict[tuple[str, str, Setting, str], Series]) -> None:
    document = run.document
    policy, setting = conditions(run)
    key = (document.workload, document.method, setting, policy)
    series = found.setdefault(key, Series(*key, _spins(run.context), run.surroundings.added_rtt_ns))
    series.folders.setdefault(document.policy, set()).add(str(run.path.parent))
    series.variants.add(run.variant)
    series.general_doubts += [d for d in _general_doubts(run) if d not in series.general_doubts]
    for measured, entry in run.points():
        if measured.partial or measured.failure or measured.failed or measured.throughput is None:
            series.left_out.append(measured)
            continue
        series.points.setdefault(measured.inflight, []).append(Repetition(measured, _figures(entry)))


def open_loops(runs: Iterable[Run]) -> list[str]:
    """Their series by name, each once: what load_series() leaves out."""
    return list(dict.fromkeys(_open_name(run) for run in runs if run.document.open))


def _open_name(run: Run) -> str:
    d = run.document
    return run.variant or "/".join((d.workload, d.method, d.api, d.policy, *d.special))


def _general_doubts(run: Run) -> list[Reason]:
    problem = run.surroundings.problem
    ours = [Reason(UNKNOWN_SURROUNDINGS, f"environment and network are not known: {problem}")] if problem else []
    return [*run.document.suspect, *ours]


def conditions(run: Run) -> tuple[str, Setting]:
    """The way of connecting, as Series.policy, and the setting.

    A channel that scales is another way to connect in the setting of one that does not: what asks for it is in the
    first and not in the second.
    """
    policy = side(run.document.policy)
    most = verdict_scaling.most_connections(run.context) if policy == "shared" else None
    if most is None:
        return policy, _setting(run, run.context, run.surroundings.environment())
    environment = run.surroundings.environment(client_without=(verdict_scaling.VARIABLE,))
    return f"{SCALING}:{most}", _setting(run, verdict_scaling.without(run.context), environment)


def side(policy: str) -> str:
    """'shared', 'separate', or 'pool:N' itself: N connections are not one per slot."""
    if policy in SHARED_POLICIES:
        return "shared"
    return "separate" if policy in SEPARATE_POLICIES else policy


def _figures(entry: dict[str, Any]) -> dict[str, float]:
    """The numbers of the evidence."""
    return {
        name: float(value)
        for name, value in entry.items()
        if name.startswith(EVIDENCE) and isinstance(value, (int, float))
    }


def _servers(context: dict[str, Any]) -> list[dict[str, Any]]:
    """Absent in version 1, empty with --no-evidence."""
    return context.get("servers") or []


def _spins(context: dict[str, Any]) -> tuple[bool, bool]:
    """A spinning thread uses its CPU whatever there is to do: its use of CPU says nothing."""
    return context.get("poll") == "spin", any(s.get("poll") == "spin" for s in _servers(context))


def _setting(run: Run, context: dict[str, Any], environment: str) -> Setting:
    """context: the run's without what is said elsewhere."""
    servers = _servers(context)
    text = {key: str(context.get(key) or "") for key in ("api", "poll", "affinity", "grpc_version", "service_config")}
    cpus = [format_cpus(tuple(s.get("cpus") or [])) or "?" for s in servers]
    arguments = context.get("channel_args") or {}
    configured = " ".join([*(f"{k}={v}" for k, v in sorted(arguments.items())), text["service_config"]]).strip()
    words = (
        text["api"],
        ", ".join(filter(None, [_threads(context), "spin" if text["poll"] == "spin" else "", run.document.how])),
        "; ".join(dict.fromkeys(_layout(s) for s in servers)),
        f"client {text['affinity'] or '?'}" + (f", server {'; '.join(cpus)}" if servers else ""),
        ", ".join(filter(None, [*_payload(context), *dict.fromkeys(_service(s) for s in servers)])),
        text["grpc_version"],
        ", ".join(filter(None, [run.surroundings.network(), environment, configured])),
    )
    return Setting(*map(_cut, words))


def _payload(context: dict[str, Any]) -> list[str]:
    """'100/100 bytes of text', '16 messages a call'; nothing for a method that has neither."""
    echo = context.get("workload") == "echo"
    kind = str(context.get("payload") or "")
    of = f" of {kind}" if kind not in ("", "zero") else ""
    messages = context.get("stream_messages")
    return [
        f"{context.get('request_bytes', 0)}/{context.get('response_bytes', 0)} bytes{of}" if echo else "",
        f"{messages} messages a call" if messages else "",
    ]


def _cut(text: str) -> str:
    """One printable line. What differs behind its end still differs."""
    whole = one_line(text, len(text))
    return whole if len(whole) <= MAX_WORDS else f"{one_line(whole, MAX_WORDS)} {crc32(whole.encode()):08x}"


def _layout(server: dict[str, Any]) -> str:
    """'cq 8 x 2, 10 posted': queues x threads on each. Where the library has them to itself, the API alone."""
    text = str(server.get("api", ""))
    if server.get("num_cqs"):
        text += f" {server['num_cqs']} x {server.get('workers_per_cq', '?')}"
    if server.get("callbacks_per_cq"):
        text += f", {server['callbacks_per_cq']} posted"
    messages = server.get("messages") or "reused"
    more = ["spin"] if server.get("poll") == "spin" else []
    more += [f"{messages} messages"] if messages != "reused" and text != "generic" else []
    return ", ".join([text, *more, *(server.get("channel_args") or [])])


def _service(server: dict[str, Any]) -> str:
    """'service 5 us constant burn', '' without: part of the load, not of how the server is laid out."""
    nanos = server.get("service_time_ns")
    if nanos is None:
        return ""
    how = [str(server.get(f"service_time_{key}") or "") for key in ("distribution", "mode")]
    return " ".join(filter(None, [f"service {nanos / 1000:g} us", *how]))


def _threads(context: dict[str, Any]) -> str:
    """As the command line says: the points' thread counts depend on the calls in flight."""
    words = context.get("command_line") or []
    given = []
    for flag in THREAD_FLAGS:
        for i, word in enumerate(words):
            if word == flag and i + 1 < len(words):
                given.append(f"{flag} {words[i + 1]}")
            elif word.startswith(flag + "="):
                given.append(word.replace("=", " ", 1))
    return " ".join(given)


def make_pairs(series: Iterable[Series]) -> list[Pair]:
    """One per workload, method and setting. Without a connection per slot, the largest pool stands for separate.

    A channel that scales does not: below the server's limit of streams it has a single connection like the shared one.
    """
    groups: dict[tuple[str, str, Setting], dict[str, Series]] = {}
    for s in series:
        groups.setdefault((s.workload, s.method, s.setting), {})[s.policy] = s
    pairs = []
    for sides in groups.values():
        shared, separate = sides.pop("shared", None), sides.pop("separate", None)
        others = sorted(sides.values(), key=lambda s: _size(s.policy))
        pools = [s for s in others if not is_scaling(s.policy)]
        separate = separate or (pools.pop() if pools else None)
        pairs.append(Pair(shared, separate, [*pools, *(s for s in others if is_scaling(s.policy))]))
    return pairs


def _size(policy: str) -> int:
    """Of a pool or of what a channel scales to."""
    digits = policy.rpartition(":")[2]
    return int(digits) if digits.isdigit() else 0
