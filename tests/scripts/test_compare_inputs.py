"""Files and folders -> points and repetitions; what is left out, and what is refused."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest
from cqbench.analysis.compare.sides import Scenario, Side
from cqbench.cli.sides.inputs import read_side
from cqbench.formats import source
from cqbench.formats.offered import closed
from cqbench.formats.source import BadDocument
from cqbench.model.ratio import values
from made_results import put
from test_compare_synthetic import BASE, DATA, result


def only(side: Side) -> Scenario:
    (case,) = side.scenarios
    return case


def throughput(case: Scenario, inflight: int) -> list[float]:
    return values(case.points[closed(inflight)], "throughput_per_second")


def test_a_real_file() -> None:
    case = only(read_side(DATA / "result.json"))
    assert (case.configuration, case.setting.get("api"), case.setting.get("connections")) == ("", "cq", "separate")
    samples = case.points[closed(2)]
    assert len(samples) == 2 and throughput(case, 2)[0] == 12220
    sent = values(samples, "client_bytes_sent_per_second")
    assert sent[0] == pytest.approx(140683 / 0.2) and values(samples, "messages_per_second") == []
    assert [warning.code for warning in case.warnings] == ["shared-cpus"]


def test_messages_of_streams(tmp_path: Path) -> None:
    case = only(read_side(put(tmp_path / "x.json", result({1: BASE[:1]}, stream_messages=16))))
    assert values(case.points[closed(1)], "messages_per_second") == [160_000]


def test_a_run_without_evidence_has_fewer_figures() -> None:
    case = only(read_side(DATA / "repetitions.json"))
    assert {load.number: len(of) for load, of in case.points.items()} == {1: 3, 4: 3}  # type: ignore[union-attr]
    assert values(case.points[closed(1)], "client_cpu_per_rpc_ns") == []


def test_an_interrupted_run_gives_its_whole_points() -> None:
    side = read_side(DATA / "partial.json")
    assert side.partial_files == 1 and only(side).points
    assert [why for of in only(side).left_out.values() for why in of] == ["cut short"]


def test_runs_that_failed_are_not_used() -> None:
    case = only(read_side(DATA / "killed.json"))
    assert list(case.points) == [closed(1)]
    assert "cannot connect" in case.left_out[closed(16)][0]
    assert "calls failed (" in case.left_out[closed(4)][0]


def test_runs_of_a_point_are_repetitions_in_whichever_file(tmp_path: Path) -> None:
    for i, part in enumerate([BASE[:3], BASE[3:4], BASE[4:]]):
        put(tmp_path / f"some/where{i}" / "x.json", result({4: part}))
    side = read_side(tmp_path)
    assert side.files == 3 and throughput(only(side), 4) == BASE


def test_an_experiments_folder(tmp_path: Path) -> None:
    for configuration in ("small", "large"):
        for i in range(3):
            put(tmp_path / "raw" / configuration / f"{i:02}.json", result({1: BASE[i : i + 1]}))
    put(tmp_path / "manifest.json", {"name": "an experiment"})
    put(tmp_path / "fits.json", {"not": "a result"})
    for folder in (tmp_path, tmp_path / "raw"):
        side = read_side(folder)
        assert [(case.configuration, len(case.points[closed(1)])) for case in side.scenarios] == [
            ("large", 3),
            ("small", 3),
        ]
    assert only(read_side(tmp_path / "raw" / "small")).configuration == ""  # two such folders can be compared


def test_bench_shs_folder(tmp_path: Path) -> None:
    for name in ("unary-cq-shared", "unary-cq-separate", "streaming-sync-shared"):
        (tmp_path / f"{name}.json").write_bytes((DATA / f"{name}.json").read_bytes())
    put(tmp_path / "manifest.json", {})
    (tmp_path / "results.csv").write_text("method\n")
    (tmp_path / ".half.json").write_text("{")
    found = {(c.setting.get("method"), c.setting.get("connections")) for c in read_side(tmp_path).scenarios}
    assert found == {("unary", "shared"), ("unary", "separate"), ("streaming", "shared")}


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    packed = gzip.compress((DATA / "result.json").read_bytes())
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(gzip.decompress(packed)))
    writer.start()
    assert read_side(tmp_path / "pipe").files == 1
    writer.join()


@pytest.mark.parametrize("value", [-1, "5", True, [], 10**400])
def test_figures_that_are_none(tmp_path: Path, value: object) -> None:
    data = result({1: BASE})
    data["benchmarks"][0]["server_cpu_per_rpc_ns"] = value
    with pytest.raises(BadDocument, match=r"x.json: .*benchmarks\[0\].*server_cpu_per_rpc_ns"):
        read_side(put(tmp_path / "x.json", data))


@pytest.mark.parametrize("servers", [7, "x", [7], {"a": 1}])
def test_servers_that_are_none(tmp_path: Path, servers: object) -> None:
    with pytest.raises(BadDocument, match=r"x.json: .*context\.servers(\[0\])?: .* is not a "):
        read_side(put(tmp_path / "x.json", result({1: BASE}, servers=servers)))


def test_nothing_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadDocument, match="no result files"):
        read_side(tmp_path)
    with pytest.raises(BadDocument, match="No such file"):
        read_side(tmp_path / "none")
    put(tmp_path / "notes.json", {"not": "a result"})
    with pytest.raises(BadDocument, match="notes.json: not a result of grpc_ping_client"):
        read_side(tmp_path)
    data = result({1: BASE[:1]})
    data["benchmarks"][0]["partial"] = True
    with pytest.raises(BadDocument, match="no whole run in 1 file"):
        read_side(put(tmp_path / "cut.json", data))
    monkeypatch.setattr(source, "MAX_BYTES", 100)
    with pytest.raises(BadDocument, match="larger than"):
        read_side(DATA / "result.json")


def test_a_pipe_in_a_folder_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.json")
    with pytest.raises(BadDocument, match="not a regular file"):
        read_side(tmp_path)
