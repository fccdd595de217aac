"""Stand-ins for the two programs, an experiment with them, and `cqbench run` as a process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from cqbench.experiment.order import make_order
from cqbench.experiment.spec import parse
from cqbench.formats import manifest

DATA = Path(__file__).parent / "data"
SCRIPTS = Path(__file__).parents[2] / "scripts"

# Both say nothing against their flags, or that STANDIN_REFUSES (a flag, or --check itself) is not known.
CHECKED = """if "--check" in sys.argv:
    unknown = os.environ.get("STANDIN_REFUSES", "")
    sys.exit((print(f"{os.path.basename(sys.argv[0])}: {unknown}: there is no such flag", file=sys.stderr), 2)[1]
             if unknown in sys.argv else 0)
"""
# A server does this before it reads its flags.
SERVER_BEGINS = f"""
import os, pathlib, sys, time
here = pathlib.Path(__file__).parent
if "--version" in sys.argv:
    sys.exit(print("stand-in"))
{CHECKED}
with (here / "server.pids").open("a") as f:
    f.write(f"{{os.getpid()}}\\n")
"""
# Ends at once where its flags say so, or a file next to it does.
SERVER = f"""#!{sys.executable} -IS{SERVER_BEGINS}
if (here / "server-broken").exists():
    sys.exit("grpc_ping_server: no luck")
if "--broken" in sys.argv:
    sys.exit("a\\nno luck")
print("gRPC 0, stand-in", flush=True)
print("listening on localhost:7", flush=True)
time.sleep(60)
"""
# The point that is asked for, of a stored document.
RESULT = f"""
def result(status):
    data = json.loads(pathlib.Path({str(DATA)!r}, "unary-sync-shared.json").read_text())
    asked = sys.argv[sys.argv.index("--inflight-list") + 1]
    data["benchmarks"] = [p for p in data["benchmarks"] if str(p["inflight"]) == asked]
    data["context"]["partial"] = status == 130
    for point in data["benchmarks"]:
        point["partial"] = status == 130
    return data
"""
# Answers with that, and does what STANDIN_<WHAT>=<configuration>/<NN>-<load> says.
CLIENT = f"""#!{sys.executable} -IS
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
{CHECKED}{RESULT}
to = sys.argv[sys.argv.index("--output") + 1] if "--output" in sys.argv else "/sid/01.json"
output = pathlib.Path(to)
me = f"{{output.parent.name}}/{{output.stem}}"
def asked(what):
    return os.environ.get("STANDIN_" + what) == me
with (here / "clients").open("a") as f:
    f.write(me + " " + os.environ.get("SOME", "") + "\\n")
with (here / "servers").open("a") as f:
    pids = (here / "server.pids").read_text().split() if (here / "server.pids").exists() else []
    f.write(f"{{sum(pathlib.Path('/proc', pid).exists() for pid in pids)}}\\n")
def finish(status):
    text = json.dumps(result(status))
    sys.stdout.write(text) if "--output" not in sys.argv else output.write_text(text)
    return status
signal.signal(signal.SIGINT, lambda *_: sys.exit(finish(130)))
if asked("FAILS"):
    sys.exit("first line\\ngrpc_ping_client: it broke")
if asked("IS_SILENT"):
    sys.exit(0)
if asked("GARBLES"):
    sys.exit(output.write_text("{{") and 0)
if asked("HAS_ERRORS"):
    sys.exit(finish(1))
if asked("KILLS_SERVER"):
    os.kill(int((here / "server.pids").read_text().split()[-1]), signal.SIGKILL)
    sys.exit("lost it")
if asked("WAITS"):
    (here / "waiting").touch()
    time.sleep(60)
sys.exit(finish(0))
"""

TOML = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
inflight = [1, 4]
warmup = 0.01
interval = "10ms"
repetitions = 2
seed = 7

[server]
flags = "--api cq"

[[configuration]]
name = "a"
client_flags = "--api sync"

[[configuration]]
name = "b"
client_flags = "--api cq"
client_env = { SOME = "thing" }

[[configuration]]
name = "c"
host = "elsewhere:7"
"""
PLANNED = [
    f"{configuration}/0{repetition}-{load}" for repetition in (1, 2) for load in (1, 4) for configuration in "abc"
]


def make_programs(parent: Path, server: str = SERVER, client: str = CLIENT, toml: str = TOML) -> Path:
    """Their folder, next to try.toml."""
    folder = parent / "bin"
    folder.mkdir()
    for name, text in (("grpc_ping_server", server), ("grpc_ping_client", client)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (parent / "try.toml").write_text(toml)
    return folder


def order(repetitions: int = 2, seed: int = 7, text: str = TOML) -> list[str]:
    """The runs in their order."""
    experiment = parse(text, "x")
    names = [configuration.name for configuration in experiment.configurations]
    return [planned.stem for planned in make_order(names, experiment.loads, repetitions, seed)]


def command(programs: Path, *flags: str) -> list[str]:
    where = [] if "--resume" in flags else ["--results", str(programs.parent / "results")]
    words = ["-m", "cqbench.cli", "run", str(programs.parent / "try.toml"), "--bin", str(programs)]
    return [sys.executable, *words, *where, *flags]


def environment(**more: str) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("SERVER_CPUS", "CLIENT_CPUS")}
    return {**inherited, "PYTHONPATH": str(SCRIPTS), **more}


def start(programs: Path, *flags: str, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(programs, *flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**more)
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=180)
    return process.returncode, stdout, stderr


def ask(*arguments: str, **more: str) -> tuple[int, str, str]:
    """`cqbench run` with nothing but these."""
    done = subprocess.run(
        [sys.executable, "-m", "cqbench.cli", "run", *arguments],
        capture_output=True, text=True, env=environment(**more), timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def only_folder(programs: Path) -> Path:
    (folder,) = (programs.parent / "results").iterdir()
    return folder


def manifest_of(folder: Path) -> dict[str, Any]:
    data: dict[str, Any]
    data, _ = manifest.contents(folder / manifest.FILE)
    return data


def stem(planned: dict[str, Any]) -> str:
    return str(planned["file"]).removeprefix("raw/").removesuffix(".json")


def statuses(folder: Path) -> dict[str, str]:
    return {stem(planned): planned["status"] for planned in manifest_of(folder)["runs"]}


def ran(programs: Path) -> list[str]:
    """The runs that the client was started for, in order."""
    return [line.split()[0] for line in (programs / "clients").read_text().splitlines()]


def wait_for(path: Path, pattern: str = "") -> Path:
    """Until it is there, or what the pattern names below it."""
    root, name = (path, pattern) if pattern else (path.parent, path.name)
    give_up_at = time.monotonic() + 90
    while (found := next(root.glob(name), None)) is None and time.monotonic() < give_up_at:
        time.sleep(0.02)
    assert found is not None, f"{root}/{name}"
    return found


def assert_no_server(programs: Path) -> None:
    for pid in map(int, (programs / "server.pids").read_text().split()):
        give_up_at = time.monotonic() + 10
        while alive(pid) and time.monotonic() < give_up_at:
            time.sleep(0.02)
        assert not alive(pid)


def alive(pid: int) -> bool:
    """A zombie that nobody has waited for is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
