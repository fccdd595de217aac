"""`cqbench run --ranks`: client processes that are started together, by each launcher, and what becomes of a point."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cqbench.formats.offered import closed, open_loop
from cqbench.formats.result import load
from cqbench.measure.processes import Finished
from cqbench.measure.ranks import hosts, launch, merge
from cqbench.measure.ranks.hosts import HERE, BadHosts
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.session import Session
from cqbench.run import ranked
from experiment_standin import finish, manifest_of, only_folder, start, statuses, wait_for
from rank_files import drawn, rank_file
from ranks_standin import make
from tools import need


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return make(tmp_path)


def run(programs: Path, *flags: str, **more: str) -> tuple[int, str, Path]:
    """With our stand-ins of launchers before all others."""
    path = f"{programs}:{os.environ['PATH']}"
    status, _, stderr = finish(start(programs, *flags, PATH=path, **more))
    return status, stderr, only_folder(programs)


def point(folder: Path, inflight: int) -> Any:
    return load(folder / f"raw/a/01-{inflight}.json").points[0]


def test_a_run_in_ranks(programs: Path) -> None:
    status, stderr, folder = run(programs, "--ranks", "4")
    assert status == 0, stderr
    assert statuses(folder) == {"a/01-2": "ok", "a/01-8": "ok"}
    merged = point(folder, 8)
    assert (merged.inflight, merged.completed, merged.ranks.count) == (8, 8000, 4)
    assert sorted(p.name for p in (folder / "ranks/a/01-8").glob("rank-*")) == [f"rank-{i}.json" for i in range(4)]
    assert point(folder, 2).ranks.count == 2, "no more ranks than calls in flight"
    assert "client processes: 4 on this machine:4" in stderr
    assert "with fewer calls in flight than 4 there are as many client processes as calls" in stderr
    assert {entry["ranks"] for entry in manifest_of(folder)["runs"]} == {"4 on this machine:4"}
    assert (folder / "report.html").read_text().count("The client processes") > 0
    assert "4 on this machine:4" in (folder / "verdict.txt").read_text()


def test_ranks_are_pinned_each_to_its_own(programs: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    lists = f"{cpus[0]};{cpus[-1]}"
    status, stderr, folder = run(programs, "--ranks", "4", "--client-cpus", lists, "--inflight", "8")
    assert status == 0, stderr
    allowed = [one.cpus_allowed for one in point(folder, 8).ranks.per_rank]
    assert allowed == [str(cpus[0]), str(cpus[-1])] * 2


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_a_launcher_is_told_once_for_each_point(launcher: str, programs: Path) -> None:
    flags = ("--ranks", "3", "--hosts", "x,y:2", "--launcher", launcher, "--inflight", "8")
    status, stderr, folder = run(programs, *flags)
    assert status == 0, stderr
    merged = point(folder, 8)
    assert [one.host for one in merged.ranks.per_rank] == ["x", "y", "y"]
    words = shlex.split(manifest_of(folder)["runs"][0]["client_command"])
    assert launcher in words
    wanted = {"mpirun": {"--bind-to", "none", "--oversubscribe"}, "srun": {"--cpu-bind=none", "--mpi=pmix"}}
    assert wanted[launcher] <= set(words)
    assert ("--allow-run-as-root" in words) == (launcher == "mpirun" and os.geteuid() == 0)
    server = manifest_of(folder)["runs"][0]["server_command"]
    assert "--host 0.0.0.0" in server, "other machines must reach it"


def test_the_real_mpirun_takes_what_it_is_told(programs: Path, tmp_path: Path) -> None:
    """And leaves the ranks where they pinned themselves."""
    need("mpirun")
    cpu = str(min(os.sched_getaffinity(0)))
    client = [str(programs / "grpc_ping_client_mpi"), "--inflight-list", "8"]
    (command,) = launch.commands(Launch((HERE,) * 3, launch.MPIRUN, (cpu,)), client, tmp_path)
    subprocess.run(command, check=True, timeout=60)
    assert merge.collect(programs / merge.PROGRAM, tmp_path, tmp_path / "point.json", (cpu,) * 3) == ""
    (merged,) = load(tmp_path / "point.json").points
    assert merged.ranks and [(r.rank, r.cpus_allowed) for r in merged.ranks.per_rank] == [(i, cpu) for i in range(3)]


def test_a_launch_command_of_ones_own(programs: Path) -> None:
    flags = ("--ranks", "2", "--hosts", "x,y", "--launcher", "none", "--inflight", "8")
    status, stderr, folder = run(programs, *flags, "--launch", "env STANDIN_HOST={host}", "--server-address", "me")
    assert status == 0, stderr
    assert [one.host for one in point(folder, 8).ranks.per_rank] == ["x", "y"]
    assert "--host me:7 " in manifest_of(folder)["runs"][0]["client_command"]


def test_a_rank_that_dies_costs_its_point_alone(programs: Path) -> None:
    """Rank 3 is in the point with 8 calls only."""
    status, stderr, folder = run(programs, "--ranks", "4", STANDIN_DIES="3")
    assert status == 1
    assert statuses(folder) == {"a/01-2": "ok", "a/01-8": "failed"}
    merged = point(folder, 8)
    assert merged.partial and merged.ranks.missing == [3] and merged.completed == 6000
    (reason,) = {entry["reason"] for entry in manifest_of(folder)["runs"] if entry["status"] == "failed"}
    assert reason == "rank 3: killed by signal 9"
    assert (folder / "verdict.txt").exists(), stderr


def test_half_a_file_is_a_missing_rank(programs: Path, tmp_path: Path) -> None:
    """And what the rank said last is why."""
    rank_file(tmp_path, 0, 2, drawn(0))
    (tmp_path / "rank-1.json").write_text("{")
    assert "rank-1.json" in merge.collect(programs / merge.PROGRAM, tmp_path, tmp_path / "point.json", ())
    (merged,) = load(tmp_path / "point.json").points
    assert merged.partial and merged.ranks and merged.ranks.missing == [1]
    done = [Finished(0, "", ""), Finished(1, "", "== so far\ngrpc_ping_client: no luck\n")]
    said = ranked.complaint(Launch(("", ""), launch.NONE), done)
    assert said == "rank 1: grpc_ping_client: no luck (exit status 1)"


def test_an_interrupt_keeps_what_all_ranks_have(programs: Path) -> None:
    process = start(programs, "--ranks", "2", "--inflight", "8", STANDIN_WAITS="1")
    for index in range(2):
        wait_for(programs.parent / "results", f"*/ranks/a/01-8/waiting-{index}")
    process.send_signal(signal.SIGTERM)
    status, _, stderr = finish(process)
    assert status == 128 + signal.SIGTERM, stderr
    folder = only_folder(programs)
    merged = point(folder, 8)
    assert merged.partial and (merged.ranks.missing, merged.completed) == ([], 4000)


def test_a_run_is_resumed_in_the_same_ranks(programs: Path) -> None:
    status, _, folder = run(programs, "--ranks", "4", STANDIN_DIES="3")
    assert status == 1
    status, stderr, _ = run(programs, "--resume", str(folder))
    assert status == 0, stderr
    assert point(folder, 8).ranks.missing == [] and (folder / "ranks/a/01-8.1").is_dir()
    status, stderr, _ = run(programs, "--resume", str(folder), "--ranks", "2")
    assert status == 2 and "argument --ranks: 2 is not what" in stderr and "4 on this machine:4" in stderr


REFUSED = {
    "hosts alone": (("--hosts", "a"), "argument --hosts: 'a' is not accepted without --ranks"),
    "too many hosts": (("--ranks", "1", "--hosts", "a,b"), "is for at least 2 ranks, --ranks is 1"),
    "other numbers": (("--ranks", "4", "--hosts", "a:1,b:1"), "is for 2 ranks, --ranks is 4"),
    "a host twice": (("--ranks", "4", "--hosts", "a,a"), "names a twice"),
    "no host": (("--ranks", "4", "--hosts", "a,;rm"), "';rm' is not HOST or HOST:N"),
    "no file": (("--ranks", "4", "--hosts", "@nowhere"), "'@nowhere' cannot be read: No such file"),
    "no way there": (("--ranks", "2", "--hosts", "a,b", "--launcher", "none"), "needs --launch with {host} in it"),
    "two ways": (
        ("--ranks", "2", "--launcher", "mpirun", "--launch", "x"),
        "not accepted with --launcher mpirun",
    ),
    "no launcher": (("--ranks", "2", "--launcher", "pdsh"), "'pdsh' is not one of mpirun, srun, none"),
    "no CPUs": (("--ranks", "2", "--client-cpus", "all"), "'all' is not lists of CPUs"),
    "no ranks": (("--ranks", "0"), "'0' is not an integer from 1 to"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_started_is_refused(name: str, programs: Path) -> None:
    flags, said = REFUSED[name]
    status, _, stderr = finish(start(programs, *flags))
    assert (status, len(stderr.splitlines())) == (2, 1)
    assert said in stderr


@pytest.mark.parametrize("flag", launch.BY_ITSELF)
def test_what_goes_by_one_process_is_refused(flag: str, programs: Path) -> None:
    toml = programs.parent / "try.toml"
    toml.write_text(toml.read_text().replace("--api sync", f"--api sync {flag} 5"))
    status, _, stderr = finish(start(programs, "--ranks", "2"))
    assert (status == 2 and "one process sees" in stderr) or "searches" in stderr or flag in stderr


def test_no_program_for_a_launcher(programs: Path) -> None:
    (programs / "grpc_ping_client_mpi").unlink()
    status, _, stderr = finish(start(programs, "--ranks", "2", "--launcher", "mpirun"))
    assert status == 2 and "has no program grpc_ping_client_mpi, which mpirun needs" in stderr


def test_a_client_that_sees_no_folder_of_ours(programs: Path, tmp_path: Path) -> None:
    """A client of gRPC 1.83 is in a root of its own. A stand-in for newgrpc.sh shows the folder as the real one
    does.
    """
    script = tmp_path / "newgrpc.sh"
    script.write_text(
        '#!/bin/bash\n[ "$1" = --run ] && shift\n'
        f'PATH={programs}:$PATH exec "${{@//\\/cqbench\\/shared/$CQBENCH_SID_SHARED}}"\n'
    )
    script.chmod(0o755)
    client = [str(script), "--run", "grpc_ping_client", "--inflight-list", "8"]
    folder, path = tmp_path / "ranks", tmp_path / "point.json"
    folder.mkdir()
    of = Launch((HERE, HERE), launch.NONE)
    signals: Any = SimpleNamespace(count=0)
    commands = ranked.commands(of, client, "sid", folder)
    merger = programs / merge.PROGRAM
    done = ranked.measure(of, commands, folder, path, merger, Session(signals), 20, lambda _: None)
    assert (done.returncode, done.why) == (0, ""), (folder / "0.log").read_text()
    (merged,) = load(path).points
    assert merged.ranks and merged.ranks.count == 2
    assert f"env CQBENCH_SID_SHARED={folder} {script} --run grpc_ping_client" in shlex.join(commands[0])


def test_a_plan_says_it(programs: Path) -> None:
    status, stdout, _ = finish(start(programs, "--plan", "--ranks", "4"))
    assert status == 0 and "note: client processes: 4 on this machine:4" in stdout


@pytest.mark.parametrize(
    ("text", "count", "wanted"),
    [("a,b:4", 8, "aaaabbbb"), ("a,b", 3, "aab"), ("a:1,b:2", 3, "abb"), ("a", 2, "aa"), ("b,a:1,c", 6, "bbbacc")],
)
def test_ranks_on_machines(text: str, count: int, wanted: str) -> None:
    assert "".join(hosts.parse(text, count)) == wanted


def test_a_file_of_machines(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# two machines\na slots=1\n\nb   # the other\n")
    assert hosts.parse(f"@{path}", 3) == ("a", "b", "b")


def test_the_machines_of_a_slurm_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the one that the batch script is on: the server is there."""
    scontrol = tmp_path / "scontrol"
    scontrol.write_text("#!/bin/sh\nhostname\necho n2\necho n3\n")
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert hosts.of_slurm({"SLURM_JOB_NODELIST": "n[1-3]"}) == ("n2", "n3")
    assert hosts.of_slurm({}) == ()
    scontrol.write_text("#!/bin/sh\necho 'invalid node' >&2; exit 1\n")
    with pytest.raises(BadHosts, match="scontrol: invalid node"):
        hosts.of_slurm({"SLURM_JOB_NODELIST": "n[1-3]"})


def test_fewer_ranks_are_spread_over_the_machines() -> None:
    four = Launch(("a", "a", "b", "b"), launch.MPIRUN)
    assert four.at(closed(2)).hosts == ("a", "b")
    assert four.at(closed(100)).hosts == four.hosts == four.at(open_loop(1.0)).hosts


def test_a_launch_goes_through_a_file() -> None:
    one = Launch(("a", "b"), launch.NONE, ("0-1", "2"), "ssh {host}", "me")
    assert launch.from_json(json.loads(json.dumps(one.to_json()))) == one
    changes: tuple[dict[str, Any], ...] = ({"launcher": "x"}, {"hosts": []}, {"template": None})
    for bad in ({}, "x", *({**one.to_json(), **change} for change in changes)):
        with pytest.raises(ValueError, match="cannot be read"):
            launch.from_json(bad)
