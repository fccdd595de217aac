"""Files that an experiment writes while it runs: small, written at once, and readable after a kill at any time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cqbench.experiment.order import PlannedRun, make_order
from cqbench.experiment.spec import parse
from cqbench.formats import manifest as files
from cqbench.formats.manifest import CUT, FILE, OK, RUNS, RunRecord
from cqbench.formats.result import Document
from cqbench.formats.source import BadDocument
from cqbench.measure.processes import Interrupt
from cqbench.measure.programs import Programs
from cqbench.run.chosen import placements_for
from cqbench.run.journal import BadManifest, Journal
from cqbench.run.journal import begun as begun_in
from cqbench.run.runner import Runner, facts_of
from experiment_standin import (
    TOML,
    environment,
    finish,
    manifest_of,
    only_folder,
    order,
    ran,
    start,
    statuses,
    stem,
    wait_for,
)


class Nobody(Interrupt):
    """Takes no signals."""

    def __init__(self) -> None:
        self.signum = self.count = 0


class Quick(Runner):
    """Runs no program."""

    def run_programs(self, planned: PlannedRun, record: RunRecord) -> Document | None:
        record.status, record.exit_status = OK, 0
        return None


def bytes_written(folder: Path, repetitions: int) -> int:
    """Returns the bytes that an experiment of this number of repetitions writes; the kernel counts them for this
    process.
    """
    experiment = parse(TOML, "x")
    placements = placements_for(experiment)
    planned = make_order([v.name for v in experiment.configurations], experiment.loads, repetitions, 1)
    folder.mkdir()
    fixed = {"machine": {}, "git_revision": ""}
    journal = Journal.new(folder, experiment, planned, 1, fixed, facts_of(experiment, placements))
    runner = Quick(experiment, placements, Programs(folder, folder), journal, Nobody())
    before = handed_over()
    journal.write()
    runner.run()
    written = handed_over() - before
    assert set(statuses(folder).values()) == {OK} and len(statuses(folder)) == len(planned)
    assert not (folder / RUNS).exists(), "what was appended has come into the manifest"
    return written


def handed_over() -> int:
    (line,) = (line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("wchar: "))
    return int(line.split()[1])


def test_twice_as_many_runs_are_twice_as_many_bytes(tmp_path: Path) -> None:
    """Written whole after each run, it would be four times as many."""
    few, many = (bytes_written(tmp_path / f"{n}", n) for n in (20, 40))
    assert many < 2.5 * few


@pytest.fixture
def killed(programs: Path) -> Path:
    """The folder of a run that was killed in its last run."""
    last = order()[-1]
    process = start(programs, STANDIN_WAITS=last)
    wait_for(programs / "waiting")
    process.kill()
    finish(process)
    (programs / "clients").unlink()
    return only_folder(programs)


def test_a_killed_run_has_what_was_done_and_goes_on(programs: Path, killed: Path) -> None:
    done = dict.fromkeys(order()[:-1], "ok") | {order()[-1]: "pending"}
    assert statuses(killed) == done and manifest_of(killed)["partial"]
    assert {stem(u): u["status"] for u in json.loads((killed / FILE).read_text())["runs"]} != done
    inherited = environment()
    for words in (["verdict", killed], ["report", killed]):
        program = [sys.executable, "-m", "cqbench.cli", *map(str, words)]
        shown = subprocess.run(program, capture_output=True, text=True, env=inherited, check=False)
        assert shown.returncode == 0, shown.stderr
    assert "1 of 12 runs are missing" in (killed / "report.html").read_text()
    assert finish(start(programs, "--resume", str(killed)))[0] == 0
    assert ran(programs) == order()[-1:]
    assert set(statuses(killed).values()) == {"ok"} and not (killed / RUNS).exists()


def test_half_a_line_is_said_and_that_run_is_run_again(programs: Path, killed: Path) -> None:
    lines = (killed / RUNS).read_bytes()
    (killed / RUNS).write_bytes(lines[:-20])
    lost = order()[-2]
    assert statuses(killed)[lost] == "pending"
    assert files.load(killed / FILE).all_notes[-1] == CUT
    status, _, stderr = finish(start(programs, "--resume", str(killed)))
    assert status == 0 and f"== note: {CUT}\n" in stderr
    assert ran(programs) == order()[-2:] and set(statuses(killed).values()) == {"ok"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{\n", f"{RUNS}: line 1: not JSON"),
        ('{"file": "raw/elsewhere/01-1.json"}\n', f"{RUNS}: line 1 is not of a run of {FILE}"),
        ('{"file": ["x"]}\n', f"{RUNS}: line 1 is not of a run of {FILE}"),
        ("[]\n", f"{RUNS}: line 1 is not of a run of {FILE}"),
        ("\xff\n", f"{RUNS}: line 1: not JSON"),
    ],
)
def test_lines_that_are_none(done: Path, text: str, said: str) -> None:
    (done / RUNS).write_text(text, encoding="latin-1")
    with pytest.raises(BadDocument, match=said):
        files.load(done / FILE)
    with pytest.raises(BadManifest, match=said):
        begun_in(done)


def test_lines_that_nobody_can_read_to_their_end(done: Path) -> None:
    os.mkfifo(done / RUNS)
    with pytest.raises(BadDocument, match="runs.jsonl: not a regular file"):
        files.load(done / FILE)


def test_a_signal_that_kills_between_two_files_loses_nothing(done: Path) -> None:
    """manifest.json has been written anew, runs.jsonl not yet removed: what it says is said twice."""
    before = manifest_of(done)
    (done / RUNS).write_text("".join(json.dumps(planned) + "\n" for planned in before["runs"][:3]))
    assert manifest_of(done) == before
