"""bench.sh as a process, with stand-ins for the two programs: what it runs, servers that are there already, Ctrl-C."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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

# Answers with a stored document that says it is the variant's. STANDIN_WAITS, STANDIN_FAILS: a variant.
# Without --output it is asked whether the server can be used; STANDIN_REFUSES is the exit status then.
CLIENT = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
with (here / "clients").open("a") as f:
    f.write(" ".join(sys.argv[1:]) + "\\n")
if "--output" not in sys.argv:
    refused = int(os.environ.get("STANDIN_REFUSES", "0"))
    refused and print("grpc_ping_client: cannot connect", file=sys.stderr)
    sys.exit(refused)
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
variant = output.parent.name
def finish(status):
    data = json.loads(pathlib.Path({str(DATA)!r}, "unary-sync-shared.json").read_text())
    mode, api, how = variant.split(".")
    data["context"].update(mode=mode, api=api, channel_policy="per-slot" if how == "shared" else "local-pool")
    if status:
        data["context"]["partial"] = True
        data["benchmarks"][-1]["partial"] = True
    output.write_text(json.dumps(data))
    return status
signal.signal(signal.SIGINT, lambda *_: sys.exit(finish(130)))
if variant == os.environ.get("STANDIN_FAILS"):
    sys.exit("grpc_ping_client: it broke")
if variant == os.environ.get("STANDIN_WAITS"):
    (here / "waiting").touch()
    time.sleep(60)
sys.exit(finish(0))
"""
MADE = ("summary.txt", "results.csv", "verdict.txt", "verdict.json", "report.html", "manifest.json")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("grpc_ping_server", SERVER), ("grpc_ping_client", CLIENT)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def start(programs: Path, *flags: str, **environment: str) -> subprocess.Popen[str]:
    """One repetition, unless the flags say otherwise or resume."""
    where = [] if "--resume" in flags else ["--results", str(programs.parent / "results")]
    once = [] if {"--resume", "--repetitions"} & set(flags) else ["--repetitions", "1"]
    command = ["bash", str(SCRIPTS / "bench.sh"), "--bin", str(programs), *where, *once, *flags]
    inherited = {k: v for k, v in os.environ.items() if k not in ("SERVER_CPUS", "CLIENT_CPUS")}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**inherited, "CQBENCH_NO_INSTALL": "1", **environment},
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


def only_folder(programs: Path) -> Path:
    (folder,) = (programs.parent / "results").iterdir()
    return folder


def manifest_of(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return data


def clients(programs: Path) -> list[str]:
    """The command lines, in order."""
    return (programs / "clients").read_text().splitlines()


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


def test_it_runs_the_headline_and_ends_with_verdict_and_report(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs))
    assert status == 0, stderr
    folder = only_folder(programs)
    assert folder.name.startswith("headline-20")
    assert stdout.startswith("headline: Shared against separate connections\n") and "PARTIAL" not in stdout
    assert "NOT ENOUGH EVIDENCE" in stdout and "| marks" not in stdout  # the verdict, and not the medians
    assert len(stdout.splitlines()) <= 24 + 6
    assert all((folder / name).exists() for name in MADE)
    assert f"== report: {folder}/report.html\n" in stderr
    assert len(clients(programs)) == 8
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 * 3 and {r["variant"] for r in rows} == {u["variant"] for u in manifest_of(folder)["units"]}
    assert_no_server(programs)


def test_full_is_the_experiment_of_the_post(programs: Path) -> None:
    status, stdout, _ = finish(start(programs, "--full", "--plan"))
    assert status == 0 and stdout.startswith("ydb-full: ") and "48 points, 5 + 10 s each" in stdout
    assert finish(start(programs, "--plan"))[1].startswith("headline: ")


def test_overrides_are_in_the_manifest_and_hold_when_resumed(programs: Path) -> None:
    flags = ("--interval", "0.25", "--inflight-list", "16,1,4", "--repetitions", "2")
    process = start(programs, *flags, STANDIN_WAITS="unary.cq.shared")
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGINT)
    status, stdout, _ = finish(process)
    folder = only_folder(programs)
    assert status == 130
    head = manifest_of(folder)["experiment"]["experiment"]
    assert (head["inflight"], head["interval"], head["warmup"]) == ([1, 4, 16], 0.25, "100ms")
    assert "--inflight-list 1,4,16 --warmup 0.1 --interval 0.25 " in clients(programs)[0]
    (said,) = [line for line in stdout.splitlines() if line.startswith("PARTIAL")]
    again = said.split("; ")[1].removesuffix(" runs them")
    assert again == f"--inflight-list 1,4,16 --interval 0.25 --resume {folder}"
    status, _, stderr = finish(start(programs, "--resume", str(folder)))
    assert (status, stderr.count("\n")) == (2, 1) and "experiment.interval was 0.25 and is \"400ms\"" in stderr
    status, stdout, stderr = finish(start(programs, *again.split()))
    assert status == 0, stderr
    assert "PARTIAL" not in stdout and not manifest_of(folder)["partial"]


