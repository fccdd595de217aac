"""Stand-ins for the two programs whose speed follows from what is set, and a catalogue for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from experiment_standin import CHECKED, DATA, SERVER_BEGINS, environment, make_programs

SERVER = f"""#!{sys.executable} -IS{SERVER_BEGINS}
print("gRPC 0, stand-in", flush=True)
print("listening on localhost:" + ("8" if "--slow=1" in sys.argv else "7"), flush=True)
time.sleep(60)
"""
CLIENT = f"""#!{sys.executable} -IS
import json, os, pathlib, random, sys
if "--version" in sys.argv:
    sys.exit(print("stand-in (gRPC 1.51.1)"))
{CHECKED}
words = " ".join(sys.argv)
if "test.broken" in words:
    sys.exit("grpc_ping_client: it broke")
factor = random.gauss(1, 0.004)
for sign, by in (("test.gain=1", 1.1), ("test.slight=1", 1.02), ("test.awful=1", 0.3), ("localhost:8", 0.93)):
    factor *= by if sign in words else 1
factor *= 1.06 if os.environ.get("TUNE_MORE") else 1
data = json.loads(pathlib.Path({str(DATA)!r}, "unary-sync-shared.json").read_text())
point = next(p for p in data["benchmarks"] if p["inflight"] == 4)
point["throughput_per_second"] *= factor
for end in ("client", "server"):
    point[end + "_cpu_per_rpc_ns"] = 20000 / factor
data["benchmarks"] = [point]
if "--find-rate" in sys.argv:  # what it finds is the throughput; the point is one of the search's
    rate = point["target_rate_per_second"] = point["throughput_per_second"]
    answer = {{"resolved": True, "rate_per_second": rate, "low": 0.95 * rate, "high": 1.05 * rate}}
    if "test.unresolved" in words:
        answer = {{"resolved": False, "unresolved_reason": "the client is the limit"}}
    data["find_rate"] = {{"objective": "p99<2ms", "trials": [], **answer}}
pathlib.Path(sys.argv[sys.argv.index("--output") + 1]).write_text(json.dumps(data))
"""
SETTING = """
[[setting]]
name = "{}"
kind = "{}"
key = "{}"
values = ["1"]
default = "0"
end = "{}"
effect = "planted"
risk = "some"
costs = "nothing, really"
source = "here"
"""


def catalogue() -> str:
    """Two gains, a slight one, a loss, one that breaks, an awful one, four that do nothing, one of them a control."""
    reader, none = 'readers = ["1.51"]\n', "readers = []\n"
    text = SETTING.format("gain", "channel-arg", "test.gain", "client") + reader
    text += SETTING.format("more", "environment", "TUNE_MORE", "client")
    text += SETTING.format("slow", "flag", "--slow", "server")
    text += SETTING.format("broken", "channel-arg", "test.broken", "client") + reader
    text += SETTING.format("awful", "channel-arg", "test.awful", "client") + reader
    text += SETTING.format("slight", "channel-arg", "test.slight", "client") + reader
    for i in range(3):
        text += SETTING.format(f"null{i}", "environment", f"TUNE_NULL{i}", "both")
    for i in range(1):
        text += SETTING.format(f"control{i}", "channel-arg", f"test.control{i}", "both") + none
    return text


def make(parent: Path) -> Path:
    """Returns the programs' folder, next to settings.toml."""
    folder = make_programs(parent, SERVER, CLIENT)
    (parent / "settings.toml").write_text(catalogue())
    return folder


def start(programs: Path, *flags: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cqbench.cli", "tune", "--bin", str(programs), *flags]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )  # fmt: skip


def flags(programs: Path) -> list[str]:
    """Returns the flags of a short run of all stages."""
    here = programs.parent
    where = ["--settings", str(here / "settings.toml"), "--results", str(here / "results")]
    return [*where, *["--warmup", "1ms", "--interval", "10ms", "--budget", "25s", "--inflight", "4", "--seed", "3"]]
