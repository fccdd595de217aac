"""`cqbench run --ranks` and `cqbench merge` with real clients, where they know of ranks."""

from __future__ import annotations

import bisect
import contextlib
import itertools
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cqbench.measure.processes import Server
from cqbench.measure.ranks import launch, merge
from cqbench.measure.ranks.hosts import HERE
from cqbench.measure.ranks.launch import Launch
from experiment_standin import environment, finish, only_folder, statuses
from hdrh.histogram import HdrHistogram
from result_schema import complaints, programs
from tools import need

TOML = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
{load}
warmup = 0.1
interval = 0.5
repetitions = 1

[[configuration]]
name = "a"
client_flags = "--api cq"
"""


@pytest.fixture(scope="module")
def bin_dir() -> Path:
    folder = programs()
    done = subprocess.run([folder / "grpc_ping_client", "--help"], capture_output=True, text=True, check=True)
    if "--rendezvous" not in done.stdout:
        pytest.skip("this client knows nothing of ranks")
    return folder


def begin(bin_dir: Path, tmp_path: Path, load: str, *flags: str, more: str = "") -> subprocess.Popen[str]:
    """more: flags of the client."""
    (tmp_path / "try.toml").write_text(TOML.format(load=load).replace("--api cq", f"--api cq {more}"))
    command = ["-m", "cqbench.cli", "run", str(tmp_path / "try.toml"), "--bin", str(bin_dir), *flags]
    return subprocess.Popen(
        [sys.executable, *command, "--results", str(tmp_path / "results")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip


def run(bin_dir: Path, tmp_path: Path, load: str, *flags: str, more: str = "") -> Path:
    status, _, stderr = finish(begin(bin_dir, tmp_path, load, *flags, more=more))
    assert status == 0, stderr
    return only_folder(tmp_path / "bin")  # the results are next to it


def need_launcher(launcher: str, bin_dir: Path) -> None:
    if launcher == "mpirun":
        if not (bin_dir / "grpc_ping_client_mpi").exists():
            pytest.skip("grpc_ping_client_mpi is not built")
        need("mpirun")


def only(path: Path) -> Any:
    data = json.loads(path.read_text())
    assert complaints(data) == []
    (point,) = data["benchmarks"]
    return point


def buckets(text: str) -> Counter[int]:
    found = HdrHistogram.decode(text).get_recorded_iterator()
    return Counter({step.value_iterated_to: step.count_at_value_iterated_to for step in found})


@pytest.mark.parametrize(
    ("launcher", "load", "asked"),
    [("none", "rates = [1000]", ("target_rate_per_second", 1000)), ("mpirun", "inflight = [7]", ("inflight", 7))],
)  # fmt: skip
def test_the_point_is_the_sum_of_its_ranks(
    launcher: str, load: str, asked: tuple[str, int], bin_dir: Path, tmp_path: Path
) -> None:
    need_launcher(launcher, bin_dir)
    folder = run(bin_dir, tmp_path, load, "--ranks", "3", "--launcher", launcher)
    (name,) = statuses(folder)
    point = only(folder / f"raw/{name}.json")
    each = [only(folder / f"ranks/{name}/rank-{i}.json") for i in range(3)]
    assert point[asked[0]] == asked[1] == sum(p[asked[0]] for p in each)
    for key in ("completed", "calls_due", "calls_ok", "calls_sent", "failed", "latency_samples", "connections"):
        assert point[key] == sum(p[key] for p in each), key
    counted: Counter[int] = sum((buckets(p["latency_histogram"]) for p in each), Counter())
    assert buckets(point["latency_histogram"]) == counted
    assert point["latency_max_ns"] == max(p["latency_max_ns"] for p in each)
    assert point["throughput_per_second"] == point["completed"] / (point["window_ns"] / 1e9)
    assert len({p["rank"]["announced_open_ns"] for p in each}) == 1
    assert [row["rank"] for row in point["ranks"]["per_rank"]] == [0, 1, 2]
    assert "server_rpcs" in point and not [p for p in each[1:] if "server_rpcs" in p]
    if asked[0] != "inflight":
        assert len({p["schedule_hash"] for p in each}) == 3, "each rank draws its own"


def test_ranks_stay_where_they_are_pinned_and_divide_a_number_of_calls(bin_dir: Path, tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    lists = f"{cpus[0]};{cpus[-1]}"
    flags = ("--ranks", "2", "--client-cpus", lists, "--interval", "20")
    folder = run(bin_dir, tmp_path, "inflight = [4]", *flags, more="--total 1013 --skip-first 110")
    (name,) = statuses(folder)
    point = only(folder / f"raw/{name}.json")
    files = [json.loads((folder / path).read_text())["context"] for path in
             (f"raw/{name}.json", f"ranks/{name}/rank-0.json", f"ranks/{name}/rank-1.json")]  # fmt: skip
    assert [(f["total_calls"], f["skip_first"]) for f in files] == [(903, 110), (452, 55), (451, 55)]
    assert point["completed"] >= 903 and point["window_ns"] < 20e9
    assert [row["cpus_allowed"] for row in point["ranks"]["per_rank"]] == [str(cpus[0]), str(cpus[-1])]
    assert "rank-cpus" not in [reason["code"] for reason in point["warnings"]]


def clients(tmp_path: Path) -> list[int]:
    """Those that leave their files below it, as /proc has them; not mpirun, which has the same words."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            if Path(words[0]).name.startswith("grpc_ping_client") and any(str(tmp_path) in w for w in words[1:]):
                found.append(int(path.parent.name))
    return sorted(found)


