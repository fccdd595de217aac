"""`cqbench run --ranks` inside a Slurm job: a controller and two node daemons of this test's own, ended with it.

Needs root, slurm-wlm and the client that speaks MPI; skipped elsewhere. Both nodes are this machine, which Slurm allows
with `slurmd -N`; each has its own folder for PMIx, and MPI keeps to TCP, as nodes do not share memory. One rank on
each: Open MPI takes two nodes with one name and address for one machine, and several ranks on them lose each other.
"""

from __future__ import annotations

import json
import os
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
from test_cluster_real import TOML
from test_result_schema import complaints, programs

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
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
ReturnToService=2
MpiDefault=none
NodeName=n1 NodeHostname={here} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=n2 NodeHostname={here} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
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
    """What a job's command needs in its environment."""
    missing = [name for name in ("slurmctld", "slurmd", "salloc", "scontrol") if not shutil.which(name)]
    if missing or os.geteuid():
        pytest.skip(f"no Slurm that can be started here: {', '.join(missing) or 'not root'}")
    here = socket.gethostname().partition(".")[0]
    text = CONFIG.format(here=here, folder=tmp_path, ports=free_ports(3))
    (tmp_path / "state").mkdir()
    configs = {name: configure(tmp_path / f"conf-{name}", text) for name in ("controller", *NODES)}
    commands = {"controller": ["slurmctld", "-D"], **{name: ["slurmd", "-D", "-N", name] for name in NODES}}
    started = []
    try:
        for name, command in commands.items():
            with (tmp_path / f"{name}.log").open("w") as log:
                env = {**os.environ, "SLURM_CONF": str(configs[name])}
                started.append(subprocess.Popen([*command, "-f", str(configs[name])], stdout=log, stderr=log, env=env))
        env = {
            "SLURM_CONF": str(configs["controller"]),
            "OMPI_MCA_btl": "tcp,self",
            "OMPI_MCA_btl_tcp_if_include": "lo",
        }
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


def test_a_point_on_the_two_machines_of_a_job(slurm: dict[str, str], tmp_path: Path) -> None:
    bin_dir = programs()
    if not (bin_dir / "grpc_ping_client_mpi").exists():
        pytest.skip("there is no client that speaks MPI")
    (tmp_path / "try.toml").write_text(TOML.format(load="inflight = [2, 8]"))
    command = [sys.executable, "-m", "cqbench.cli", "run", str(tmp_path / "try.toml"), "--bin", str(bin_dir)]
    command += ["--results", str(tmp_path / "results"), "--ranks", "2", "--server-address", "localhost"]
    done = subprocess.run(
        ["salloc", "-N2", "-n2", *command],
        capture_output=True, text=True, env=environment(**slurm), timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "client processes: 2 on n1, n2 by srun" in done.stderr
    folder = only_folder(tmp_path / "bin")  # the results are beside it
    assert statuses(folder) == {"a/01-2": "ok", "a/01-8": "ok"}
    for load in (2, 8):
        data: Any = json.loads((folder / f"raw/a/01-{load}.json").read_text())
        assert complaints(data) == []
        (point,) = data["benchmarks"]
        assert (point["inflight"], point["ranks"]["count"], point["ranks"]["missing"]) == (load, 2, [])
        assert point["completed"] == sum(row["completed"] for row in point["ranks"]["per_rank"]) > 0
