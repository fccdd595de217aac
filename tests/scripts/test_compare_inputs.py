"""Files and folders -> points and repetitions; what is left out, and what is refused."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest
from test_compare_synthetic import BASE, DATA, put, result

from cqbench import documents
from cqbench.compare_inputs import METRICS, Key, Series, read_side
from cqbench.documents import BadDocument
from cqbench.offered import closed

CQ = Series("", "ping", "unary", "cq", "local-pool")


def test_a_real_file_has_every_metric() -> None:
    side = read_side(DATA / "version-2.json")
    assert list(side.points) == [Key(CQ, closed(2))]
    point = side.points[Key(CQ, closed(2))]
    assert point.usable == 2 and all(len(point.values[metric.name]) == 2 * (not metric.open_only) for metric in METRICS)
    assert point.values["throughput"] == [16010, 13780]
    assert point.values["client-cpu"][0] == 53957 and point.values["p99"] == [200575, 312319]
    assert point.suspect == [] and [reason.code for reason in side.suspect] == ["shared-cpus"]


def test_version_1_has_fewer_metrics() -> None:
    points = read_side(DATA / "repetitions.json").points
    assert {key.load.number: point.usable for key, point in points.items()} == {1: 3, 4: 3}
    for point in points.values():
        assert {name: len(values) for name, values in point.values.items()} == {
            "throughput": 3, "p50": 3, "p99": 3, "p50-sent": 0, "p99-sent": 0, "client-cpu": 0, "server-cpu": 0
        }  # fmt: skip


def test_an_interrupted_run_gives_its_whole_points() -> None:
    side = read_side(DATA / "partial.json")
    used = {key.load.number: point.usable for key, point in side.points.items()}
    assert side.partial_files == 1 and 1 in used.values() and 0 in used.values()
    cut = next(point for point in side.points.values() if not point.usable)
    assert cut.left_out == ["cut short"] and not cut.values["throughput"]


def test_runs_that_failed_are_not_used() -> None:
    side = read_side(DATA / "killed.json")
    by_count = {key.load.number: point for key, point in side.points.items()}
    assert by_count[16].usable == 0 and "cannot connect" in by_count[16].left_out[0]
    assert (by_count[4].usable, by_count[4].with_failed_calls) == (1, 1)
    assert [key.load.number for key in side.usable()] == [1, 4]


def test_runs_of_a_point_are_repetitions_in_whichever_file(tmp_path: Path) -> None:
    for i, values in enumerate([BASE[:3], BASE[3:4], BASE[4:]]):
        put(tmp_path / f"some/where{i}" / "x.json", result({4: values}))
    side = read_side(tmp_path)
    assert side.files == 3 and side.points[Key(CQ, closed(4))].values["throughput"] == BASE


def test_an_experiments_folder(tmp_path: Path) -> None:
    for variant in ("small", "large"):
        for i in range(3):
            put(tmp_path / "raw" / variant / f"{i:02}.json", result({1: BASE[i : i + 1]}))
    put(tmp_path / "manifest.json", {"name": "an experiment"})
    put(tmp_path / "fits.json", {"not": "a result"})
    small, large = (CQ._replace(variant=variant) for variant in ("small", "large"))
    for folder in (tmp_path, tmp_path / "raw"):
        side = read_side(folder)
        used = {key: point.usable for key, point in side.points.items()}
        assert used == {Key(large, closed(1)): 3, Key(small, closed(1)): 3}
    one = read_side(tmp_path / "raw" / "small")  # on its own it is no variant: two of them can be compared
    assert list(one.points) == [Key(CQ, closed(1))]
    assert small.title == "small ping/unary/cq/local-pool"


def test_bench_shs_folder(tmp_path: Path) -> None:
    for name in ("unary-cq-shared", "unary-cq-separate", "streaming-sync-shared"):
        (tmp_path / f"{name}.json").write_bytes((DATA / f"{name}.json").read_bytes())
    put(tmp_path / "manifest.json", {})
    (tmp_path / "results.csv").write_text("method\n")
    (tmp_path / ".half.json").write_text("{")
    side = read_side(tmp_path)
    assert {key.series.title for key in side.points} == {
        "ping/unary/cq/per-slot", "ping/unary/cq/local-pool", "ping/streaming/sync/per-slot"
    }  # fmt: skip


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    packed = gzip.compress((DATA / "version-2.json").read_bytes())
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(gzip.decompress(packed)))
    writer.start()
    assert read_side(tmp_path / "pipe").files == 1
    writer.join()


def test_zero_is_no_figure(tmp_path: Path) -> None:
    data = result({1: BASE})
    data["benchmarks"][0]["server_cpu_per_rpc_ns"] = 0
    del data["benchmarks"][1]["server_cpu_per_rpc_ns"]
    point = read_side(put(tmp_path / "x.json", data)).points[Key(CQ, closed(1))]
    assert (point.usable, len(point.values["server-cpu"]), len(point.values["client-cpu"])) == (10, 8, 10)


@pytest.mark.parametrize("value", [-1, "5", True, [], 10**400])
def test_figures_that_are_none(tmp_path: Path, value: object) -> None:
    data = result({1: BASE})
    data["benchmarks"][0]["server_cpu_per_rpc_ns"] = value
    with pytest.raises(BadDocument, match=r"x.json: .*'server_cpu_per_rpc_ns' in benchmarks\[0\]"):
        read_side(put(tmp_path / "x.json", data))


@pytest.mark.parametrize("servers", [7, "x", [7], {"a": 1}])
def test_servers_that_are_none(tmp_path: Path, servers: object) -> None:
    with pytest.raises(BadDocument, match="x.json: .*'servers' in context has"):
        read_side(put(tmp_path / "x.json", result({1: BASE}, servers=servers)))


def test_nothing_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadDocument, match="no result files"):
        read_side(tmp_path)
    with pytest.raises(BadDocument, match="No such file"):
        read_side(tmp_path / "none")
    put(tmp_path / "notes.json", {"not": "a result"})
    with pytest.raises(BadDocument, match="notes.json: not a result of this grpc_ping_client"):
        read_side(tmp_path)
    data = result({1: BASE[:1]})
    data["benchmarks"][0]["partial"] = True
    with pytest.raises(BadDocument, match="no whole run in 1 file"):
        read_side(put(tmp_path / "cut.json", data))
    monkeypatch.setattr(documents, "MAX_BYTES", 100)
    with pytest.raises(BadDocument, match="larger than"):
        read_side(DATA / "version-2.json")


def test_a_pipe_in_a_folder_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.json")
    with pytest.raises(BadDocument, match="not a regular file"):
        read_side(tmp_path)


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDocument, match="schema_version 4 is newer than 3"):
        read_side(put(tmp_path / "x.json", result({1: BASE}, schema_version=4)))
