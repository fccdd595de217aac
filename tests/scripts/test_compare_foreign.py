"""Results of other programs: Google Benchmark's JSON, the text of go test -bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cqbench.analysis.compare.sides import Name, Side
from cqbench.cli.sides import foreign
from cqbench.cli.sides.inputs import read_side
from cqbench.formats.source import BadDocument
from cqbench.model.ratio import values
from made_results import put
from test_compare_synthetic import BASE, called, result

DATA = Path(__file__).parent / "data"
GOLDEN = Path(__file__).parents[1] / "golden/expected"
NANOS = [100.0, 101, 99, 102, 98, 100.5, 99.5]


def google(nanos: list[float], **context: Any) -> dict[str, Any]:
    """As Google Benchmark writes it with --benchmark_repetitions."""
    entries: list[dict[str, Any]] = [
        {"name": "BM_Copy/8", "family_index": 0, "run_name": "BM_Copy/8", "run_type": "iteration", "repetitions": 7,
         "repetition_index": i, "threads": 1, "iterations": 1000, "real_time": t / 1000, "cpu_time": t / 1000,
         "time_unit": "us", "items_per_second": 1e9 / t, "depth": 3}
        for i, t in enumerate(nanos)
    ]  # fmt: skip
    mean = {**entries[0], "name": "BM_Copy/8_mean", "run_type": "aggregate", "aggregate_name": "mean"}
    failed = {"name": "BM_Bad", "run_type": "iteration", "error_occurred": True, "error_message": "no\x1b luck"}
    told = {"date": "2026-01-02T03:04:05+00:00", "host_name": "h", "num_cpus": 2, "library_build_type": "release"}
    return {"context": {**told, **context}, "benchmarks": [*entries, mean, failed]}


def go(nanos: list[float], allocations: int = 2) -> str:
    """As go test -bench -benchmem -count prints it."""
    lines = [
        f"BenchmarkPing-8   \t 1000\t {t:.1f} ns/op\t  64 B/op\t {allocations} allocs/op\t 5.5 widgets" for t in nanos
    ]
    return "\n".join(["goos: linux", "pkg: example.org/x", "cpu: C", *lines, "PASS", "ok  \texample.org/x\t1.2s", ""])


def text(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def metrics(side: Side) -> dict[str, tuple[int, str]]:
    return {metric.name: (metric.better, metric.group) for metric in side.metrics}


def test_google_benchmark(tmp_path: Path) -> None:
    side = read_side(put(tmp_path / "a.json", google(NANOS)))
    (case,) = side.scenarios
    assert list(case.points) == [Name("BM_Copy/8")] and side.date == "2026-01-02T03:04:05+00:00"
    assert values(case.points[Name("BM_Copy/8")], "real_time_ns") == pytest.approx(NANOS)
    assert case.left_out == {Name("BM_Bad"): ["no  luck"]}
    assert metrics(side) == {
        "real_time": (-1, "latency"),
        "cpu_time": (-1, "cpu"),
        "items_per_second": (1, "throughput"),
        "depth": (0, "custom"),
    }


def test_our_microbenchmarks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As cqbench_microbench wrote it, six repetitions in random order."""
    stored = json.loads((DATA / "microbench.json").read_text())
    before = read_side(DATA / "microbench.json")
    (case,) = before.scenarios
    names = ["bidi/one-thread/ping/streaming", "histogram/merge"]
    names += [f"serialize/ping/unary/response/{holder}/grpc" for holder in ("fresh", "reused")]
    assert sorted(point.words for point in case.points) == names and not case.left_out
    for key in ("allocs_per_iter", "max_bytes_used", "total_allocated_bytes", "net_heap_growth"):
        assert metrics(before)[key] == (-1, "allocations")
    allocated = {name.words: values(of, "allocs_per_iter") for name, of in case.points.items()}
    assert allocated["histogram/merge"] == [0] * 6 and min(allocated[names[0]]) > 0
    for entry in stored["benchmarks"]:
        if entry["run_name"] == names[0] and entry["run_type"] == "iteration":
            entry["allocs_per_iter"] += 1
    failed = {"name": "histogram/merge", "run_type": "iteration", "skipped": "ERROR", "skip_message": "no luck"}
    stored["benchmarks"] = [e for e in stored["benchmarks"] if e["run_name"] != "histogram/merge"] + [failed]
    after = put(tmp_path / "after.json", stored)
    assert read_side(after).scenarios[0].left_out == {Name("histogram/merge"): ["no luck"]}
    status, out, _ = called(capsys, DATA / "microbench.json", after, "--format", "json")
    points = {p["name"]: p["metrics"] for p in json.loads(out)["comparisons"][0]["points"]}
    assert status == 0 and points[names[0]]["allocs_per_iter"]["verdict"] == "more allocations"
    assert points[names[2]]["allocs_per_iter"]["change_percent"] == 0
    stored["context"]["build_type"] = "debug"
    status, _, err = called(capsys, DATA / "microbench.json", put(tmp_path / "debug.json", stored))
    assert status == 2 and "build type: release before, debug after" in err


def test_go_benchmarks(tmp_path: Path) -> None:
    side = read_side(text(tmp_path / "a.txt", go(NANOS)))
    (case,) = side.scenarios
    assert (case.configuration, list(case.points)) == ("example.org/x", [Name("Ping-8")])
    assert values(case.points[Name("Ping-8")], "ns/op") == NANOS
    assert metrics(side) == {
        "ns/op": (-1, "latency"),
        "B/op": (-1, "allocations"),
        "allocs/op": (-1, "allocations"),
        "widgets": (0, "custom"),
    }
    better = "Unit widgets better=higher\n" + go(NANOS)
    assert metrics(read_side(text(tmp_path / "b.txt", better)))["widgets"] == (1, "custom")


def test_what_our_own_client_prints_for_go() -> None:
    side = read_side(GOLDEN / "repetitions.gobench.txt")
    assert [len(of) for of in side.scenarios[0].points.values()] == [3, 2]
    assert metrics(side)["p99-ns"] == (-1, "latency") and metrics(side)["cpu-ns/op"] == (-1, "cpu")


@pytest.mark.parametrize("kind", ["google", "go"])
def test_they_are_compared_like_ours(capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str) -> None:
    """A file is a session."""
    for i, value in enumerate(NANOS):
        for side, nanos, allocations in (("a", value, 2), ("b", value * 1.2, 3)):
            if kind == "google":
                put(tmp_path / side / f"{i}.json", google([nanos]))
            else:
                text(tmp_path / side / f"{i}.txt", go([nanos], allocations))
    files = tmp_path / "a", tmp_path / "b"
    status, out, err = called(capsys, *files, "--fail-if-slower", "5%", "--format", "json")
    (point,) = json.loads(out)["comparisons"][0]["points"]
    figure = point["metrics"]["real_time_ns" if kind == "google" else "ns/op"]
    assert figure["verdict"] == "slower" and figure["change_percent"] == pytest.approx(20, abs=0.1)
    assert status == 1 and "gate --fail-if-slower 5%: closed: " in err
    if kind == "go":
        assert point["metrics"]["allocs/op"]["verdict"] == "more allocations"
    assert called(capsys, *files[::-1], "--fail-if-slower", "5%")[0] == 0
    assert called(capsys, *files, "--fail-if-slower", "25%")[0] == 0
    assert called(capsys, *files, "--fail-if-latency-higher", "5%")[0] == 3
    ending = {"google": "json", "go": "txt"}[kind]
    one = (side / f"0.{ending}" for side in files)
    status, _, err = called(capsys, *one, "--fail-if-slower", "5%")
    assert status == 3 and "inconclusive: " in err and "1 session a side, needs 3, or a history" in err
    status, _, err = called(capsys, *files, "--metric", "p99")
    assert status == 2 and "argument --metric: 'p99' is in none of these results: " in err


def test_another_machine_and_another_build_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    a = put(tmp_path / "a.json", google(NANOS))
    b = put(tmp_path / "b.json", google(NANOS, library_build_type="debug", num_cpus=4))
    status, _, err = called(capsys, a, b)
    assert status == 2 and "build type: release before, debug after" in err and "CPUs: 2 before, 4 after" in err


def test_ours_and_another_programs_have_nothing_in_common(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    a, b = put(tmp_path / "a.json", result({1: BASE})), put(tmp_path / "b.json", google(NANOS))
    status, _, err = called(capsys, a, b)
    assert status == 2 and "A is a closed loop, B a result of another program" in err
    status, _, err = called(capsys, tmp_path, b)
    assert status == 2 and err.count("\n") == 1 and "b.json is of another program than a.json" in err


def test_folders(tmp_path: Path) -> None:
    for i in range(3):
        put(tmp_path / "json" / f"{i}.json", google(NANOS[i : i + 1]))
        text(tmp_path / "text" / f"{i}.txt", go(NANOS[i : i + 1]))
    for folder, key in (("json", "real_time_ns"), ("text", "ns/op")):
        side = read_side(tmp_path / folder)
        (points,) = (of for case in side.scenarios for of in case.points.values())
        assert side.files == 3 and values(points, key) == pytest.approx(NANOS[:3])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"benchmarks": 5}', "it has no 'context' or no list of 'benchmarks'"),
        ('{"context": {}, "benchmarks": [5]}', r"benchmarks\[0\] has no 'name'"),
        ('{"context": {}, "benchmarks": [{"name": "x"}]}', r"benchmarks\[0\]: 'real_time' is not a number"),
        (
            '{"context": {}, "benchmarks": [{"name": "x", "real_time": 1, "cpu_time": true}]}',
            "'cpu_time' is not a number",
        ),
        ('{"context": {}, "benchmarks": [{"name": "x", "real_time": 1e300, "cpu_time": 1}]}', "out of range"),
        ('{"context": {}, "benchmarks": [{"name": "x", "time_unit": "y"}]}', "unknown 'time_unit'"),
        ('{"context": {}, "benchmarks": [{"name": "x", "time_unit": []}]}', "unknown 'time_unit'"),
        ('{"context": {}, "benchmarks": [{"name": "x", "run_type": "aggregate"}]}', "has aggregates only"),
        ('{"context": {}, "benchmarks": []}', "no whole run"),
        ('{"benchmarks": ' + "[" * 100_000, "nested too deeply|not JSON"),
        ("BenchmarkX 1 5", "line 1: not pairs of a figure and its unit"),
        ("BenchmarkX 1 five ns/op", "line 1: 'five' is no figure"),
        ("BenchmarkX 1 nan ns/op", "line 1 is out of range"),
        ("BenchmarkX\n", "has no line of `go test -bench`"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(BadDocument, match=words) as error:
        read_side(text(tmp_path / "x.txt", content))
    assert "\n" not in str(error.value)


def test_there_are_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "MAX_SAMPLES", 3)
    for content in (json.dumps(google(NANOS)), go(NANOS)):
        with pytest.raises(BadDocument, match="more than 3 repetitions"):
            read_side(text(tmp_path / "x", content))
    monkeypatch.setattr(foreign, "MAX_METRICS", 1)
    with pytest.raises(BadDocument, match="more than 1 figures"):
        read_side(text(tmp_path / "x", go(NANOS[:1])))
