"""result.schema.json: it fits what the client writes, rejects what it does not write, and documents every key."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from cqbench.formats.result import SCHEMA_VERSION, parse
from cqbench.measure.processes import Server
from hdrh.histogram import HdrHistogram
from jsonschema import Draft202012Validator
from result_schema import DATA, ROOT, SCHEMA, Json, complaints, keys_of, programs, stored

# Files as the client writes them.


# With a codec which can be timed. Points end after a number of calls: a busy machine may make none in a short window.
SERVER = ("--tcp-echo-port", "0", "--api", "generic", "--serializer", "buffer-reusing", "--compression", "deflate")
WIRE = "--workload echo --request-bytes 100 --payload entropy:1.5 --compression call:gzip --deadline none"
CLOSED = "--breakdown --lower-bound --repetitions 5 --inflight-list 1,4 --total 3000 --interval 5 --warmup 0.05"
# Long enough for a time series and, in an open loop, for gaps to have a shape.
RUNS = {
    "unary": f"{CLOSED} --api cq --stub generic",
    "streaming": f"{CLOSED} --streaming",
    "series": f"--api cq --inflight-list 2 --interval 1.2 --warmup 0.05 --metadata 2x8:bin {WIRE}",
    "open": "--api cq --rate-list 500,1000 --repetitions 5 --interval 0.5 --warmup 0.05",
    "chunks": "--workload blob --method get --api cq --chunks 16 --chunk-bytes 1KiB --byte-rate 40Mbit/s --interval 1",
}


@pytest.fixture(scope="module")
def real_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """By what RUNS calls them. Between them, they have every figure that this machine can give."""
    bin_dir, folder = programs(), tmp_path_factory.mktemp("server")
    written = {}
    with Server([str(bin_dir / "grpc_ping_server"), *SERVER], folder / "log") as server:
        for name, flags in RUNS.items():
            command = [str(bin_dir / "grpc_ping_client"), "--host", server.address, "--format", "json", *flags.split()]
            done = subprocess.run(command, capture_output=True, timeout=90, check=False)
            assert done.returncode == 0, done.stderr.decode()
            written[name] = done.stdout
    return written


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["context"]["properties"]["schema_version"]["const"] == SCHEMA_VERSION


def test_the_expected_files_of_the_golden_tests_fit() -> None:
    files = {path.name: stored(path) for path in (ROOT / "tests/golden/expected").glob("*.json")}
    assert files
    assert {name: complaints(data) for name, data in files.items()} == {name: [] for name in files}


@pytest.mark.parametrize("name", ["unary", "streaming"])
def test_a_real_run_fits(name: str, real_runs: dict[str, bytes]) -> None:
    data = json.loads(real_runs[name])
    assert complaints(data) == []
    assert data["context"]["method"] == name
    assert len(data["benchmarks"]) == 2 * 5 + 2
    assert [s["inflight"] for s in data["statistics"]] == [1, 4]
    assert {"grpc", "tcp-block", "tcp-spin", "grpc-inproc"} <= {b["name"] for b in data["lower_bounds"]}
    assert len(parse(real_runs[name], name).points) == 2 * 5


def test_a_real_run_with_a_time_series_fits(real_runs: dict[str, bytes]) -> None:
    data = json.loads(real_runs["series"])
    assert complaints(data) == []
    (run,) = data["benchmarks"]
    assert len(run["bucket_completed"]) >= 10
    assert sum(run["bucket_completed"]) == run["completed"]


def test_a_real_open_loop_fits(real_runs: dict[str, bytes]) -> None:
    data = json.loads(real_runs["open"])
    assert complaints(data) == []
    assert data["context"]["loop"] == "open"
    assert [s["target_rate_per_second"] for s in data["statistics"]] == [500, 1000]
    runs = [run for run in data["benchmarks"] if run["run_type"] == "iteration"]
    assert len({(run["target_rate_per_second"], run["schedule_hash"]) for run in runs}) == 2, "one for each rate"


def test_calls_add_up(real_runs: dict[str, bytes]) -> None:
    for written in real_runs.values():
        for run in json.loads(written)["benchmarks"]:
            if run["run_type"] == "iteration":
                assert run["calls_due"] == run["calls_sent"] + run["calls_dropped"] + run["calls_unsent"]
                assert run["calls_sent"] == run["calls_ok"] + run["failed"] + run["unfinished"]


def test_statistics_are_of_keys_that_a_run_has(real_runs: dict[str, bytes]) -> None:
    known = {key for name in ("row", "latency", "figures") for key, _ in keys_of(SCHEMA["$defs"][name])}
    for written in real_runs.values():
        for statistics in json.loads(written).get("statistics", []):
            assert set(statistics["figures"]) <= known


@pytest.mark.parametrize("name", ["unary", "streaming", "open"])
def test_hdr_histogram_reads_the_latencies(name: str, real_runs: dict[str, bytes]) -> None:
    runs = [run for run in json.loads(real_runs[name])["benchmarks"] if run["run_type"] == "iteration"]
    assert len(runs) == 2 * 5
    for run in runs:
        for prefix in ("latency", "latency_from_sent") if name == "open" else ("latency",):
            histogram = HdrHistogram.decode(run[f"{prefix}_histogram"])
            assert histogram.get_total_count() == run[f"{prefix}_samples"]
            assert histogram.get_value_at_percentile(50) == run[f"{prefix}_p50_ns"]
            assert histogram.get_min_value() == pytest.approx(run[f"{prefix}_min_ns"], rel=0.001)
            assert histogram.get_max_value() == pytest.approx(run[f"{prefix}_max_ns"], rel=0.001)
            assert histogram.get_mean_value() == pytest.approx(run[f"{prefix}_mean_ns"], rel=0.001)


def test_every_figure_of_the_schema_is_one_that_the_client_writes(real_runs: dict[str, bytes]) -> None:
    """Otherwise a figure that was renamed would stay documented for ever."""
    runs = [run for written in real_runs.values() for run in json.loads(written)["benchmarks"]]
    documented = {key for name in ("figures", "open_loop", "buckets") for key, _ in keys_of(SCHEMA["$defs"][name])}
    of_another_build = {key for key in documented if "alloc" in key or "frees_elsewhere" in key}
    assert documented - {key for run in runs for key in run} - of_another_build == set()


# Files that the client does not write.


def put(*path: str | int, value: object) -> Callable[[Json], None]:
    """Sets the value at the path, which need not have one."""

    def damage(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return damage


def remove(*path: str | int) -> Callable[[Json], None]:
    def damage(data: Any) -> None:
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]

    return damage


def move(source: str, target: str) -> Callable[[Json], None]:
    """The first entry of one list to another."""
    return lambda data: data[target].append(data[source].pop(0))


RUN = ("benchmarks", 0)
MEDIAN = ("benchmarks", -1)
FIGURE = ("statistics", 0, "figures", "client_cores_used")

DAMAGES = {
    "a newer version": put("context", "schema_version", value=5),
    "a version as text": put("context", "schema_version", value="4"),
    "no version": remove("context", "schema_version"),
    "no benchmarks": remove("benchmarks"),
    "a key of the file": put("series", value=[]),
    "a key of the context": put("context", "hostname", value="host"),
    "a key of a server": put("context", "servers", 0, "port", value=1),
    "a key of a run": put(*RUN, "client_cpu_ns", value=1),
    "a figure's distribution": put(*RUN, "client_connection_busy_share_mean", value=0.5),
    "a key of a CPU": put(*RUN, "client_cpus", 0, "iowait_share", value=0),
    "a key of a baseline": put("lower_bounds", 0, "run_type", value="iteration"),
    "a key of statistics": put("statistics", 0, "throughput", value=1),
    "a key of a spread": put(*FIGURE, "mean", value=1),
    "a figure that is nobody's": put("statistics", 0, "figures", "cores_used", value={"median": 1, "min": 1, "max": 1}),
    "evidence in a median": put(*MEDIAN, "client_cores_used", value=1),
    "no window": remove(*RUN, "window_ns"),
    "no window of a baseline": remove("lower_bounds", 0, "window_ns"),
    "no time of a median": remove(*MEDIAN, "real_time"),
    "no CPU time": remove(*RUN, "cpu_time"),
    "latencies without a mean": remove(*RUN, "latency_mean_ns"),
    "half an interval": put(*FIGURE, "ci95_low", value=1),
    "statistics without their method": remove("statistics_interval"),
    "a number as text": put(*RUN, "latency_p50_ns", value="125567"),
    "no number": put(*RUN, "client_cores_used", value=None),
    "a line instead of lines": put(*RUN, "notes", value="none"),
    "a share above 1": put(*RUN, "client_connection_busy_share_max", value=1.5),
    "a CPU's share above 1": put(*RUN, "server_cpus", 0, "busy_share", value=1.5),
    "a rest above 1": put(*RUN, "breakdown_unattributed_share", value=1.5),
    "a negative count": put(*RUN, "failed", value=-1),
    "a negative figure": put(*RUN, "server_retransmissions", value=-1),
    "a negative length": put(*RUN, "window_ns", value=-1),
    "half a call": put(*RUN, "completed", value=0.5),
    "nothing in flight": put(*RUN, "inflight", value=0),
    "a mode": put("context", "mode", value="unary"),
    "an unknown shape": put("context", "shape", value="streaming"),
    "an unknown holder": put("context", "messages", value="pooled"),
    "messages over HTTP": put("context", "api", value="http1"),
    "a request of gRPC's": put("context", "http_request", value="GET /"),
    "an HTTP version of gRPC's": put("context", "http_version", value="h2c"),
    "a path without a method": put("context", "rpc", value="/Service"),
    "a closed loop with a seed": put("context", "schedule_seed", value=1),
    "an open loop without a schedule": put("context", "loop", value="open"),
    "a warning in words only": put(*RUN, "warnings", value=["drift"]),
    "an unknown warning": put(*RUN, "warnings", value=[{"code": "haste", "text": "x"}]),
    "a note as a warning": put(*RUN, "warnings", value=[{"code": "not-measured", "text": "x"}]),
    "a warning as a note": put(*RUN, "notes", value=[{"code": "drift", "text": "x"}]),
    "an unknown warning of the run": put("context", "warnings", value=[{"code": "haste", "text": "x"}]),
    "no warnings": remove(*RUN, "warnings"),
    "no count of calls": remove(*RUN, "calls_due"),
    "workers": put(*RUN, "completed_per_worker", value=[1]),
    "half a time series": remove(*RUN, "bucket_completed"),
    "a mean in spite of calls without an end": put(*RUN, "latency_censored", value=3),
    "a pacer in a closed loop": put(*RUN, "schedule_hash", value="0123456789abcdef"),
    "an unknown policy": put("context", "channel_policy", value="pool:0"),
    "an unknown API": put("context", "servers", 0, "api", value="async"),
    "an unknown status code": put(*RUN, "errors", value=[{"code": "OK", "count": 1, "first_message": ""}]),
    "an unknown baseline": put("lower_bounds", 0, "name", value="udp"),
    "another unit of time": put(*RUN, "time_unit", value="us"),
    "another aggregate": put(*MEDIAN, "aggregate_name", value="mean"),
    "a date in words": put(*RUN, "start_time", value="yesterday"),
    "a port out of range": put("context", "servers", 0, "tcp_echo_port", value=70000),
    "a run that measured something among those that did not": move("benchmarks", "not_measured"),
    "a failed run among the others": put(*RUN, "error_occurred", value=True),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found(name: str) -> None:
    data = stored(DATA / "result.json")
    assert complaints(data) == []
    DAMAGES[name](data)
    assert complaints(data) != []


OPEN_DAMAGES = {
    "no hash": remove(*RUN, "schedule_hash"),
    "a short hash": put(*RUN, "schedule_hash", value="1"),
    "no rate": remove(*RUN, "target_rate_per_second"),
    "a rate of nothing": put(*RUN, "target_rate_per_second", value=0),
    "no lateness": remove(*RUN, "pacer_lateness_p99_ns"),
    "a closed loop": put("context", "loop", value="closed"),
    "no seed": remove("context", "schedule_seed"),
    "an unknown kind of arrivals": put("context", "arrivals", value="bursts"),
    "latencies from sent without a mean": remove(*RUN, "latency_from_sent_mean_ns"),
    "latencies from sent of nothing": remove(*RUN, "latency_from_sent_samples"),
    "a correlation above 1": put(*RUN, "arrival_gap_correlation", value=2),
    "an answer without its interval": remove("find_rate", "low"),
    "an answer that there is not": put("find_rate", "resolved", value=False),
    "a reason for an answer": put("find_rate", "unresolved_reason", value="x"),
    "a trial without a verdict": remove("find_rate", "trials", 0, "met"),
    "a trial that knows more": put("find_rate", "trials", 0, "p99", value=1),
}  # fmt: skip


@pytest.mark.parametrize("name", OPEN_DAMAGES)
def test_damage_to_an_open_loop_is_found(name: str) -> None:
    data = stored(ROOT / "tests/golden/expected/found.json")
    assert complaints(data) == []
    OPEN_DAMAGES[name](data)
    assert complaints(data) != []


def test_a_part_may_take_longer_than_the_median_call() -> None:
    data = stored(DATA / "result.json")
    data["benchmarks"][0]["breakdown_network_share"] = 1.5
    assert complaints(data) == []
