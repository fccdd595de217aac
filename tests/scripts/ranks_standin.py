"""Stand-ins for clients in ranks, and for mpirun and srun, in addition to those of experiments."""

from __future__ import annotations

import sys
from pathlib import Path

from experiment_standin import CHECKED, SCRIPTS, make_programs
from result_schema import programs

TESTS = Path(__file__).parent
# Leaves the rank file that is asked for, and merges as the real one. STANDIN_<WHAT>=N says what rank N does instead.
CLIENT = f"""#!{sys.executable}
import os, pathlib, signal, sys, time
if "--merge" in sys.argv:
    os.execv("REAL", ["REAL", *sys.argv[1:]])
here = pathlib.Path(__file__).parent
{CHECKED}
sys.path[:0] = [{str(SCRIPTS)!r}, {str(TESTS)!r}]
from rank_files import drawn, rank_file
def flag(name, default=""):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else os.environ.get(default, "")
index = int(flag("--rank", "OMPI_COMM_WORLD_RANK") or os.environ["SLURM_PROCID"])
count = int(flag("--ranks", "OMPI_COMM_WORLD_SIZE") or os.environ["SLURM_NTASKS"])
folder = pathlib.Path(flag("--rendezvous"))
load = int(flag("--inflight-list"))
def asked(what):
    return os.environ.get("STANDIN_" + what) == str(index)
def change(data, report):
    report["load"]["slots"] = load // count + (index < load % count)
    report["rank"]["cpus_allowed"] = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    data["context"]["command_line"] = sys.argv
    data["context"]["partial"] = report["partial"] = interrupted
interrupted = False
def finish(*_):
    rank_file(folder, index, count, drawn(index, 2000), host=os.environ.get("STANDIN_HOST", "here"), change=change)
    sys.exit(130 if interrupted else 0)
def interrupt(*_):
    global interrupted
    interrupted = True
    finish()
signal.signal(signal.SIGINT, interrupt)
signal.signal(signal.SIGTERM, interrupt)
signal.signal(signal.SIGUSR1, interrupt)
if asked("DIES"):
    os.kill(os.getpid(), signal.SIGKILL)
if "STANDIN_WAITS" in os.environ:
    (folder / f"waiting-{{index}}").touch()
    time.sleep(60)
finish()
"""
# One after the other, as they are told: what is asked of a launcher is its command line.
MPIRUN = f"""#!{sys.executable} -IS
import os, subprocess, sys
words = sys.argv[1:]
common = words[: words.index("-np")]
parts, part = [], []
for word in words[len(common):] + [":"]:
    if word == ":":
        parts.append(part)
        part = []
    else:
        part.append(word)
total = sum(int(p[1]) for p in parts)
rank, worst = 0, 0
for part in parts:
    rest = part[2:]
    host = "here"
    if rest[0] == "-host":
        host, rest = rest[1].partition(":")[0], rest[2:]
    for _ in range(int(part[1])):
        told = {{"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(total), "STANDIN_HOST": host}}
        worst = max(worst, abs(subprocess.run(rest, env={{**os.environ, **told}}).returncode))
        rank += 1
sys.exit(worst)
"""
SRUN = f"""#!{sys.executable} -IS
import os, subprocess, sys
words = sys.argv[1:]
total = int(words[words.index("--ntasks") + 1])
hosts = open(os.environ["SLURM_HOSTFILE"]).read().split() if "SLURM_HOSTFILE" in os.environ else ["here"] * total
worst = 0
for rank in range(total):
    told = {{"SLURM_PROCID": str(rank), "SLURM_NTASKS": str(total), "STANDIN_HOST": hosts[rank]}}
    worst = max(worst, abs(subprocess.run(words[-2:], env={{**os.environ, **told}}).returncode))
sys.exit(worst)
"""
TOML = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
inflight = [2, 8]
warmup = 0.01
interval = "10ms"
repetitions = 1
seed = 7

[[configuration]]
name = "a"
client_flags = "--api sync"
client_env = { SOME = "thing" }
"""


def make(parent: Path) -> Path:
    """The programs' folder, with launchers in it."""
    client = CLIENT.replace("REAL", str((programs() / "grpc_ping_client").resolve()))
    folder = make_programs(parent, client=client, toml=TOML)
    for name, text in (("grpc_ping_client_mpi", client), ("mpirun", MPIRUN), ("srun", SRUN)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder
