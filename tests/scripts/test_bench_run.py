"""bench.sh as a process, with stand-ins for the two programs: what it runs, servers that are there already, Ctrl-C."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from experiment_standin import (
    CHECKED,
    RESULT,
    SCRIPTS,
    SERVER,
    assert_no_server,
    environment,
    finish,
    make_programs,
    manifest_of,
    only_folder,
    wait_for,
)

# Answers with a stored document that says it is the configuration's. STANDIN_WAITS, STANDIN_FAILS: a configuration.
# Without --output it is asked whether the server can be used; STANDIN_IS_REFUSED is the exit status then.
CLIENT = f"""#!{sys.executable}
import json, os, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
{CHECKED}{RESULT}
with (here / "clients").open("a") as f:
    f.write(" ".join(sys.argv[1:]) + "\\n")
if "--output" not in sys.argv:
    refused = int(os.environ.get("STANDIN_IS_REFUSED", "0"))
    refused and print("grpc_ping_client: cannot connect", file=sys.stderr)
    sys.exit(refused)
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
configuration = output.parent.name
def finish(status):
    data = result(status)
    mode, api, how = configuration.split(".")
    data["context"].update(mode=mode, api=api, channel_policy="per-slot" if how == "shared" else "local-pool")
    output.write_text(json.dumps(data))
    return status
signal.signal(signal.SIGINT, lambda *_: sys.exit(finish(130)))
if configuration == os.environ.get("STANDIN_FAILS"):
    sys.exit("grpc_ping_client: it broke")
if configuration == os.environ.get("STANDIN_WAITS"):
    (here / "waiting").touch()
    time.sleep(60)
sys.exit(finish(0))
"""
MADE = ("summary.txt", "results.csv", "verdict.txt", "verdict.json", "report.html", "manifest.json")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    return make_programs(tmp_path, SERVER, CLIENT)


def start(programs: Path, *flags: str, **more: str) -> subprocess.Popen[str]:
    """One repetition of one load, unless the flags say otherwise or resume."""
    where = [] if "--resume" in flags else ["--results", str(programs.parent / "results")]
    once = [] if {"--resume", "--repetitions"} & set(flags) else ["--repetitions", "1"]
    once += [] if {"--resume", "--inflight-list", "--full"} & set(flags) else ["--inflight-list", "4"]
    command = ["bash", str(SCRIPTS / "bench.sh"), "--bin", str(programs), *where, *once, *flags]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(CQBENCH_NO_INSTALL="1", **more),
    )  # fmt: skip


def clients(programs: Path) -> list[str]:
    """The command lines, in order."""
    return (programs / "clients").read_text().splitlines()


def test_it_runs_the_headline_and_ends_with_verdict_and_report(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs))
    assert status == 0, stderr
    folder = only_folder(programs)
    assert folder.name.startswith("headline-20")
    assert stdout.startswith("headline: Shared against separate connections\n") and "PARTIAL" not in stdout
    assert "\nINCONCLUSIVE at every load\n" in stdout and "| marks" not in stdout  # the verdict, and not the medians
    assert len(stdout.splitlines()) <= 40 + 6
    assert all((folder / name).exists() for name in MADE)
    assert f"== report: {folder}/report.html\n" in stderr
    assert len(clients(programs)) == 8
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8 and {r["configuration"] for r in rows} == {
        u["configuration"] for u in manifest_of(folder)["runs"]
    }
    assert_no_server(programs)


def test_full_is_the_experiment_of_the_post(programs: Path) -> None:
    status, stdout, _ = finish(start(programs, "--full", "--plan"))
    assert status == 0 and stdout.startswith("ydb-full: ")
    assert "48 loads x 1 repetition = 192 runs of 5 + 10 s: " in stdout
    assert finish(start(programs, "--plan"))[1].startswith("headline: ")


def test_overrides_are_in_the_manifest_and_hold_when_resumed(programs: Path) -> None:
    flags = ("--interval", "250ms", "--inflight-list", "4,1", "--repetitions", "2")
    process = start(programs, *flags, STANDIN_WAITS="unary.cq.shared")
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGINT)
    status, stdout, _ = finish(process)
    folder = only_folder(programs)
    assert status == 130
    head = manifest_of(folder)["experiment"]["experiment"]
    assert (head["inflight"], head["interval"], head["warmup"]) == ([1, 4], 0.25, "60ms")
    assert " --warmup 0.06 --interval 0.25 " in clients(programs)[0]
    (said,) = [line for line in stdout.splitlines() if line.startswith("PARTIAL")]
    assert said.endswith(f"; --resume {folder} runs them")
    status, stdout, stderr = finish(start(programs, "--resume", str(folder)))
    assert status == 0, stderr
    assert "PARTIAL" not in stdout and not manifest_of(folder)["partial"]


def test_host_starts_no_server_and_looks_at_it_first(programs: Path) -> None:
    status, stdout, stderr = finish(start(programs, "--host", "elsewhere:2137", SERVER_CPUS="0"))
    assert status == 0, stderr
    assert not (programs / "server.pids").exists()
    assert len(clients(programs)) == 1 + 8 and all("--host elsewhere:2137" in line for line in clients(programs))
    assert "--output" not in clients(programs)[0]
    assert "server at elsewhere:2137 (not started here)" in stderr
    assert "! SERVER_CPUS is not used: no server is started here\n" in stdout
    assert "that server is on this machine" not in stderr


@pytest.mark.parametrize("exit_status", [1, 2])
def test_a_host_that_cannot_be_used_is_said_once(programs: Path, exit_status: int) -> None:
    status, stdout, stderr = finish(start(programs, "--host", "no:1", STANDIN_IS_REFUSED=str(exit_status)))
    assert (status, stdout) == (exit_status, "")
    assert stderr == (
        f"== the server at no:1 cannot be used: grpc_ping_client: cannot connect (exit status {exit_status})\n"
    )
    assert len(clients(programs)) == 1 and not (programs.parent / "results").exists()


def test_a_configuration_that_fails_is_reported_beside_a_verdict_on_the_others(programs: Path) -> None:
    status, stdout, _ = finish(start(programs, STANDIN_FAILS="unary.sync.separate"))
    assert status == 1
    assert "FAILED: unary.sync.separate, 4 in flight, repetition 1: grpc_ping_client: it broke (" in stdout
    assert all((only_folder(programs) / name).exists() for name in MADE)


def position(programs: Path, place: str) -> str:
    """The configuration that is run first, in the middle or last."""
    plan = finish(start(programs, "--plan"))[1].split("Order (seed 1)")[1].replace("\n", " ")
    order = plan.split("1, 4 in flight: ")[1].split(",")
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
    assert f"PARTIAL: {missing} of 8 runs are missing; --resume {folder} runs them" in stdout
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
    assert said in stderr and stderr.startswith("cqbench run: ")
    assert not (programs.parent / "results").exists()


def test_help_names_its_own_flag_and_those_of_run() -> None:
    found = subprocess.run([SCRIPTS / "bench.sh", "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert "--full" in found.stdout and "--repetitions" in found.stdout
