"""Client processes on several machines, which are network and UTS namespaces here: their own addresses and host names.

A script of ours stands in for ssh. Needs root; skipped where namespaces cannot be made.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from experiment_standin import environment, finish, only_folder, statuses
from result_schema import complaints, programs
from test_cluster_real import TOML

NUMBER = os.getpid() % 10_000
MACHINES = [f"cqb{NUMBER}m{i}" for i in range(2)]
# This process has its own subnet, as it has its own names: another run of the tests may go on.
SUBNET = f"10.{128 + NUMBER // 100}.{NUMBER % 100}"
BRIDGE, SERVER = f"cqb{NUMBER}", f"{SUBNET}.1"
# In place of ssh: on that machine, under its name.
LAUNCH = """#!/bin/sh
machine=$1
shift
ahead=
case $machine in *m1) [ -z "$STANDIN_AHEAD" ] || ahead="--time --monotonic $STANDIN_AHEAD --fork --kill-child" ;; esac
exec ip netns exec "$machine" unshare --uts $ahead sh -c 'hostname "$0" && exec "$@"' "$machine" "$@"
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)


def remove() -> None:
    for words in (*(("netns", "del", name) for name in MACHINES), ("link", "del", BRIDGE)):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            ip(*words)


@pytest.fixture
def machines() -> Iterator[list[str]]:
    """Two, on a switch with this one."""
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("addr", "add", f"{SERVER}/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for i, name in enumerate(MACHINES):
            ip("netns", "add", name)
            ip("link", "add", f"{name}p", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"{name}p", "master", BRIDGE, "up")
            ip("-n", name, "addr", "add", f"{SUBNET}.{i + 2}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.SubprocessError) as error:
        remove()
        pytest.skip(f"namespaces cannot be made here: {error}")
    yield MACHINES
    remove()


def run(tmp_path: Path, *flags: str, **more: str) -> Any:
    """The merged point of one run with 6 calls in flight."""
    bin_dir = programs()
    known = subprocess.run([bin_dir / "grpc_ping_client", "--help-all"], capture_output=True, text=True, check=True)
    if "--rendezvous" not in known.stdout:
        pytest.skip("this client knows nothing of ranks")
    (tmp_path / "try.toml").write_text(TOML.format(load="inflight = [6]"))
    launch = tmp_path / "launch"
    launch.write_text(LAUNCH)
    launch.chmod(0o755)
    command = [sys.executable, "-m", "cqbench.cli", "run", str(tmp_path / "try.toml"), "--bin", str(bin_dir)]
    command += ["--results", str(tmp_path / "results"), "--launch", f"{launch} {{host}}", "--server-address", SERVER]
    process = subprocess.Popen(
        [*command, *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more)
    )
    status, _, stderr = finish(process)
    assert status == 0, stderr
    folder = only_folder(tmp_path / "bin")  # the results are next to it
    (name,) = statuses(folder)
    data = json.loads((folder / f"raw/{name}.json").read_text())
    assert complaints(data) == []
    (point,) = data["benchmarks"]
    return point


def test_ranks_on_two_machines(machines: list[str], tmp_path: Path) -> None:
    point = run(tmp_path, "--ranks", "3", "--hosts", f"{machines[0]}:2,{machines[1]}")
    rows = point["ranks"]["per_rank"]
    assert [row["host"] for row in rows] == [machines[0], machines[0], machines[1]]
    assert (point["inflight"], point["connections"], point["ranks"]["missing"]) == (6, 3, [])
    assert point["completed"] == sum(row["completed"] for row in rows)
    assert point["server_rpcs"] > 0


def test_a_machine_whose_clock_is_far_ahead(machines: list[str], tmp_path: Path) -> None:
    """Times are rank 0's, so nothing changes but the offset."""
    point = run(tmp_path, "--ranks", "2", "--hosts", ",".join(machines), STANDIN_AHEAD="1000")
    rows = point["ranks"]["per_rank"]
    assert rows[1]["offset_ns"] == pytest.approx(-1000e9, abs=1e9)
    assert abs(rows[0]["window_open_ns"] - rows[1]["window_open_ns"]) < 100e6
    assert point["ranks"]["missing"] == [] and all(row["completed"] > 0 for row in rows)
    assert point["window_ns"] == 500_000_000
