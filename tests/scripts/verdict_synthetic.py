"""Made-up results for the tests of the verdict: machines that are not at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cqbench import verdict
from cqbench.runs import read_all
from cqbench.verdict_advice import Judgement
from cqbench.verdict_judge import Finding
from cqbench.verdict_rules import Regime

COUNTS = (1, 2, 4, 8, 16, 32)
OTHERS = "other processes used 3.00 of the 32 CPU(s) of the client"
Change = Callable[[int, dict[str, Any]], None]
SHARED = {1: 10e3, 2: 19e3, 4: 35e3, 8: 50e3, 16: 55e3, 32: 56e3}
SIXFOLD = {1: 10e3, 2: 20e3, 4: 40e3, 8: 78e3, 16: 155e3, 32: 336e3}


def entry(n: int, repetition: int, rate: float, connections: int) -> dict[str, Any]:
    """A point of a machine with 32 CPUs a side on which nothing is full."""
    return {
        "run_type": "iteration", "repetition_index": repetition, "inflight": n, "connections": connections,
        "expected_connections": connections, "completed": 100_000, "throughput_per_second": rate,
        "latency_p50_ns": n / rate * 1e9, "latency_p99_ns": 2 * n / rate * 1e9, "failed": 0, "errors": [],
        "warnings": [], "suspect": [], "partial": False, "client_cores_used": 4.0, "client_cpus_allowed": 32,
        "server_cores_used": 4.0, "server_cpus_allowed": 32, "client_cpu_per_rpc_ns": 20_000,
        "server_cpu_per_rpc_ns": 20_000, "client_workers_busy_share": 0.3, "server_workers_busy_share": 0.3,
        "server_busiest_worker_share": 0.4, "client_rtt_min_ns_median": 5_000, "client_rpcs_per_segment_sent": 1.0,
    }  # fmt: skip


def write(
    path: Path,
    policy: str,
    rates: dict[int, float],
    repetitions: int = 6,
    change: Change | None = None,
    **context: Any,
) -> Path:
    """A result file with repetitions within 1 % of the rates. change: applied to every point."""
    points = []
    for repetition in range(repetitions):
        for n, rate in rates.items():
            connections = 1 if policy in ("shared", "per-slot") else n
            if policy.startswith("pool:"):
                connections = int(policy[5:])
            point = entry(n, repetition, rate * (1 + 0.01 * (repetition % 3 - 1)), connections)
            if change:
                change(n, point)
            points.append(point)
    server = {"api": "cq", "poll": "block", "num_cqs": 8, "workers_per_cq": 2, "callbacks_per_cq": 10, "cpus": [32, 33]}
    head = {
        "schema_version": 2, "cqbench_version": "0.1.0", "mode": "streaming", "api": "sync", "channel_policy": policy,
        "workload": "ping", "target": "host:2137", "grpc_version": "1.51.1", "partial": False, "poll": "block",
        "affinity": "0-31", "command_line": ["bin/grpc_ping_client"], "servers": [server], "suspect": [], **context,
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"context": head, "benchmarks": points, "not_measured": []}))
    return path


def judged(*paths: Path) -> Judgement:
    """Of files and folders."""
    return verdict.judge_runs(read_all(paths))


def found(tmp_path: Path, shared: dict[str, Any] | None = None, separate: dict[str, Any] | None = None) -> Finding:
    """The finding of a pair; the arguments of write() other than SHARED and SIXFOLD."""
    write(tmp_path / "a.json", "per-slot", **{"rates": SHARED, **(shared or {})})
    write(tmp_path / "b.json", "local-pool", **{"rates": SIXFOLD, **(separate or {})})
    (finding,) = judged(tmp_path).findings
    return finding


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


def regimes(finding: Finding, side: str = "shared") -> dict[int, Regime]:
    return {r.inflight: getattr(r, side).regime for r in finding.rows}


def manifest(folder: Path, of: Callable[[str], dict[str, Any]]) -> None:
    """Of all results below raw/. of: variant -> what its units say."""
    files = [str(path.relative_to(folder)) for path in sorted((folder / "raw").glob("*/*.json"))]
    units = [{"file": file, **of(file.split("/")[1])} for file in files]
    (folder / "manifest.json").write_text(json.dumps({"manifest_version": 1, "units": units}))
