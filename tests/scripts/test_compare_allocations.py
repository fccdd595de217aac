"""Allocations before and after: the rows of grpc-go's tool, how far counts are apart, and the gate on their number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from made_results import put
from test_compare_synthetic import BASE, FASTER, called, result, sessions

CLIENT, SERVER = "client_allocations_per_rpc", "server_allocations_per_rpc"


def counted(speeds: list[float], client: list[float], server: list[float] | None, **context: Any) -> dict[str, Any]:
    """Per repetition, what each end counted."""
    setting = {"workload": "echo", "method": "unary", "shape": "unary", "request_bytes": 100, "response_bytes": 100}
    data = result({500: speeds}, **setting, **context)
    for i, entry in enumerate(data["benchmarks"]):
        entry |= {CLIENT: client[i % len(client)], "client_allocated_bytes_per_rpc": 19_000.0}
        entry |= {"latency_p90_ns": 2 * entry["latency_p50_ns"], "latency_mean_ns": entry["latency_p50_ns"]}
        if server:
            entry |= {SERVER: server[i % len(server)], "server_allocated_bytes_per_rpc": 13_000.0}
    return data


def sides(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> tuple[Path, Path]:
    return put(folder / "a.json", before), put(folder / "b.json", after)


def rows(out: str) -> dict[str, list[str]]:
    """By title, the cells behind it."""
    cells = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    return {line[0]: line[1:] for line in cells if len(line) > 2}


def test_the_rows_of_the_pull_request(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    before = counted(BASE, [12.0, 12.02], [9.0], grpc_version="1.51.1")
    after = counted(FASTER, [10.0], [9.0], grpc_version="1.83.0")
    files = sessions(tmp_path / "a", before), sessions(tmp_path / "b", after)
    status, out, err = called(capsys, *files, "--format", "benchresult")
    assert (status, err) == (0, "")
    found = rows(out)
    assert found["Title"] == ["Before", "After", "Percentage", "95 % interval", "Real"]
    assert found["SendOps"][:2] == found["RecvOps"][:2] == ["0", "0"]
    assert found["Bytes/op"][:3] == ["32000.00", "32000.00", "+0.00%"]
    assert found["Allocs/op"][:3] == ["21.01", "19.00", "-9.57%"] and found["Allocs/op"][-1] == "yes"
    assert [float(cell) for cell in found["ReqT/op"][:2]] == pytest.approx([8e6, 8.56e6], rel=0.01)
    assert found["ReqT/op"][2] == found["RespT/op"][2] and found["ReqT/op"][-1] == "yes"
    assert found["50th-Lat"][0].endswith("ms") and found["50th-Lat"][-1] == "yes"
    assert found["GrpcVersion"] == ["1.51.1", "1.83.0"]
    assert {"TotalOps", "90th-Lat", "99th-Lat", "Avg-Lat", "Compiler"} <= set(found)
    assert "client allocations per call: 12 to 12.02 (10 repetitions) before, 10 (10 repetitions) after" in out


def test_an_end_that_does_not_count_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = sides(tmp_path, counted(BASE, [12.0], None), counted(BASE, [12.0], None))
    found = rows(called(capsys, *files, "--format", "benchresult")[1])
    assert found["Allocs/op"] == ["-", "-", "-", "-", "not counted"]
    assert found["client Allocs/op"][:2] == ["12.00", "12.00"]


def test_rows_are_not_chosen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = sides(tmp_path, counted(BASE, [12.0], [9.0]), counted(BASE, [12.0], [9.0]))
    status, _, err = called(capsys, *files, "--format", "benchresult", "--metric", "p99")
    assert status == 2 and "--metric is not for --format benchresult" in err


@pytest.mark.parametrize(
    ("client", "server", "most", "status", "words"),
    [
        ([12.0, 12.01], [9.0], "21.5", 0, "open"),
        ([12.0, 12.01], [9.0], "21.01", 0, "open"),
        (
            [12.5, 12.6],
            [9.0],
            "21",
            1,
            "closed: unary, 500 in flight: 21.5 to 21.6 (10 repetitions) allocations per call",
        ),
        ([11.9, 12.1], [9.0], "21", 3, "inconclusive"),
        ([12.0], None, "21", 3, "of the client alone: the server does not count them"),
        ([22.0], None, "21", 1, "closed"),
    ],
)
def test_the_gate(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    client: list[float],
    server: list[float] | None,
    most: str,
    status: int,
    words: str,
) -> None:
    """The value before does not matter: the limit is the number itself."""
    files = sides(tmp_path, counted(BASE, [50.0], [50.0]), counted(BASE, client, server))
    found, _, err = called(capsys, *files, "--max-allocs-per-rpc", most)
    assert found == status and err.count("\n") == 1
    assert f"gate --max-allocs-per-rpc {most}: " in err and words.split(": ")[-1] in err


def test_a_gate_on_nothing_is_not_open(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = sides(tmp_path, result({1: BASE}), result({1: BASE}))
    status, out, err = called(capsys, *files, "--max-allocs-per-rpc", "20", "--format", "json")
    assert status == 3 and "allocations were not counted" in err
    assert '"limit_percent": null' in out
    status, _, err = called(capsys, *files, "--max-allocs-per-rpc", "-1")
    assert status == 2 and "'-1' is not a number of allocations such as 25" in err
