"""The facts that must agree for runs to be repetitions of each other: the one definition of a setting.

A facet is one fact that a result, its experiment's manifest or both tell, as text; two runs are repetitions where all
facets are equal. Facets are grouped by what they are about, which says who may look past them: a comparison of two
versions looks past `software`, one of two ways to connect past `connections` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from cqbench.formats.runs import Run
from cqbench.formats.surroundings import Surroundings
from cqbench.model import scaling, servers
from cqbench.model.servers import nanoseconds, text

SHARED, SEPARATE = "shared", "separate"
SHARED_POLICIES = ("per-slot", "shared")
SEPARATE_POLICIES = ("local-pool", "distinct-args")
THREAD_FLAGS = ("--threads", "--max-async-clients", "--max-channels")


class About(str, Enum):
    """The topic of a facet."""

    WORK = "work"  # what is asked of the server and what it does for it: other work has other figures
    CONNECTIONS = "connections"
    CLIENT = "client"  # how the client is laid out and set up
    SERVER = "server"
    WINDOW = "window"  # how long, and with which limits, it was measured
    PLACE = "place"  # machine, CPUs, network
    SOFTWARE = "software"


@dataclass(frozen=True)
class Facet:
    """key: as in the result where it is there under one name. title: for people."""

    key: str
    about: About
    title: str


@dataclass(frozen=True)
class Setting:
    """facts: (key, text) in the order of FACETS; what nothing is said about is not in it."""

    facts: tuple[tuple[str, str], ...]

    def get(self, key: str, default: str = "") -> str:
        return dict(self.facts).get(key, default)

    def differences(self, other: Setting) -> list[Facet]:
        """Where one says something else than the other, or says nothing where the other does."""
        mine, its = dict(self.facts), dict(other.facts)
        return [f for f in FACETS if mine.get(f.key) != its.get(f.key)]

    def without(self, keys: Iterable[str]) -> Setting:
        dropped = set(keys)
        return Setting(tuple(fact for fact in self.facts if fact[0] not in dropped))

    def words(self, key: str, always: bool = False) -> str:
        """'gRPC 1.51.1'; '' where nothing is said about it, unless something is always to be said."""
        value, title = self.get(key), BY_KEY[key].title
        if not value:
            return f"default {title}" if always else ""
        return {"method": value, "api": f"{value} client"}.get(key, f"{title} {value}")

    @property
    def connections(self) -> str:
        """'shared', 'separate' (one for each slot), 'pool:N', or 'scaling:N', a shared channel that may grow to N."""
        return self.get("connections")


def of(run: Run) -> Setting:
    """The setting of a run."""
    context, around = run.context, run.surroundings
    most = scaling.most_connections(context) if side(run.document.policy) == SHARED else None
    policy = side(run.document.policy) if most is None else f"{scaling.SCALING}:{most}"
    told = context if most is None else scaling.without(context)
    hidden = () if most is None else (scaling.VARIABLE,)
    around_it = _around(around, hidden)
    facts = {**_own(run, told), **servers.facts(told), **around_it, "connections": policy}
    facts["ranks"] = around_it.get("ranks") or _ranks(run)
    return Setting(tuple((f.key, facts[f.key]) for f in FACETS if facts.get(f.key)))


def side(policy: str) -> str:
    """A channel policy by what it amounts to: 'shared', 'separate', or 'pool:N' itself."""
    if policy in SHARED_POLICIES:
        return SHARED
    return SEPARATE if policy in SEPARATE_POLICIES else policy


def _own(run: Run, context: Mapping[str, Any]) -> dict[str, str]:
    """Returns the client's facts about itself and about its task."""
    document = run.document
    payload = document.workload in ("echo", "blob")
    facts = {key: text(context.get(key)) for key in _FROM_CONTEXT}
    facts |= {
        "workload": document.workload,
        "method": document.method,
        "loop": document.loop,
        "api": document.api,
        "threads": _threads(document.command_line),
        "poll": "" if context.get("poll") in (None, "block") else text(context.get("poll")),
        "channel_args": " ".join(f"{k}={v}" for k, v in sorted((context.get("channel_args") or {}).items())),
        "slots": _slots(run),
        "warmup": nanoseconds(context.get("warmup_ns")),
        "interval": nanoseconds(context.get("interval_ns")),
        "deadline": nanoseconds(context.get("deadline_ns")),
    }
    if "http_version" in context:  # what the program is built with, but no call goes through
        facts |= dict.fromkeys(("grpc_version", "grpc_link", "grpc_assertions", "protobuf_version"), "")
    if document.workload != "http":  # a method's own
        facts["http_request"] = ""
    if not payload:
        facts |= {"request_bytes": "", "response_bytes": "", "payload": ""}
    return facts


def _slots(run: Run) -> str:
    """Returns an open loop's maximum number of outstanding calls."""
    return ", ".join(map(str, sorted({p.inflight for p in run.document.points if p.load.open})))


def _ranks(run: Run) -> str:
    """Outside of experiments: how many client processes a file is of; '' of one."""
    found = sorted({(p.ranks.count, len(p.ranks.hosts)) for p in run.document.points if p.ranks})
    return ", ".join(f"{count} on {hosts} machine{'s' * (hosts != 1)}" for count, hosts in found)