def test_host_starts_no_server_and_looks_at_it_first(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs, "--host", "elsewhere:2137", SERVER_CPUS="0"))
    assert status == 0, stderr
    assert not (programs / "server.pids").exists()
    assert len(clients(programs)) == 1 + 8 and all("--host elsewhere:2137" in line for line in clients(programs))
    assert "--output" not in clients(programs)[0]
    assert "server at elsewhere:2137 (not started here)" in stdout
    assert "! SERVER_CPUS is not used: no server is started here\n" in stdout
    assert "that server is on this machine" not in stderr


@pytest.mark.parametrize("exit_status", [1, 2])
def test_a_host_that_cannot_be_used_is_said_once(programs: Path, exit_status: int) -> None:
    status, stdout, stderr = finish(start(programs, "--host", "no:1", STANDIN_REFUSES=str(exit_status)))
    assert (status, stdout) == (exit_status, "")
    assert stderr == (
        f"== the server at no:1 cannot be used: grpc_ping_client: cannot connect (exit status {exit_status})\n"
    )
    assert len(clients(programs)) == 1 and not (programs.parent / "results").exists()


def test_a_variant_that_fails_is_reported_beside_a_verdict_on_the_others(programs: Path) -> None:
    status, stdout, _ = finish(start(programs, STANDIN_FAILS="unary.sync.separate"))
    assert status == 1
    assert "FAILED: unary.sync.separate, repetition 1: grpc_ping_client: it broke (exit status 1)" in stdout
    assert all((only_folder(programs) / name).exists() for name in MADE)


def position(programs: Path, place: str) -> str:
    """The variant that is run first, in the middle or last."""
    plan = finish(start(programs, "--plan"))[1].split("Order (seed 1)")[1].replace("\n", " ")
    order = plan.split("1: ")[1].split(",")
    return order[{"first": 0, "middle": 4, "last": 7}[place]].strip()


@pytest.mark.parametrize(("place", "number", "expected"), [
    ("first", signal.SIGINT, 130), ("middle", signal.SIGTERM, 143), ("last", signal.SIGINT, 130),
])  # fmt: skip
def test_an_interrupt_keeps_what_was_measured_and_reports_it(
    programs: Path, place: str, number: int, expected: int
) -> None:
    process = start(programs, STANDIN_WAITS=position(programs, place))
    wait_for(programs / "waiting")
    process.send_signal(number)
    status, stdout, stderr = finish(process)
    folder = only_folder(programs)
    missing = {"first": 8, "middle": 4, "last": 1}[place]
    assert status == expected, stderr
    assert f"PARTIAL: {missing} of 8 units are missing; --resume {folder} runs them" in stdout
    assert all((folder / name).exists() for name in MADE)
    assert "PARTIAL" in (folder / "summary.txt").read_text()
    assert f"{missing} of 8" in (folder / "report.html").read_text()
    assert_no_server(programs)


def test_the_server_does_not_outlive_a_killed_run(programs: Path) -> None:
    process = start(programs, STANDIN_WAITS="unary.sync.shared")
    wait_for(programs / "waiting")
    process.kill()
    finish(process)
    assert_no_server(programs)


@pytest.mark.parametrize(
    ("flags", "said"),
    [(["--foo"], "--foo"), (["policies"], "policies"), (["--interval", "x"], "'x' is not a number of seconds"),
     (["--host", ""], "'' is not HOST or HOST:PORT"), (["--inflight-list", "1,0"], "'1,0' is not a list"),
     (["--warmup", "nan"], "'nan'"), (["--full", "--seed", "x"], "'x' is not an integer")],
)  # fmt: skip
def test_usage_is_one_line_and_status_2(programs: Path, flags: list[str], said: str) -> None:
    status, stdout, stderr = finish(start(programs, *flags))
    assert (status, stdout, stderr.count("\n")) == (2, "", 1)
    assert said in stderr and stderr.startswith("experiment.sh: ")
    assert not (programs.parent / "results").exists()


def test_help_names_every_option_that_experiment_sh_takes_too() -> None:
    bench, experiment = (
        subprocess.run(["bash", str(SCRIPTS / name), "--help"], capture_output=True, text=True, check=True).stdout
        for name in ("bench.sh", "experiment.sh")
    )
    options = {line.split()[0] for line in bench.splitlines() if line.startswith("  --")}
    others = {line.split()[0] for line in experiment.splitlines() if line.startswith("  --")}
    assert options - {"--full"} == others - {"--list", "--rate-list"} and len(options) > 10
