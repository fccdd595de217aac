"""Rank 0 of clients under MPI merges during the run; `cqbench merge` makes the same of their files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cqbench.measure.ranks import merge
from result_schema import complaints, programs
from tools import need


@pytest.fixture(scope="module")
def mpi_client() -> Path:
    client = programs() / "grpc_ping_client_mpi"
    if not client.exists():
        pytest.skip("grpc_ping_client_mpi is not built")
    need("mpirun")
    return client


@pytest.fixture
def server(mpi_client: Path) -> Iterator[str]:
    command = [str(mpi_client.parent / "grpc_ping_server"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield next(line.split()[-1] for line in process.stdout if line.startswith("listening on"))
        process.terminate()


@pytest.mark.parametrize(
    "flags",
    [
        "--inflight-list 3,8 --repetitions 2 --workload echo --request-bytes 99",
        "--rate 1000 --deadline 1ms --max-error-rate 1",
    ],
)
def test_the_live_merge_is_that_of_the_files(flags: str, mpi_client: Path, server: str, tmp_path: Path) -> None:
    launch = ["mpirun", "--oversubscribe", "--bind-to", "none", *["--allow-run-as-root"] * (os.geteuid() == 0)]
    client = [
        str(mpi_client),
        "--host",
        server,
        "--api",
        "cq",
        "--warmup",
        "50ms",
        "--interval",
        "250ms",
        *flags.split(),
    ]
    live = tmp_path / "live.json"
    where = ["--rendezvous", str(tmp_path), "--output", str(live)]
    subprocess.run([*launch, "-np", "3", *client, *where], check=True, capture_output=True, timeout=120)
    found = json.loads(live.read_text())
    assert complaints(found) == []
    merged = tmp_path / "merged.json"
    client_alone = mpi_client.parent / merge.PROGRAM
    assert merge.merge(client_alone, sorted(tmp_path.glob("rank-*.json")), merged) == ""
    expected = json.loads(merged.read_text())
    assert complaints(expected) == []
    assert found.keys() == expected.keys() and len(found["benchmarks"]) > 0
    for key in found.keys() - {"context"}:
        assert found[key] == expected[key], key
    assert [point["ranks"]["missing"] for point in found["benchmarks"] if "ranks" in point] != []
    assert found["context"]["warnings"] == expected["context"]["warnings"]
