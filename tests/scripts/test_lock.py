"""A folder of results that another run has is left as it is, by every command that goes on in one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tune_standin
from cost_programs import compile_program, cost
from cqbench.measure.lock import locked
from experiment_standin import environment, finish, make_programs, only_folder, start, wait_for

Begin = Callable[[Path], tuple[Path, Path]]  # in a folder of its own: where results are, and programs


def an_experiment(here: Path) -> tuple[Path, Path]:
    programs = make_programs(here)
    assert finish(start(programs))[0] == 0
    return only_folder(programs), programs


def a_tuning(here: Path) -> tuple[Path, Path]:
    programs = tune_standin.make(here)
    process = tune_standin.start(programs, *tune_standin.flags(programs))
    wait_for(here, "results/*/try/manifest.json")
    process.send_signal(signal.SIGINT)
    assert finish(process)[0] == 130
    return only_folder(programs), programs


def a_profile(here: Path) -> tuple[Path, Path]:
    program = compile_program(here)
    few = ("--calls", 10, "--repetitions", 1, "--only", "time", "--results", here / "results")
    done = cost("--program", *few, "--", program, "{calls}", 1, 1, 1, 1)
    assert done.returncode == 0, done.stderr
    (folder,) = (here / "results").iterdir()
    return folder, here


def contents(folder: Path) -> dict[Path, tuple[int, bytes]]:
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


def resume(command: str, folder: Path, programs: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "cqbench.cli", command, "--resume", str(folder), "--bin", str(programs)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment(), check=False)


@pytest.mark.parametrize(("command", "begin"), [("run", an_experiment), ("tune", a_tuning), ("cost", a_profile)])
def test_nothing_changes_in_a_folder_that_somebody_has(command: str, begin: Begin, tmp_path: Path) -> None:
    folder, programs = begin(tmp_path)
    if command == "run":  # nothing is read of what somebody is writing
        (folder / "manifest.json").write_text("{")
    before = contents(folder)
    with locked(folder):
        done = resume(command, folder, programs)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"cqbench {command}: {folder}: another experiment is running in it\n"
    assert contents(folder) == before


@pytest.mark.parametrize("command", ["run", "tune", "cost"])
def test_what_is_no_folder_is_said(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, why in (("none", "No such file or directory"), ("file", "Not a directory")):
        done = resume(command, tmp_path / name, tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"cqbench {command}: {tmp_path / name}: not a folder of results: {why}\n"


def test_a_stage_of_tune_that_somebody_goes_on_with_is_left_to_them(tmp_path: Path) -> None:
    folder, programs = a_tuning(tmp_path)
    before = contents(folder)
    with locked(folder / "try"):
        done = resume("tune", folder, programs)
    assert done.returncode == 2 and done.stderr.endswith(f"{folder}/try: another experiment is running in it\n")
    assert contents(folder) == before
    assert json.loads((folder / "tune.json").read_text())["partial"] == "try"
