"""bench.py as a process, with stand-ins for the two programs: failures, Ctrl-C, and that nothing outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
SCRIPTS = Path(__file__).parents[2] / "scripts"

SERVER = f"""#!{sys.executable}
import os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
if "--version" in sys.argv:
    sys.exit(print("stand-in"))
with (here / "server.pids").open("a") as f:
    f.write(f"{{os.getpid()}}\\n")
if (here / "server-broken").exists():
    sys.exit("grpc_ping_server: no luck")
print("gRPC 0, stand-in", flush=True)
print("listening on localhost:7", flush=True)
time.sleep(60)
"""

# Answers with a stored document. The slow series waits for a signal, the broken one fails.
CLIENT = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
if "--output" not in sys.argv:
    sys.exit(print("stand-in"))
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
signal.signal(signal.SIGINT, lambda *_: sys.exit(finish(130)))
def finish(status):
    data = json.loads(pathlib.Path({str(DATA)!r}, "unary-sync-shared.json").read_text())
    data["context"].update(mode=output.stem.split("-")[0], api=output.stem.split("-")[1],
                           channel_policy="per-worker" if "shared" in output.stem else "local-pool")
    data["context"]["partial"] = status == 130
    output.write_text(json.dumps(data))
    return status
if output.stem == os.environ.get("STANDIN_FAILS"):
    sys.exit("grpc_ping_client: it broke")
if output.stem == os.environ.get("STANDIN_GARBLES"):
    sys.exit(output.write_text("{{"[:1]) and 0)
if output.stem == os.environ.get("STANDIN_KILLS_SERVER"):
    os.kill(int((here / "server.pids").read_text().split()[-1]), signal.SIGKILL)
if output.stem == os.environ.get("STANDIN_WAITS"):
    (here / "waiting").touch()
    time.sleep(60)
sys.exit(finish(0))
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("grpc_ping_server", SERVER), ("grpc_ping_client", CLIENT)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def start(programs: Path, *flags: str, **environment: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "cqbench.bench",
        "--bin",
        str(programs),
        "--results",
        str(programs.parent / "results"),
    ]
    inherited = {k: v for k, v in os.environ.items() if k not in ("SERVER_CPUS", "CLIENT_CPUS")}
    return subprocess.Popen(
        [*command, "--inflight-list", "1,4,16", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**inherited, "PYTHONPATH": str(SCRIPTS), **environment},
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


def folders(programs: Path) -> list[Path]:
    return sorted((programs.parent / "results").iterdir())


def wait_for(path: Path) -> None:
    give_up_at = time.monotonic() + 20
    while not path.exists() and time.monotonic() < give_up_at:
        time.sleep(0.02)
    assert path.exists()


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


def test_a_whole_run(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs))
    (folder,) = folders(programs)
    assert status == 0, stderr
    assert stdout == (folder / "comparison.txt").read_text()
    assert stdout.startswith("gRPC 1.51.1, ")
    assert stdout.count("shared connection  ") == 4  # a heading per table
    assert len(list(folder.glob("*-*.json"))) == 8
    assert len((folder / "results.csv").read_text().splitlines()) == 1 + 8 * 3
    manifest = json.loads((folder / "manifest.json").read_text())
    assert not manifest["partial"] and len(manifest["series"]) == 8 and manifest["servers_started"] == 1
    assert_no_server(programs)


def test_nothing_is_overwritten(programs: Path) -> None:
    for process in [start(programs) for _ in range(3)]:
        assert finish(process)[0] == 0
    assert len(folders(programs)) == 3


def test_a_series_that_fails_is_reported_and_the_rest_goes_on(programs: Path) -> None:
    status, stdout, stderr = finish(
        start(programs, STANDIN_FAILS="unary-sync-separate", STANDIN_GARBLES="unary-cq-shared")
    )
    assert status == 1
    assert "FAILED: unary-sync-separate: grpc_ping_client: it broke (exit status 1)" in stdout
    assert "FAILED: unary-cq-shared: " in stdout and "not JSON" in stdout
    assert "! separate, in-flight 1, 4, 16: not measured" in stdout
    assert "[8/8]" in stderr


def test_a_server_that_dies_is_replaced(programs: Path) -> None:
    status, _, stderr = finish(start(programs, STANDIN_KILLS_SERVER="unary-sync-shared"))
    assert status == 0
    assert "starting another" in stderr
    assert json.loads((folders(programs)[0] / "manifest.json").read_text())["servers_started"] == 2
    assert_no_server(programs)


def test_a_server_that_does_not_start(programs: Path) -> None:
    (programs / "server-broken").touch()
    status, stdout, stderr = finish(start(programs))
    assert (status, stdout) == (1, "")
    assert "grpc_ping_server: no luck" in stderr


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_keeps_and_prints_what_was_measured(programs: Path, number: int, expected: int) -> None:
    process = start(programs, STANDIN_WAITS="unary-sync-separate")
    wait_for(programs / "waiting")
    process.send_signal(number)
    status, stdout, _ = finish(process)
    assert status == expected
    assert "PARTIAL: interrupted; 2 of 8 series" in stdout
    assert stdout == (folders(programs)[0] / "comparison.txt").read_text()
    assert_no_server(programs)


def test_the_server_does_not_outlive_a_killed_run(programs: Path) -> None:
    process = start(programs, STANDIN_WAITS="unary-sync-shared")
    wait_for(programs / "waiting")
    process.kill()
    finish(process)
    assert_no_server(programs)


def test_host_starts_no_server(programs: Path) -> None:
    status, _, stderr = finish(start(programs, "--host", "elsewhere:2137"))
    assert status == 0, stderr
    assert not (programs / "server.pids").exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [(["--foo"], "--foo"), (["--interval", "x"], "'x' is not a number of seconds"), (["--host", ""], "--host"),
     (["--inflight-list", "1,0"], "'1,0' is not a list"), (["--warmup", "nan"], "'nan'"),
     (["--show", "/none"], "/none")],
)  # fmt: skip
def test_usage_is_one_line_and_status_2(programs: Path, flags: list[str], said: str) -> None:
    status, stdout, stderr = finish(start(programs, *flags))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr and stderr.startswith("bench.sh: ")
    assert not (programs.parent / "results").exists()


def test_cpus_from_the_environment_are_checked(programs: Path) -> None:
    status, _, stderr = finish(start(programs, SERVER_CPUS="0-x"))
    assert status == 2 and stderr.startswith("bench.sh: SERVER_CPUS: '0-x'")


def test_show_prints_an_earlier_run_again(programs: Path) -> None:
    _, first, _ = finish(start(programs))
    (folder,) = folders(programs)
    status, again, _ = finish(start(programs, "--show", str(folder)))
    assert status == 0 and again.splitlines()[0] in first and again.splitlines()[-1] in first
    (folder / "unary-cq-shared.json").write_text("{}")
    status, _, stderr = finish(start(programs, "--show", str(folder)))
    assert (status, stderr.count("\n")) == (2, 1) and "unary-cq-shared.json" in stderr
