"""Synthetic result files for the other tests of compare.sh, and the proof that they are what the client writes."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cqbench import formats as files
from cqbench.cli import main as cqbench
from made_results import put

DATA = Path(__file__).parent / "data"
SCHEMA = Path(files.__file__).with_name("result.schema.json")
REAL = json.loads((DATA / "result.json").read_text())

# Ten repetitions each: 1 % of noise, nothing tied. SLOWER is below all of BASE.
BASE = [10_000.0, 10_010, 9_990, 10_025, 9_975, 10_040, 9_960, 10_055, 9_945, 10_001]
SAME = [10_003.0, 10_012, 9_988, 10_027, 9_973, 10_042, 9_958, 10_057, 9_943, 10_002]
SLOWER = [value * 0.93 for value in SAME]
FASTER = [value * 1.07 for value in SAME]


def result(points: Mapping[int, Sequence[float]], **context: Any) -> dict[str, Any]:
    """A file with these throughputs (in-flight -> per second); latencies are inverse. context: keys to replace."""
    data: dict[str, Any] = copy.deepcopy(REAL)
    for key in ("lower_bounds", "statistics", "statistics_interval"):
        data.pop(key, None)
    data["context"].update({"warnings": [], "notes": [], **context})
    data["benchmarks"] = [
        run(inflight, repetition, value)
        for inflight, values in points.items()
        for repetition, value in enumerate(values)
    ]
    return data


def run(inflight: int, repetition: int, throughput: float) -> dict[str, Any]:
    entry: dict[str, Any] = copy.deepcopy(REAL["benchmarks"][0])
    assert entry["run_type"] == "iteration"
    nanos = 1e9 * inflight / throughput
    entry.update(
        inflight=inflight,
        repetition_index=repetition,
        throughput_per_second=float(throughput),
        latency_p50_ns=round(nanos),
        latency_p99_ns=round(3 * nanos),
        client_cpu_per_rpc_ns=round(nanos / 2),
        server_cpu_per_rpc_ns=round(nanos / 3),
        warnings=[],
    )
    return entry


def sessions(folder: Path, data: dict[str, Any]) -> Path:
    """Puts the repetitions of a result into files of their own, each of which is a session."""
    for number in dict.fromkeys(entry["repetition_index"] for entry in data["benchmarks"]):
        entries = [entry for entry in data["benchmarks"] if entry["repetition_index"] == number]
        put(folder / f"{number:03}.json", {**data, "benchmarks": entries})
    return folder


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """compare.sh's exit status, standard output and standard error."""
    try:
        status = cqbench(["compare", *map(str, arguments)])
    except SystemExit as exit_:
        assert isinstance(exit_.code, int)
        status = exit_.code
    out, err = capsys.readouterr()
    return status, out, err


def test_they_are_as_the_schema_says() -> None:
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(result({1: BASE, 4: SLOWER}))
