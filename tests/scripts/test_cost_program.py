"""cqbench cost finds the costs of a program whose costs are known, and what was planted in another."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from cost_programs import compile_program, cost, figure, read

pytestmark = pytest.mark.usefixtures("cost_tools")

CALLS, WRITES, BYTES, BLOCKS, TURNS = 300, 3, 70, 5, 1000
MORE_TURNS = 40  # of two instructions


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Makes profiles of the program, and of one with a write, an allocation and a short loop more in each call."""
    folder = tmp_path_factory.mktemp("profiles")
    program = compile_program(folder)
    for name, costs in (
        ("before", (WRITES, BYTES, BLOCKS, TURNS)),
        ("after", (WRITES + 1, BYTES, BLOCKS + 1, TURNS + MORE_TURNS)),
    ):
        output = ["--calls", CALLS, "--repetitions", 6, "--output", folder / f"{name}.json"]
        done = cost("--program", *output, "--", program, "{calls}", *costs)
        assert done.returncode == 0, done.stderr
    return folder / "before.json", folder / "after.json"


def median(profile: dict[str, Any], kind: str, name: str) -> float:
    found = figure(profile, "program", kind, name)
    assert found["low"] == found["high"] == found["median"], found  # the same in every repetition
    return float(found["median"])


def test_system_calls_and_bytes_are_exact(profiles: tuple[Path, Path]) -> None:
    profile = read(profiles[0])
    assert median(profile, "syscall", "write (socket)") == WRITES
    assert median(profile, "syscall", "read (socket)") == 1
    assert median(profile, "total", "syscalls") == WRITES + 1
    assert median(profile, "total", "socket-writes") == WRITES
    assert median(profile, "total", "socket-bytes-written") == WRITES * BYTES
    assert median(profile, "total", "socket-bytes-read") == WRITES * BYTES
    assert {f["name"] for f in profile["figures"] if f["kind"] == "syscall"} == {"write (socket)", "read (socket)"}


def test_allocations_and_instructions_are_exact(profiles: tuple[Path, Path]) -> None:
    profile = read(profiles[0])
    assert median(profile, "total", "allocation-calls") == BLOCKS
    spin = median(profile, "function", "spin")
    assert 2 * TURNS <= spin <= 2 * TURNS + 6  # what enters and leaves it
    libraries = {f["name"]: f["median"] for f in profile["figures"] if f["kind"] == "library"}
    assert set(libraries) == {"program", "libc"}
    assert sum(libraries.values()) == pytest.approx(median(profile, "total", "instructions"))
    assert median(profile, "total", "branches") > TURNS  # one in each turn


def test_what_was_planted_is_found(profiles: tuple[Path, Path]) -> None:
    one, other = map(read, profiles)
    for kind, name, more in (
        ("syscall", "write (socket)", 1),
        ("total", "socket-bytes-written", BYTES),
        ("total", "allocation-calls", 1),
        ("function", "spin", 2 * MORE_TURNS),
    ):
        assert median(other, kind, name) - median(one, kind, name) == pytest.approx(more)
    done = cost(*profiles, "--fail-if-more-expensive", "0.5%", command="compare")
    assert done.returncode == 1
    assert "--fail-if-more-expensive 0.5%: closed: program, instructions: " in done.stderr
    (spin,) = [line for line in done.stdout.splitlines() if line.strip().startswith("spin [program]")]
    assert spin.endswith("  more")


def test_the_same_profile_has_no_change(profiles: tuple[Path, Path], tmp_path: Path) -> None:
    copy = shutil.copy(profiles[0], tmp_path / "copy.json")  # the same file twice would be refused
    done = cost(profiles[0], copy, "--fail-if-more-expensive", "0%", command="compare")
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stdout.splitlines() if line.endswith(("  more", "  less"))]


def test_a_program_that_fails_is_said(tmp_path: Path) -> None:
    program = compile_program(tmp_path)
    done = cost("--program", "--calls", 10, "--repetitions", 1, "--only", "syscalls", "--", program, "{calls}")
    assert done.returncode == 1
    assert "absent: syscalls of the program: exit status 2" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--only", "time,luck"], "'time,luck' is not a list of time, allocations, samples, syscalls, instructions"),
        (["--calls", "0"], "'0' is not an integer from 10 to 10000000"),
        (["--", "--total", "7"], "'--total' is not accepted: cqbench cost itself says it"),
        (["--server-flags", "--port 1"], "'--port' is not accepted: cqbench cost itself says it"),
        (["--program", "--", "true"], "'true' is not a program with {calls} among its arguments"),
        (["--program", "--", "/no/such", "{calls}"], "'/no/such' is not a program that can be run"),
        (["--bin", "/none"], "'/none' has no program grpc_ping_server"),
        (
            ["--only", "syscalls", "--folded", "x"],
            "argument --folded: 'x' is not accepted: stacks are those of the part",
        ),
    ],
)
def test_bad_usage_is_one_line(arguments: list[str], said: str) -> None:
    done = cost(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_tool_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_program(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    few = ["--calls", 10, "--repetitions", 1]
    done = cost("--program", *few, "--only", "time,syscalls", "--", program, "{calls}", 1, 1, 1, 1)
    assert done.returncode == 1
    assert "absent: syscalls of the program: there is no strace here: install the package strace" in done.stdout
    assert "note: addresses are random" in done.stdout
