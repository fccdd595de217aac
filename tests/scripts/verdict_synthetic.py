"""Made-up results for the tests of the verdict: machines that are not at hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from cqbench.analysis.verdict.model import Judgement, Row, Scenario, Statement
from cqbench.analysis.verdict.whole import judge_runs
from cqbench.formats.manifest import VERSION
from cqbench.formats.result import SCHEMA_VERSION
from cqbench.formats.runs import read_all
from cqbench.render.verdict import answer
from cqbench.render.verdict.answer import Answer

COUNTS = (1, 2, 4, 8, 16, 32)
OTHERS = {"code": "other-processes", "text": "other processes used 3.00 of the 32 CPU(s) of the client"}
Change = Callable[[int, dict[str, Any]], None]
SHARED = {1: 10e3, 2: 19e3, 4: 35e3, 8: 50e3, 16: 55e3, 32: 56e3}
SIXFOLD = {1: 10e3, 2: 20e3, 4: 40e3, 8: 78e3, 16: 155e3, 32: 336e3}


def entry(n: int, repetition: int, rate: float, connections: int) -> dict[str, Any]:
    """A point of a machine with 32 CPUs a side on which nothing is full and the wire is mostly idle."""
    return {
        "run_type": "iteration", "repetition_index": repetition, "inflight": n, "connections": connections,
        "expected_connections": connections, "completed": 100_000, "throughput_per_second": rate,
        "latency_p50_ns": n / rate * 1e9, "latency_p99_ns": 2 * n / rate * 1e9, "failed": 0, "errors": [],
        "warnings": [], "partial": False, "client_cores_used": 4.0, "client_cpus_allowed": 32,
        "server_cores_used": 4.0, "server_cpus_allowed": 32, "client_cpu_per_rpc_ns": 20_000,
        "server_cpu_per_rpc_ns": 20_000, "client_workers_busy_share": 0.3, "server_workers_busy_share": 0.3,
        "client_rtt_min_ns_median": 5_000, "client_rpcs_per_segment_sent": 1.0,
        "client_connection_busy_share_median": 0.4,
    }  # fmt: skip


def write(
    path: Path,
    policy: str,
    rates: dict[int, float],
    repetitions: int = 6,
    change: Change | None = None,
    first: int = 0,
    **context: Any,
) -> Path:
    """A result file with repetitions within 1 % of the rates, counted from first. change: applied to every point."""
    points = []
    for repetition in range(repetitions):
        for n, rate in rates.items():
            connections = 1 if policy in ("shared", "per-slot") else n
            if policy.startswith("pool:"):
                connections = int(policy[5:])
            wave = 0.01 * ((first + repetition) * (3 if connections > 1 else 2) % 5 - 2) / 2
            point = entry(n, repetition, rate * (1 + wave), connections)
            if change:
                change(n, point)
            points.append(point)
    server = {"api": "cq", "poll": "block", "num_cqs": 8, "workers_per_cq": 2, "callbacks_per_cq": 10, "cpus": [32, 33]}
    head = {
        "schema_version": SCHEMA_VERSION, "cqbench_version": "0.1.0", "method": "streaming", "loop": "closed",
        "api": "sync", "channel_policy": policy,
        "workload": "ping", "target": "host:2137", "grpc_version": "1.51.1", "partial": False, "poll": "block",
        "affinity": "0-31", "command_line": ["bin/grpc_ping_client"], "servers": [server], "warnings": [], **context,
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"context": head, "benchmarks": points, "not_measured": []}))
    return path


def configuration(
    folder: Path, name: str, policy: str, rates: dict[int, float], repetitions: int = 6, **more: Any
) -> None:
    """As an experiment has it: a file for each repetition."""
    for i in range(repetitions):
        write(folder / f"raw/{name}/{i + 1:02}.json", policy, rates, 1, first=i, **more)


def judged(*paths: Path) -> Judgement:
    """Judges files and folders."""
    return judge_runs(read_all(paths))


def said(*paths: Path) -> Answer:
    """The answer of files and folders."""
    return answer.make(judged(*paths))


def codes(statements: Iterable[Statement]) -> list[str]:
    return [one.code for one in statements]


def found(tmp_path: Path, shared: dict[str, Any] | None = None, separate: dict[str, Any] | None = None) -> Scenario:
    """The case of an interleaved pair; the arguments of configuration() other than SHARED and SIXFOLD."""
    configuration(tmp_path, "shared", "per-slot", **{"rates": SHARED, **(shared or {})})
    configuration(tmp_path, "separate", "local-pool", **{"rates": SIXFOLD, **(separate or {})})
    (case,) = judged(tmp_path).scenarios
    return case


def at(case: Scenario, load: int, configuration_name: str = "separate") -> Row:
    return next(row for row in case.rows if row.load.number == load and row.configuration == configuration_name)


def setting(figures: dict[str, Any], counts: tuple[int, ...] = COUNTS) -> Change:
    """A change that sets figures at some counts."""

    def change(n: int, point: dict[str, Any]) -> None:
        if n in counts:
            point.update(figures)

    return change


def without(*ends: str) -> Change:
    """A change that removes the figures of an end."""

    def change(n: int, point: dict[str, Any]) -> None:
        for name in [k for k in point if k.startswith(ends)]:
            del point[name]

    return change


def manifest(
    folder: Path,
    of: Callable[[str], dict[str, Any]] = lambda _: {},
    axes: Sequence[tuple[str, Sequence[str]]] = (),
    **more: Any,
) -> None:
    """Writes a manifest of all results below raw/. of: configuration -> facts of its runs. more: keys of the experiment
    itself.
    """
    files = [str(path.relative_to(folder)) for path in sorted((folder / "raw").glob("*/*.json"))]
    entries = [{"file": file, **of(file.split("/")[1])} for file in files]
    axis = [{"name": name, "values": [{"name": value} for value in values]} for name, values in axes]
    experiment: dict[str, Any] = {"experiment": {"title": "A title", **more}, **({"axis": axis} if axes else {})}
    data = {"manifest_version": VERSION, "runs": entries, "experiment": experiment}
    (folder / "manifest.json").write_text(json.dumps(data))
