"""The rows of a report that say where, with what and in which order it was measured."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from cqbench.cpus import format_cpus
from cqbench.report_manifest import Manifest, line
from cqbench.runs import Run

MAX_VALUES = 6
MAX_ORDER = 12
Row = tuple[str, str]


def rows(runs: Sequence[Run], manifests: Sequence[Manifest]) -> tuple[Row, ...]:
    """Those that are known. Where runs differ: each value, separated by semicolons."""
    ends = [*_end("Client", [run.context for run in runs]), *_end("Server", _servers(runs))]
    found = [*_when(runs, manifests), *ends, *_how(runs, manifests)]
    return tuple((label, value) for label, value in found if value)


def _when(runs: Sequence[Run], manifests: Sequence[Manifest]) -> list[Row]:
    return [
        ("Began", _each(m.started for m in manifests) or began(runs)),
        ("Ended", _each(m.ended for m in manifests)),
        ("Host", _each([m.host for m in manifests] or [run.context.get("host_name") for run in runs])),
        ("Boot", _each(run.context.get("boot_id") for run in runs)),
    ]


def began(runs: Sequence[Run]) -> str:
    """The least date of a file."""
    return min(filter(None, (line(run.context.get("date")) for run in runs)), default="")


def _end(side: str, contexts: Sequence[dict[str, Any]]) -> list[Row]:
    """What both ends say of themselves, with the same keys but for these."""

    def of(*keys: str) -> str:
        return _each(next((c[k] for k in keys if c.get(k)), None) for c in contexts)

    return [
        (f"{side} CPU", of("cpu_model")),
        (f"{side} CPUs allowed", _each(_cpus(c) for c in contexts)),
        (f"{side} kernel", of("kernel")),
        (f"{side} gRPC", of("grpc_version")),
        (f"{side} protobuf", of("protobuf_version")),
        (f"{side} compiler", of("compiler")),
        (f"{side} build", of("library_build_type", "build_type")),
        (f"{side} clock source", of("clock_source")),
        (f"{side} cqbench", of("cqbench_version")),
    ]


def _cpus(context: dict[str, Any]) -> str:
    """Of a client its affinity, of a server its list."""
    return format_cpus(tuple(context["cpus"])) if context.get("cpus") else line(context.get("affinity"))


def _servers(runs: Sequence[Run]) -> list[dict[str, Any]]:
    return [server for run in runs for server in run.context.get("servers") or []]


def _how(runs: Sequence[Run], manifests: Sequence[Manifest]) -> list[Row]:
    return [
        ("Pinning", _each(place for m in manifests for place in m.placements)),
        ("CPU frequency governor", _each(m.governors for m in manifests)),
        ("Warm-up and interval", _each(_durations(run.context) for run in runs)),
        ("Arrivals", _each(_arrivals(run) for run in runs)),
        ("Environment", _each(m.environment for m in manifests)),
        ("git revision of cqbench", _each(m.git_revision for m in manifests)),
        ("Order", _each(_order(m) for m in manifests)),
    ]


def _durations(context: dict[str, Any]) -> str:
    found = [context.get(f"{key}_ns") for key in ("warmup", "interval")]
    there = [ns for ns in found if isinstance(ns, (int, float))]
    return " + ".join(f"{ns / 1e9:g} s" for ns in there) if len(there) == len(found) else ""


def _arrivals(run: Run) -> str:
    """Of an open loop; '' of a closed one."""
    if not run.document.open:
        return ""
    most = ", ".join(sorted({str(p.inflight) for p in run.document.points}))
    words = f"{run.document.arrivals}, {run.document.at_limit} at the limit of {most} outstanding"
    return f"{words}, seed {run.context.get('schedule_seed')}, pacing {run.context.get('pace')}"


def _order(manifest: Manifest) -> str:
    """The first runs; the manifest has all."""
    if not manifest.order:
        return ""
    shown = ", ".join(manifest.order[:MAX_ORDER]) + (", ..." if len(manifest.order) > MAX_ORDER else "")
    return f"{len(manifest.order)} runs, random within each repetition, seed {manifest.seed}: {shown}"


def client_command(run: Run) -> str:
    """As the client says it was typed; '' in files that do not say."""
    return line(shlex.join(run.context.get("command_line") or []), 20_000)


def _each(values: Iterable[Any], name: Callable[[Any], str] = line) -> str:
    found = list(dict.fromkeys(filter(None, map(name, values))))
    more = f"; and {len(found) - MAX_VALUES} more" if len(found) > MAX_VALUES else ""
    return "; ".join(found[:MAX_VALUES]) + more
