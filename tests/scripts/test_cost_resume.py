"""cqbench cost that is interrupted or killed keeps what it has, and goes on from there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cost_programs import BIN, SCRIPTS, compile_program, cost, figure, read

pytestmark = pytest.mark.usefixtures("cost_tools")

REPETITIONS = 3
COUNTS = ("syscalls", "loads", "stores", "branches", "indirect-branches", "instructions", "allocation-calls")


def begin(results: Path, *arguments: object) -> subprocess.Popen[str]:
    """cqbench cost, which somebody will end."""
    words = [
        sys.executable,
        "-m",
        "cqbench.cli",
        "cost",
        "--results",
        results,
        "--repetitions",
        REPETITIONS,
        *arguments,
    ]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    return subprocess.Popen(
        [*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    assert process.stderr
    seen = ""
    while line not in seen:
        more = process.stderr.readline()
        assert more, seen
        seen += more


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Returns for each finished run its time of writing and its contents."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (folder / "runs").iterdir()}


def only(results: Path) -> Path:
    (folder,) = results.iterdir()
    return folder


def test_ctrl_c_keeps_what_was_done_and_resume_goes_on(tmp_path: Path) -> None:
    output = tmp_path / "profile.json"
    few = ("--bin", BIN, "--only", "syscalls", "--calls", 300)
    process = begin(tmp_path / "results", *few, "--output", output)
    wait_for(process, f"syscalls of the server, 1 of {REPETITIONS}")
    time.sleep(0.3)  # into the next run
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "PARTIAL: interrupted" in out and "system calls" in out
    folder, data = only(tmp_path / "results"), read(output)
    assert data["partial"] and figure(data, "client", "total", "syscalls")["repetitions"] < REPETITIONS
    assert read(folder / "profile.json") == data
    before = contents(folder)
    assert 4 <= len(before) < 4 * REPETITIONS

    done = cost("--resume", folder, "--bin", BIN, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert f"{4 * REPETITIONS - len(before)} runs: about" in done.stderr
    after = contents(folder)
    assert {name: after[name] for name in before} == before and len(after) == 4 * REPETITIONS
    whole = json.loads(done.stdout)
    assert not whole["partial"] and whole == read(folder / "profile.json")
    for side in ("client", "server"):
        assert figure(whole, side, "total", "syscalls")["repetitions"] == REPETITIONS
    assert whole["work"] == data["work"] and whole["setting"] == data["setting"]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cost profile whose process was killed; the measured program is next to the results."""
    folder = tmp_path_factory.mktemp("killed")
    program = compile_program(folder)
    few = ("--program", "--calls", 200, "--only", "time,syscalls,instructions")
    process = begin(folder / "results", *few, "--", program, "{calls}", 2, 10, 3, 500)
    wait_for(process, f"syscalls of the program, 2 of {REPETITIONS}")
    process.kill()
    process.communicate(timeout=60)
    found = only(folder / "results")
    assert not (found / "profile.json").exists()
    assert list((found / "runs").iterdir())
    return found


def copy(killed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(killed, tmp_path / "copy")


def test_killed_and_resumed_is_the_same_profile(killed: Path, tmp_path: Path) -> None:
    folder = copy(killed, tmp_path)
    before = contents(folder)
    done = cost("--resume", folder)
    assert done.returncode == 0, done.stderr
    after = contents(folder)
    assert {name: after[name] for name in before} == before
    program = killed.parents[1] / "costly"
    few = ("--program", "--calls", 200, "--repetitions", REPETITIONS, "--only", "time,syscalls,instructions")
    fresh = cost(*few, "--output", tmp_path / "fresh.json", "--", program, "{calls}", 2, 10, 3, 500)
    assert fresh.returncode == 0, fresh.stderr
    one, other = read(folder / "profile.json"), read(tmp_path / "fresh.json")
    for name in COUNTS:
        found, expected = (figure(profile, "program", "total", name) for profile in (one, other))
        assert found["repetitions"] == REPETITIONS and found["median"] == pytest.approx(expected["median"], rel=1e-3)
    assert one["work"] == other["work"] and one["setting"] == other["setting"] and not one["partial"]


def test_a_profile_that_is_whole_is_printed_again(killed: Path, tmp_path: Path) -> None:
    folder = copy(killed, tmp_path)
    first = cost("--resume", folder)
    before = contents(folder)
    again = cost("--resume", folder)
    assert again.returncode == 0 and again.stdout == first.stdout
    assert contents(folder) == before and "0 runs" in again.stderr


def test_a_run_whose_file_is_damaged_is_run_again(killed: Path, tmp_path: Path) -> None:
    folder = copy(killed, tmp_path)
    assert cost("--resume", folder).returncode == 0
    whole = contents(folder)
    damaged = ["instructions-program-01-200.json", "syscalls-program-02-1000.json"]
    (folder / "runs" / damaged[0]).write_text('{"calls": 200, "counts": [["luck", 1]]')
    (folder / "runs" / damaged[1]).write_text(
        '{"calls": 1000, "counts": [["luck", 1]], "supervision": [], "stacks": {}}'
    )
    done = cost("--resume", folder)
    assert done.returncode == 0 and "== 2 runs" in done.stderr, done.stderr
    after = contents(folder)
    assert sorted(name for name in whole if after[name][0] != whole[name][0]) == damaged
    assert all(json.loads(after[name][1])["calls"] == json.loads(whole[name][1])["calls"] for name in damaged)


def refusal(*arguments: object) -> str:
    """Exit status 2, a line that says why, and nothing else."""
    done = cost(*arguments)
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_what_cannot_be_resumed_is_refused(killed: Path, tmp_path: Path) -> None:
    folder = copy(killed, tmp_path)
    assert "argument --calls is not accepted with --resume" in refusal("--resume", folder, "--calls", 100)
    assert "argument a flag of the client is not" in refusal("--resume", folder, "--", "--api", "cq")
    assert "cost.json: No such file" in refusal("--resume", tmp_path)
    data = json.loads((folder / "cost.json").read_text())
    for change, said in (
        ({"cost_version": 1}, "cost_version is 1; this version of cqbench resumes 2"),
        ({"asked": {**data["asked"], "parts": ["luck"]}}, 'asked.parts[0]: "luck" is not one of time'),
        ({"programs": {"program": "another"}}, "the program program's contents have changed since"),
        ({"port": "x"}, 'port: "x" is not an integer'),
    ):
        (folder / "cost.json").write_text(json.dumps({**data, **change}))
        assert said in refusal("--resume", folder)
    (folder / "cost.json").write_text("{")
    assert "not JSON" in refusal("--resume", folder)


def test_two_do_not_work_in_one_folder(killed: Path, tmp_path: Path) -> None:
    folder = copy(killed, tmp_path)
    holder = subprocess.Popen(["flock", folder, "sleep", "60"])
    try:
        give_up = time.monotonic() + 20
        while subprocess.run(["flock", "--nonblock", folder, "true"], check=False).returncode == 0:
            assert time.monotonic() < give_up
            time.sleep(0.02)
        assert "is running in it" in refusal("--resume", folder)
    finally:
        holder.terminate()
        holder.wait()
