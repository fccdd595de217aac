"""Programs that start others: whoever is ended is ended whole, and nobody waits for pipes that somebody else holds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cost_programs import compile_program, cost
from experiment_standin import SCRIPTS, alive, wait_for

# As perf does: the program that matters is its child, which has its pipes. $0 gets the child's process id.
PARENT = 'sleep 120 & echo $! >"$0.tmp"; mv "$0.tmp" "$0"; '
ENDINGS = {"killed by somebody": "kill -9 $$", "past its time": "wait", "that ended by itself": "exit 0"}
RUN = """
import sys
from cqbench.measure import group, processes
group.LINGER_S = 0.5
done = processes.run(sys.argv[2:], processes.Interrupt(), float(sys.argv[1]))
print(done.returncode, done.complaint())
"""
ASK = """
import subprocess, sys
from cqbench.measure import group
try:
    group.ask(sys.argv[2:], float(sys.argv[1]))
except subprocess.TimeoutExpired:
    print("past its time")
"""
SERVICE = """
import pathlib, sys, time
from cqbench.measure.processes import Service
class Parent(Service):
    stop_timeout_s = 0.2
    def start(self):
        self.launch(self.command)
        while not pathlib.Path(self.command[3]).exists():
            time.sleep(0.02)
with Parent(sys.argv[2:], pathlib.Path(sys.argv[5] + ".log")) as service:
    print("running", service.alive())
"""


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Path]:
    """The file that will name the process which is started in turn. It is ended whatever happens."""
    file = tmp_path / "child"
    yield file
    if file.exists() and alive(pid_in(file)):
        os.kill(pid_in(file), 9)


def pid_in(file: Path) -> int:
    return int(file.read_text())


def python(program: str, *words: str) -> str:
    """Returns its output. The program is a separate process, so a test fails if the program waits forever."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    command = [sys.executable, "-c", program, *words]
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, timeout=60, env=environment, check=True
    ).stdout.strip()


def assert_gone(file: Path) -> None:
    give_up_at = time.monotonic() + 20
    while alive(pid_in(file)):
        assert time.monotonic() < give_up_at, "what was started in turn still runs"
        time.sleep(0.02)


@pytest.mark.parametrize("how", ENDINGS)
def test_what_a_program_started_ends_with_it(how: str, child: Path) -> None:
    patience_s = "1" if how == "past its time" else "300"
    said = python(RUN, patience_s, "sh", "-c", PARENT + ENDINGS[how], str(child))
    expected = {
        "killed by somebody": "-9 killed by signal 9",
        "past its time": "-9 killed: it had not ended after 1 s",
        "that ended by itself": "0 killed: what it started still ran 0 s after its end",
    }
    assert said == expected[how]
    assert_gone(child)


def test_nobody_waits_for_who_left_the_group(child: Path) -> None:
    parent = "setsid " + PARENT + "echo said; exit 3"
    assert python(RUN, "300", "sh", "-c", parent, str(child)) == (
        "3 killed: what it started still ran 0 s after its end"
    )


def test_a_question_ends_whole_when_its_time_is_over(child: Path) -> None:
    assert python(ASK, "1", "sh", "-c", PARENT + "wait", str(child)) == "past its time"
    assert_gone(child)


def test_a_service_that_does_not_stop_is_killed_whole(child: Path) -> None:
    assert python(SERVICE, "", "sh", "-c", "trap '' TERM; " + PARENT + "wait; wait", str(child)) == "running True"
    assert_gone(child)


def test_a_tool_that_is_killed_leaves_no_program_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """perf record that somebody kills: it cannot end the program that it runs."""
    program, file = compile_program(tmp_path), tmp_path / "child"
    (tmp_path / "perf").write_text(
        f'#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\n"$@" &\necho $! >"{file}"\nkill -9 $$\n'
    )
    (tmp_path / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    few = ("--calls", 100_000, "--repetitions", 1, "--only", "samples")
    done = cost("--program", *few, "--", program, "{calls}", 1, 1, 1, 1_000_000)  # a minute
    assert done.returncode == 1
    assert "absent: samples of the program: killed by signal 9" in done.stdout
    assert_gone(wait_for(file))
