"""`cqbench run --ranks` inside a Slurm job: a controller and two node daemons of this test's own, ended with it.

Needs root, slurm-wlm and the client that speaks MPI; skipped elsewhere. Both nodes are this machine, which Slurm allows
with `slurmd -N`; each has a UTS namespace and a folder of its own for PMIx. Where ranks speak MPI they are on one node:
both have one address, and Open MPI's connections between them fail now and then ("Operation now in progress").
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from experiment_standin import environment, only_folder, statuses
from result_schema import complaints, programs
from test_cluster_real import TOML, await_calls

NODES = ("n1", "n2")
CONFIG = """ClusterName=cqbench
SlurmctldHost={here}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
MpiDefault=none
NodeName=n1 NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus}
NodeName=n2 NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus}
PartitionName=all Nodes=n1,n2 Default=YES State=UP OverSubscribe=FORCE:8
"""


def free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def configure(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "pmix").mkdir()
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/pmix\n")
    path = folder / "slurm.conf"
    path.write_text(text)
    return path


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Returns the environment variables for a job's command."""
    missing = [name for name in ("slurmctld", "slurmd", "salloc", "scontrol") if not shutil.which(name)]
    if missing or os.geteuid():
        pytest.skip(f"no Slurm that can be started here: {', '.join(missing) or 'not root'}")
    here = socket.gethostname().partition(".")[0]
    text = CONFIG.format(here=here, folder=tmp_path, ports=free_ports(3), cpus=os.cpu_count())
    (tmp_path / "state").mkdir()
    configs = {name: configure(tmp_path / f"conf-{name}", text) for name in ("controller", *NODES)}
    commands = {"controller": ["slurmctld", "-D"]}
    for name in NODES:
        commands[name] = ["unshare", "--uts", "sh", "-c", 'hostname "$3"; exec "$@"', "sh", "slurmd", "-N", name, "-D"]
    started = []
    try:
        for name, command in commands.items():
            with (tmp_path / f"{name}.log").open("w") as log:
                env = {**os.environ, "SLURM_CONF": str(configs[name])}
                started.append(subprocess.Popen([*command, "-f", str(configs[name])], stdout=log, stderr=log, env=env))
        env = {"SLURM_CONF": str(configs["controller"])}
        if not _ready(env):
            pytest.skip("this Slurm does not come up: " + (tmp_path / "controller.log").read_text()[-300:])
        yield env
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30)


def _ready(env: dict[str, str]) -> bool:
    give_up_at = time.monotonic() + 30
    while time.monotonic() < give_up_at:
        done = subprocess.run(
            ["sinfo", "-h", "-o", "%T %D"], capture_output=True, text=True, env={**os.environ, **env}, check=False
        )
        if done.stdout.split() == ["idle", "2"]:
            return True
        time.sleep(0.2)
    return False


@pytest.fixture
def run(tmp_path: Path) -> list[str]:
    """`cqbench run` of two points, with one machine's name for the server."""
    bin_dir = programs()
    if not (bin_dir / "grpc_ping_client_mpi").exists():
        pytest.skip("there is no client that speaks MPI")
    (tmp_path / "try.toml").write_text(TOML.format(load="inflight = [4, 8]"))
    command = [sys.executable, "-m", "cqbench.cli", "run", str(tmp_path / "try.toml"), "--bin", str(bin_dir)]
    return [*command, "--results", str(tmp_path / "results"), "--server-address", "localhost"]


def point(tmp_path: Path, load: int) -> Any:
    data: Any = json.loads((only_folder(tmp_path / "bin") / f"raw/a/01-{load}.json").read_text())
    assert complaints(data) == []
    (found,) = data["benchmarks"]
    return found


ONE_BY_ONE = "srun --overlap --cpu-bind=none --nodes=1 --ntasks=1 --nodelist={host}"
WAYS = {
    "by MPI": (["-N1", "-n2"], ["--ranks", "2"], "client processes: 2 on n1:2 by srun", ["n1", "n1"]),
    "through files": (
        ["-N2", "-n4"],
        ["--ranks", "4", "--hosts", "n1:2,n2:2", "--launcher", "none", "--launch", ONE_BY_ONE],
        "client processes: 4 on n1:2, n2:2",
        ["n1", "n1", "n2", "n2"],
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_points_on_the_machines_of_a_job(way: str, slurm: dict[str, str], run: list[str], tmp_path: Path) -> None:
    nodes, flags, says, hosts = WAYS[way]
    done = subprocess.run(
        ["salloc", *nodes, *run, *flags],
        capture_output=True, text=True, env=environment(**slurm), timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert says in done.stderr
    assert statuses(only_folder(tmp_path / "bin")) == {"a/01-4": "ok", "a/01-8": "ok"}
    for load in (4, 8):
        found = point(tmp_path, load)
        rows = found["ranks"]["per_rank"]
        assert (found["inflight"], found["ranks"]["missing"], [row["host"] for row in rows]) == (load, [], hosts)
        assert found["completed"] == sum(row["completed"] for row in rows) > 0


def test_a_job_whose_time_is_over(slurm: dict[str, str], run: list[str], tmp_path: Path) -> None:
    """A batch script gets SIGTERM, as from --signal=B:TERM@60: on the first machine, with the server."""
    script, env = tmp_path / "job.sh", {**environment(**slurm)}
    script.write_text(f"#!/bin/sh\nexec {shlex.join([*run, '--ranks', '2', '--inflight', '8', '--interval', '60'])}\n")
    command = ["sbatch", "--parsable", "-N2", "-n4", "--time=5", f"--output={tmp_path}/job.log", str(script)]
    job = subprocess.run(command, capture_output=True, text=True, env=env, check=True, timeout=60).stdout.strip()
    await_calls(tmp_path, 2, cpu_s=1)
    subprocess.run(["scancel", "--batch", "--signal=TERM", job], env=env, check=True, timeout=60)
    give_up_at = time.monotonic() + 60
    ask = ["squeue", "--noheader", "--jobs", job]
    while subprocess.run(ask, env=env, capture_output=True, timeout=60, check=False).stdout:
        assert time.monotonic() < give_up_at, (tmp_path / "job.log").read_text()
        time.sleep(0.2)
    found = point(tmp_path, 8)
    assert found["partial"] and found["ranks"]["missing"] == [], (tmp_path / "job.log").read_text()
    assert [row["host"] for row in found["ranks"]["per_rank"]] == ["n2", "n2"]
    assert all(row["completed"] > 0 and row["partial"] for row in found["ranks"]["per_rank"])