def await_calls(tmp_path: Path, ranks: int, cpu_s: float = 0.3) -> list[int]:
    """Until each has used so much CPU time that it measures: starting and agreeing take less."""
    give_up_at = time.monotonic() + 60
    while time.monotonic() < give_up_at:
        there = clients(tmp_path)
        if len(there) == ranks and all(cpu_seconds(pid) > cpu_s for pid in there):
            return there
        time.sleep(0.02)
    raise AssertionError(f"{len(clients(tmp_path))} of {ranks} clients")


def cpu_seconds(pid: int) -> float:
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def test_one_rank_on_a_server_a_hundred_times_slower(bin_dir: Path, tmp_path: Path) -> None:
    """The percentiles are those of all calls: the slow ones are above P50 of all, and averages would be far off."""
    with contextlib.ExitStack() as stack:
        clients, names = [], []
        for rank, busy in enumerate(("0.0001", "0.01")):
            flags = ["--service-time", busy, "--service-time-mode", "wait"]
            server = Server([str(bin_dir / "grpc_ping_server"), *flags], tmp_path / f"log-{rank}")
            stack.enter_context(server)
            names.append(server.address)
            words = ["--host", server.address, "--inflight", "2", "--warmup", "0.1", "--interval", "1"]
            words += ["--ranks", "2", "--rank", str(rank), "--rendezvous", str(tmp_path)]
            clients.append(subprocess.Popen([bin_dir / "grpc_ping_client", *words], stdout=subprocess.DEVNULL))
        assert [client.wait(60) for client in clients] == [0, 0]
    paths = [tmp_path / f"rank-{rank}.json" for rank in range(2)]
    paths[1].write_text(paths[1].read_text().replace(names[1], names[0]))  # else they would not be merged
    each = [only(path) for path in paths]
    shares = [p["completed"] for p in each]
    assert each[1]["latency_p50_ns"] > 5 * each[0]["latency_p50_ns"] and shares[0] > 5 * shares[1] > 0, shares
    assert merge.collect(bin_dir / merge.PROGRAM, tmp_path, tmp_path / "point.json", ()) == ""
    point = only(tmp_path / "point.json")
    counted = buckets(each[0]["latency_histogram"]) + buckets(each[1]["latency_histogram"])
    seen = list(itertools.accumulate(counted[value] for value in sorted(counted)))
    for name, percent in (("p50", 50), ("p90", 90)):
        rank = math.ceil(percent / 100 * counted.total())
        assert point[f"latency_{name}_ns"] == sorted(counted)[bisect.bisect_left(seen, rank)], name
    assert "straggler" in [reason["code"] for reason in point["warnings"]]


def test_a_rank_that_is_killed_in_the_window_costs_its_point(bin_dir: Path, tmp_path: Path) -> None:
    """The other point is whole, and of this one there is what the others measured."""
    process = begin(bin_dir, tmp_path, "inflight = [3, 6]", "--ranks", "3", "--interval", "3")
    os.kill(await_calls(tmp_path, 3)[-1], signal.SIGKILL)
    status, _, stderr = finish(process)
    assert status == 1, stderr
    folder = only_folder(tmp_path / "bin")
    assert sorted(statuses(folder).values()) == ["failed", "ok"], stderr
    (name,) = (name for name, what in statuses(folder).items() if what == "failed")
    point = only(folder / f"raw/{name}.json")
    assert point["partial"] and len(point["ranks"]["missing"]) == 1
    assert point["completed"] == sum(row["completed"] for row in point["ranks"]["per_rank"]) > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGKILL])
def test_what_the_ranks_of_mpirun_have_is_kept(
    number: int, bin_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGTERM to it, as from Slurm at the end of its time; SIGUSR1, which `cqbench run` sends for Ctrl-C; SIGKILL to a
    rank. With a shorter wait.
    """
    need_launcher("mpirun", bin_dir)
    monkeypatch.setattr(launch, "STOP_S", 2)
    with Server([str(bin_dir / "grpc_ping_server")], tmp_path / "log") as server:
        client = [str(bin_dir / "grpc_ping_client_mpi"), "--host", server.address, "--inflight", "6"]
        client += ["--warmup", "0.05", "--interval", "60"]
        (command,) = launch.commands(Launch((HERE,) * 3, launch.MPIRUN), client, tmp_path)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        pids = await_calls(tmp_path, 3, 0.6)
        os.kill(pids[-1] if number == signal.SIGKILL else process.pid, number)
        finish(process)
    assert merge.collect(bin_dir / merge.PROGRAM, tmp_path, tmp_path / "point.json", ()) == ""
    point = only(tmp_path / "point.json")
    assert point["partial"] and len(point["ranks"]["missing"]) == (number == signal.SIGKILL)
    assert all(row["completed"] > 0 and row["partial"] for row in point["ranks"]["per_rank"])
