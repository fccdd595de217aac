"""What rank 0 of clients under MPI merges while the run goes on, and what `cqbench merge` makes of their files."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cqbench.ranks.members import load
from cqbench.ranks.merge import merge
from result_schema import complaints, programs

Json = dict[str, Any]
# What the live merge leaves out: time series, single CPUs, medians over connections, and the note of what files have no
# raw numbers of.
FILES_ALONE = re.compile(r"slice_.*|(client|server)_cpus|client_cpus_(allowed|busy)|client_.*_median|notes")
# What has no histogram in the files.
LIVE_ALONE = re.compile(r"(pacer_lateness|slot_wait)_(p50|p99|mean)_ns|notes")


@pytest.fixture(scope="module")
def mpi_client() -> Path:
    client = programs() / "grpc_ping_client_mpi"
    if not (shutil.which("mpirun") and client.exists()):
        pytest.skip("there is no MPI here")
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
    expected = merge(load(sorted(tmp_path.glob("rank-*.json"))))
    points = [point for point in found["benchmarks"] if point["run_type"] == "iteration"]
    assert len(points) == len(expected["benchmarks"]) > 0
    for ours, theirs in zip(points, expected["benchmarks"], strict=True):
        assert without(ours, LIVE_ALONE) == without(theirs, FILES_ALONE)
        assert ours["ranks"]["missing"] == []
    assert found["context"]["suspect"] == expected["context"]["suspect"]


def without(point: Json, left_out: re.Pattern[str]) -> Json:
    return {key: value for key, value in point.items() if not left_out.fullmatch(key)}
