"""Runs over time: in which order, which lines, where a metric changed, and how often chance is called a change."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np
import pytest
from cqbench.analysis.compare import history
from cqbench.cli.sides.inputs import read_history
from cqbench.formats.source import BadDocument
from cqbench.model.metric import THROUGHPUT
from made_results import put
from test_compare_synthetic import called, result

FULL = "CQBENCH_FULL" in os.environ
SERIES = 2000 if FULL else 300


def runs(folder: Path, throughputs: list[float]) -> Path:
    """A file per day; the names do not tell the order."""
    for day, value in enumerate(throughputs):
        date = f"2026-01-{day + 1:02}T12:00:00+00:00"
        put(
            folder / f"{(day * 7) % 31:02}.json",
            result({4: [value, value * 1.01]}, date=date, grpc_version=f"1.{day}.0"),
        )
    return folder


def test_a_change_is_marked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = runs(tmp_path, [10_000 + 50 * (i % 3) - 700 * (i >= 12) for i in range(20)])
    status, out, err = called(capsys, "--history", folder, "--metric", "throughput")
    assert (status, err) == (0, "")
    assert out.startswith("20 runs from 2026-01-01 12:00 to 2026-01-20 12:00 UTC; 1 line with a change\n")
    assert "-7.0 % from 2026-01-13 12:00 (22.json) on" in out and "4 in flight" in out
    assert "|" in out
    table = list(csv.DictReader(io.StringIO(called(capsys, "--history", folder, "--format", "csv")[1])))
    changed = [row for row in table if row["change_percent"]]
    assert {row["metric"] for row in changed} == {"throughput", "p50", "p99"}
    assert {row["date"][:10] for row in changed} == {"2026-01-13"}
    assert len([row for row in table if row["metric"] == "throughput"]) == 20


def test_nothing_changed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = called(capsys, "--history", runs(tmp_path, [10_000 + 50 * (i % 3) for i in range(12)]))[1]
    assert "0 lines with a change" in out and "from 2026-01-0" not in out.partition("\n")[2]


def test_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = runs(tmp_path / "runs", [10_000 + 50 * (i % 3) - 700 * (i >= 12) for i in range(20)])
    assert called(capsys, "--history", folder, "--output", tmp_path / "x.html")[:2] == (0, "")
    page = (tmp_path / "x.html").read_text()
    assert page.count("<svg") == 3 and "-7.0 % from 2026-01-13 12:00" in page and "<script" not in page


def test_experiments_and_files_by_their_dates(tmp_path: Path) -> None:
    put(tmp_path / "b/raw/v/01.json", result({4: [1.0]}, date="2026-01-02T00:00:00+02:00"))
    put(tmp_path / "a.json", result({4: [1.0]}, date="2026-01-03T00:00:00+00:00"))
    go = "BenchmarkX 1 5 ns/op\n"
    (tmp_path / "x-2026-01-01-120000.txt").write_text(go)
    (tmp_path / "y.txt").write_text(go)
    os.utime(tmp_path / "y.txt", (0, 0))
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "empty").mkdir()
    found = read_history(tmp_path)
    assert [run.name for run in found.runs] == ["y.txt", "x-2026-01-01-120000.txt", "b", "a.json"]
    assert len(found.unused) == 2 and "notes.txt: not JSON" in found.unused[1]


def test_versions_are_one_line_and_machines_are_two(tmp_path: Path) -> None:
    for i, context in enumerate([{}, {"grpc_version": "9"}, {"host_name": "other"}, {"library_build_type": "debug"}]):
        put(tmp_path / f"{i}.json", result({4: [1000.0 + i]}, date=f"2026-01-0{i + 1}T00:00:00Z", **context))
    lines = history.lines(read_history(tmp_path).runs, [THROUGHPUT])
    assert [len(line.values) for line in lines] == [2, 1, 1]
    assert len({line.scenario for line in lines}) == 3 and "host other" in lines[1].scenario


def test_what_is_no_history(tmp_path: Path) -> None:
    put(tmp_path / "raw/v/01.json", result({4: [1.0]}))
    with pytest.raises(BadDocument, match="one experiment's folder"):
        read_history(tmp_path)
    with pytest.raises(BadDocument, match="not a folder of runs"):
        read_history(tmp_path / "none")
    put(tmp_path / "x/bad.json", {})
    with pytest.raises(BadDocument, match="no run in it: .*bad.json: not a result"):
        read_history(tmp_path / "x")


def test_two_changes_and_their_places() -> None:
    random = np.random.default_rng(1)
    logs = 0.02 * random.standard_normal(45)
    logs[15:30] += 0.1
    found = history.segments(logs, 0.05)
    assert len(found) == 2 and abs(found[0] - 15) <= 1 and abs(found[1] - 30) <= 1
    assert history.segments(np.zeros(20), 0.05) == [] and history.segments(np.arange(5.0), 0.05) == []


def test_one_slow_run_is_no_change() -> None:
    logs = 0.01 * np.random.default_rng(2).standard_normal(30)
    logs[17] -= 0.5
    assert history.segments(logs, 0.05) == []


@pytest.mark.parametrize("n", [8, 30])
def test_chance_is_seldom_called_a_change(n: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Noise of 10 %, one run in twenty at half the speed."""
    random = np.random.default_rng(3)
    called_change = 0
    for _ in range(SERIES):
        logs = 0.1 * random.standard_normal(n)
        logs[random.random(n) < 0.05] -= float(np.log(2))
        called_change += bool(history.segments(logs, 0.05))
    if FULL:
        with capsys.disabled():
            print(f"\nhistory of {n} runs without a change: {called_change / SERIES:.1%} marked")
    assert called_change / SERIES <= 0.05 + 3 * (0.05 * 0.95 / SERIES) ** 0.5