def _threads(words: list[str]) -> str:
    """As the command line says: the points' thread counts depend on the calls in flight."""
    given = []
    for flag in THREAD_FLAGS:
        for i, word in enumerate(words):
            if word == flag and i + 1 < len(words):
                given.append(f"{flag} {words[i + 1]}")
            elif word.startswith(flag + "="):
                given.append(word.replace("=", " ", 1))
    return " ".join(given)


def _around(around: Surroundings, hidden: tuple[str, ...]) -> dict[str, str]:
    """Returns facts that only the experiment's manifest has."""
    if around.problem:
        return {"surroundings": "not known"}
    return {
        "network": around.network(),
        "fault": around.fault.words if around.fault else "",
        "servers": str(around.servers) if around.servers > 1 else "",
        "environment": around.environment(client_without=hidden),
        "server.program": around.server_program,
        "ranks": around.ranks,
        "server.front": around.server_front,
    }


FACETS = (
    *(
        Facet(key, About.WORK, title)
        for key, title in (
            ("workload", "workload"),
            ("method", "method"),
            ("http_request", "request"),
            ("request_bytes", "request bytes"),
            ("response_bytes", "response bytes"),
            ("payload", "payload"),
            ("content", "content"),
            ("stream_messages", "messages a call"),
            ("data_messages", "requests given"),
            ("data_hash", "requests' bytes"),
            ("data_order", "order of requests"),
            ("data_seed", "seed of requests"),
            ("response_check", "check of responses"),
            ("metadata", "metadata"),
            ("generated_metadata", "generated metadata"),
            ("server.service", "service time"),
            ("loop", "loop"),
            ("arrivals", "arrivals"),
            ("at_limit", "at the limit"),
            ("slots", "most outstanding"),
        )
    ),
    *(
        Facet(key, About.CONNECTIONS, title)
        for key, title in (
            ("connections", "connections"),
            ("security", "security"),
            ("tls_version", "TLS version"),
            ("tls_cipher", "TLS cipher"),
        )
    ),
    *(
        Facet(key, About.CLIENT, title)
        for key, title in (
            ("api", "client API"),
            ("ranks", "client processes"),
            ("threads", "client threads"),
            ("poll", "client waits"),
            ("messages", "client messages"),
            ("stub", "client stub"),
            ("serializer", "client serializer"),
            ("compression", "client's compression"),
            ("write_hint", "client's write hint"),
            ("pace", "pacing"),
            ("channel_args", "channel arguments"),
            ("service_config", "service config"),
            ("wait_for_ready", "wait for ready"),
            ("environment", "environment"),
        )
    ),
    *(
        Facet(f"server.{key}", About.SERVER, title)
        for key, title in (
            ("layout", "server"),
            ("program", "server program"),
            ("front", "HTTP by"),
            ("messages", "server messages"),
            ("serializer", "server serializer"),
            ("compression", "server's compression"),
            ("write_hint", "server's write hint"),
            ("channel_args", "server's channel arguments"),
        )
    ),
    *(
        Facet(key, About.WINDOW, title)
        for key, title in (
            ("warmup", "warm-up"),
            ("interval", "interval"),
            ("total_calls", "calls of a point"),
            ("skip_first", "first calls left out"),
            ("deadline", "deadline"),
        )
    ),
    *(
        Facet(key, About.PLACE, title)
        for key, title in (
            ("host_name", "host"),
            ("cpu_model", "CPU model"),
            ("num_cpus", "CPUs"),
            ("affinity", "client CPUs"),
            ("server.cpus", "server CPUs"),
            ("server.cpu_model", "server CPU model"),
            ("network", "network"),
            ("fault", "fault"),
            ("servers", "servers"),
            ("surroundings", "environment and network"),
        )
    ),
    *(
        Facet(key, About.SOFTWARE, title)
        for key, title in (
            ("cqbench_version", "cqbench"),
            ("grpc_version", "gRPC"),
            ("grpc_link", "gRPC link"),
            ("grpc_assertions", "gRPC assertions"),
            ("protobuf_version", "protobuf"),
            ("compiler", "compiler"),
            ("library_build_type", "build type"),
            ("deadlock_detection", "deadlock detection"),
            ("kernel", "kernel"),
            ("clock_source", "clock source"),
            ("cpu_scaling_enabled", "CPU scaling"),
            ("server.cqbench_version", "server cqbench"),
            ("server.grpc_version", "server gRPC"),
            ("server.grpc_link", "server gRPC link"),
            ("server.grpc_assertions", "server gRPC assertions"),
            ("server.build_type", "server build type"),
            ("server.deadlock_detection", "server deadlock detection"),
            ("server.counts_allocations", "server counts allocations"),
            ("server.kernel", "server kernel"),
            ("server.clock_source", "server clock source"),
            ("server.cpu_scaling_enabled", "server CPU scaling"),
        )
    ),
)
NOT_IN_CONTEXT = ("connections", "network", "fault", "servers")  # there by another meaning, or not at all
BY_KEY = {facet.key: facet for facet in FACETS}
_FROM_CONTEXT = tuple(f.key for f in FACETS if "." not in f.key and f.key not in NOT_IN_CONTEXT)
