"""The end of an experiment: files, screen, exit status; no defect or signal there costs the measurements."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from cqbench.experiment.order import PlannedRun
from cqbench.experiment.spec import Experiment, parse
from cqbench.formats import runs, storage
from cqbench.formats.manifest import FAILED, OK
from cqbench.formats.offered import closed
from cqbench.measure.processes import Interrupt
from cqbench.run import end
from cqbench.run.end import conclude
from cqbench.run.journal import Journal

STORED = Path(__file__).parent / "data/verdict"
HEAD = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
inflight = [1, 4, 16, 48]
warmup = 0.1
interval = 1
repetitions = 1
seed = 1
"""
PAIR = {"shared": "unary-cq-shared.json", "separate": "unary-cq-separate.json"}
LOAD = closed(4)  # the stored results have more: they stand for any
MACHINE = {"machine": {"cpu_model": "abacus"}, "placements": {}, "notes": ["it was noisy"]}


@pytest.fixture
def interrupt() -> Iterator[Interrupt]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    previous = {number: signal.getsignal(number) for number in numbers}
    yield Interrupt()
    for number, handler in previous.items():
        signal.signal(number, handler)


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has tests of its own, and takes seconds."""
    monkeypatch.setattr(end, "write_report", lambda folder: folder / "report.html")


def experiment_of(names: list[str]) -> Experiment:
    return parse(HEAD + "".join(f'[[configuration]]\nname = "{name}"\n' for name in names), "try.toml")


def ended(folder: Path, stored: dict[str, str]) -> tuple[Journal, Experiment]:
    """A folder in which each configuration has the result of that name; '' for one that was never run."""
    experiment = experiment_of(list(stored))
    journal = Journal.new(folder, experiment, [PlannedRun(name, 1, LOAD) for name in stored], 1, dict(MACHINE), {})
    for planned in journal.order():
        if stored[planned.configuration]:
            path = folder / planned.file
            path.parent.mkdir(parents=True)
            shutil.copy(STORED / stored[planned.configuration], path)
            record = journal.record(planned)
            record.status, record.grpc_version = OK, "1.51.1"
    journal.end()
    return journal, experiment


def test_all_is_written_and_the_screen_has_the_verdict(
    tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str]
) -> None:
    status = conclude(*ended(tmp_path, PAIR), interrupt)
    out, err = capsys.readouterr()
    assert status == 0
    head = f"try: A title\nDoes it?\ngRPC 1.51.1, abacus, {json_of(tmp_path)['started']}\n! it was noisy\n\n"
    assert out.startswith("try: A title\n") and "WHAT TO SET" in out and "runs  marks" not in out
    assert (tmp_path / "verdict.txt").read_text().startswith(out)
    assert json.loads((tmp_path / "verdict.json").read_text())["scenarios"]
    assert (tmp_path / "summary.txt").read_text().startswith(head + "configuration ")
    assert f"== report: {tmp_path}/report.html\n" in err and f"== results: {tmp_path} (" in err
    assert len(runs.read_all([tmp_path])) == 2  # what was written is not taken for results


def json_of(folder: Path) -> dict[str, str]:
    """Returns the keys of the manifest that heading() needs and conclude() does not write."""
    return {"started": (folder / "summary.txt").read_text().splitlines()[2].split(", ")[2]}


def test_every_point_is_a_line_of_the_csv(tmp_path: Path, interrupt: Interrupt) -> None:
    conclude(*ended(tmp_path, PAIR), interrupt)
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    points = [(run, p) for run in runs.read_all([tmp_path]) for p in run.document.points]
    assert len(rows) == len(points)
    assert {r["configuration"] for r in rows} == {"shared", "separate"} and {r["repetition"] for r in rows} == {"1"}
    found = {(r["configuration"], r["inflight"], r["throughput"], r["p99"]) for r in rows}
    assert found == {
        (
            run.configuration,
            str(p.inflight),
            f"{p.throughput:.2f}",
            "" if p.p99_ns is None else f"{p.p99_ns / 1000:.1f}",
        )
        for run, p in points
    }
    for column, said in (("warnings", [(*run.document.warnings, *p.warnings) for run, p in points]),
                         ("notes", [p.notes for _, p in points])):  # fmt: skip
        assert sorted(r[column] for r in rows) == sorted("; ".join(x.text for x in of) for of in said)


def test_the_csv_is_in_the_order_of_the_repetitions(tmp_path: Path, interrupt: Interrupt) -> None:
    experiment = experiment_of(["a"])
    journal = Journal.new(tmp_path, experiment, [PlannedRun("a", n, LOAD) for n in (2, 3, 1)], 1, dict(MACHINE), {})
    (tmp_path / "raw/a").mkdir(parents=True)
    for planned in journal.order():
        shutil.copy(STORED / PAIR["shared"], tmp_path / planned.file)
    conclude(journal, experiment, interrupt)
    with (tmp_path / "results.csv").open() as file:
        seen = [row["repetition"] for row in csv.DictReader(file)]
    assert seen == sorted(seen) and set(seen) == {"1", "2", "3"}


def test_where_nothing_is_compared_the_medians_are_on_the_screen_and_the_verdict_is_last(
    tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str]
) -> None:
    conclude(*ended(tmp_path, {"shared": PAIR["shared"]}), interrupt)
    out = capsys.readouterr().out
    assert 0 < out.index("runs  marks") < out.index("NOTHING TO COMPARE")


def test_nothing_was_measured(tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str]) -> None:
    assert conclude(*ended(tmp_path, {"a": "", "b": ""}), interrupt) == 0
    out = capsys.readouterr().out
    assert "Nothing was measured." in out
    assert f"\nPARTIAL: 2 of 2 runs are missing; --resume {tmp_path} runs them\n" in out
    assert (tmp_path / "results.csv").read_text().count("\n") == 1


def test_a_result_that_cannot_be_read_is_put_aside(
    tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, experiment = ended(tmp_path, {**PAIR, "broken": PAIR["shared"]})
    bad = tmp_path / "raw/broken/01-4.json"
    bad.write_text("{")
    journal.record(PlannedRun("broken", 1, LOAD)).end(FAILED, "not JSON")
    assert conclude(journal, experiment, interrupt) == 1
    out, err = capsys.readouterr()
    assert "WHAT TO SET" in out and "\nFAILED: broken, 4 in flight, repetition 1: not JSON\n" in out
    assert f"== put aside: {bad}: not JSON" in err
    assert not bad.exists() and bad.with_name("01-4.json.1").read_text() == "{"
    assert len(runs.read_all([tmp_path])) == 2


def test_many_failures_do_not_fill_the_screen(
    tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, experiment = ended(tmp_path, {**PAIR, **{f"v{n}": "" for n in range(7)}})
    for n in range(7):
        journal.record(PlannedRun(f"v{n}", 1, LOAD)).end(FAILED, "no luck")
    assert conclude(journal, experiment, interrupt) == 1
    out = capsys.readouterr().out
    assert out.count("FAILED: ") == 5 and out.endswith("... and 2 more failures in summary.txt\n")
    assert (tmp_path / "summary.txt").read_text().count("FAILED: ") == 7


def test_configurations_that_were_ruled_out_are_named_once(
    tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, experiment = ended(tmp_path, {**PAIR, "new": "", "newer": ""})
    journal.rule_out({"new": "needs more", "newer": "needs more"})
    journal.end()
    assert conclude(journal, experiment, interrupt) == 0
    out = capsys.readouterr().out
    assert out.endswith("\nNOT RUN: new, newer: needs more\n")


def broken(*_: object) -> Path:
    raise ZeroDivisionError("a defect\nof ours")


@pytest.mark.parametrize("what", ["verdict", "report"])
def test_a_defect_is_one_line_and_costs_nothing_that_was_measured(
    what: str, tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end, f"write_{what}", broken)
    assert conclude(*ended(tmp_path, PAIR), interrupt) == 1
    out, err = capsys.readouterr()
    log = tmp_path / f"logs/{what}-failed.txt"
    assert f"== the {what} could not be made: ZeroDivisionError: a defect of ours (all of it: {log})\n" in err
    assert 'raise ZeroDivisionError("a defect\\nof ours")' in log.read_text()
    assert ("runs  marks" in out) == (what == "verdict") and ("WHAT TO SET" in out) == (what == "report")
    assert ("== report: " in err) == (what == "verdict")  # one does not need the other
    assert len((tmp_path / "results.csv").read_text().splitlines()) > 1 and (tmp_path / "summary.txt").exists()


def test_a_full_disk_needs_no_traceback(
    tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_folder: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(end, "write_report", full)
    assert conclude(*ended(tmp_path, PAIR), interrupt) == 1
    err = capsys.readouterr().err
    assert "== the report could not be made: [Errno 28] No space left on device\n" in err
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("what", ["verdict", "report"])
def test_a_signal_while_judging_or_drawing(
    what: str, number: int, expected: int, tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    reported: list[Path] = []

    def report(folder: Path) -> Path:
        reported.append(folder)
        return folder

    def interrupted(*_: object) -> Path:
        os.kill(os.getpid(), number)
        raise AssertionError("the signal was not noticed")

    monkeypatch.setattr(end, "write_report", report)
    monkeypatch.setattr(end, f"write_{what}", interrupted)
    assert conclude(*ended(tmp_path, PAIR), interrupt) == expected
    out, err = capsys.readouterr()
    assert f"== interrupted; scripts/verdict.sh {tmp_path} and scripts/report.sh {tmp_path} make " in err
    assert ("runs  marks" in out) == (what == "verdict") and not reported
    assert (tmp_path / "results.csv").exists() and "could not be made" not in err


def test_signals_are_noted_again_afterwards(tmp_path: Path, interrupt: Interrupt) -> None:
    conclude(*ended(tmp_path, PAIR), interrupt)
    os.kill(os.getpid(), signal.SIGINT)
    assert (interrupt.signum, interrupt.count) == (signal.SIGINT, 1)


def test_an_interrupt_while_measuring_does_not_keep_the_report_from_being_made(
    tmp_path: Path, interrupt: Interrupt, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, experiment = ended(tmp_path, {**PAIR, "broken": "", "c": ""})
    journal.record(PlannedRun("broken", 1, LOAD)).end(FAILED, "no luck")
    os.kill(os.getpid(), signal.SIGINT)
    assert conclude(journal, experiment, interrupt) == 130  # and not the failure's
    out, err = capsys.readouterr()
    assert "WHAT TO SET" in out and "PARTIAL: 2 of 4" in out and "== report: " in err


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "verdict.json"
    storage.write(path, "old")
    with pytest.raises(ValueError):
        storage.write_json(path, {"a": float("nan")})
    with pytest.raises(UnicodeEncodeError):  # as a signal would, after the file was begun
        storage.write(path, "\ud800")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
