"""The hashes that `cqbench run` writes, and the page of run rules."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import check_folders
from check_folders import findings
from cqbench.analysis.check import whole
from cqbench.analysis.check.model import State
from cqbench.formats import manifest, sums
from cqbench.render.report import files
from experiment_standin import environment, finish, manifest_of, only_folder, start, wait_for

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/run-rules.md").read_text(encoding="utf-8")


def sha256sum(folder: Path) -> subprocess.CompletedProcess[str]:
    words = ["sha256sum", "--check", "--quiet", sums.FILE]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def listed(folder: Path) -> set[str]:
    return {line[66:] for line in (folder / sums.FILE).read_text().splitlines()}


def test_a_run_ends_with_hashes_that_sha256sum_reads(done: Path) -> None:
    assert sha256sum(done).returncode == 0
    assert {"manifest.json", "results.csv", "summary.txt", "verdict.json", "verdict.txt"} <= listed(done)
    raw = {path.relative_to(done).as_posix() for path in (done / "raw").glob("*/*.json")}
    assert raw <= listed(done) and not {"report.html", sums.FILE} & listed(done)
    assert findings(done)["hashes"].state is State.PASSED
    (done / "summary.txt").write_text("all is well\n")
    assert sha256sum(done).returncode == 1 and findings(done)["hashes"].state is State.FAILED


def test_the_end_of_a_run_prints_the_hash_of_the_list(programs: Path) -> None:
    status, _, err = finish(start(programs))
    found = sums.compare(only_folder(programs))
    assert status == 0 and found and f"SHA-256 of SHA256SUMS, which has those of all files: {found.own}\n" in err


def test_the_page_may_be_made_again(done: Path) -> None:
    (done / "report.html").write_text("older")
    files.write(done)
    assert sha256sum(done).returncode == 0 and findings(done)["hashes"].state is State.PASSED


def test_an_interrupted_run_has_hashes_and_a_resumed_one_has_them_again(programs: Path) -> None:
    process = start(programs, STANDIN_WAITS="b/01-4")
    wait_for(programs / "waiting")
    process.send_signal(signal.SIGINT)
    finish(process)
    folder = only_folder(programs)
    assert sha256sum(folder).returncode == 0 and "results.csv" in listed(folder)
    found = findings(folder)
    assert found["hashes"].state is State.PASSED and found["complete"].state is State.FAILED
    before = listed(folder)
    status, _, err = finish(start(programs, "--resume", str(folder)))
    assert status == 0, err
    assert sha256sum(folder).returncode == 0 and listed(folder) > before
    found = findings(folder)
    assert found["hashes"].state is found["complete"].state is State.PASSED


def test_a_resumed_run_that_is_killed_has_no_hashes_of_what_was_before(programs: Path, done: Path) -> None:
    manifest.load(done / manifest.FILE)
    next((done / "raw/a").glob("01-4.json")).unlink()
    process = start(programs, "--resume", str(done), STANDIN_WAITS="a/01-4")
    wait_for(programs / "waiting")
    process.kill()
    finish(process)
    found = findings(done)
    assert found["hashes"].state is State.NOT_KNOWN and "has not ended" in found["hashes"].text
    assert found["complete"].state is State.FAILED


def test_a_folder_from_before_hashes_has_them_after_it_was_resumed(programs: Path, done: Path) -> None:
    text = (done / manifest.FILE).read_text()
    (done / manifest.FILE).write_text(text.replace(f'  "hashes": "{sums.FILE}",\n', ""))
    (done / sums.FILE).unlink()
    assert "hashes" not in manifest_of(done)
    assert finish(start(programs, "--resume", str(done)))[0] == 0
    assert manifest_of(done)["hashes"] == sums.FILE and findings(done)["hashes"].state is State.PASSED


def test_the_page_of_run_rules_is_short_and_has_every_rule() -> None:
    assert len(PAGE.split()) <= 900
    column = "".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))
    rules = re.findall(r"`([a-z-]+)`", column)
    assert sorted(rules) == sorted(rule.__name__.replace("_", "-") for rule in whole.RULES)


def test_the_commands_of_the_page_run(tmp_path: Path) -> None:
    """In a folder with results of that name; scripts/ stands for the installed command, which is this one."""
    folder = check_folders.finished(tmp_path)
    (tmp_path / "results").mkdir()
    shutil.move(folder, tmp_path / "results/headline-DATE-TIME")
    (tmp_path / "scripts").mkdir()
    for name, command in (("check", "check"), ("experiment", f"run --bin {os.environ['CQBENCH_BIN_DIR']}")):
        script = tmp_path / f"scripts/{name}.sh"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -m cqbench.cli {command} "$@"\n')
        script.chmod(0o755)
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    lines = block.splitlines()
    assert len(lines) == 3
    for line in lines:
        words = ["sh", "-c", line]
        done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
