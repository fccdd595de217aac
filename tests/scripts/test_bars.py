"""The table with bars: medians, costs and intervals where they are known, and the groups of an experiment's axes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cqbench.files.point import Measured
from cqbench.files.result import load
from cqbench.run import bars

DATA = Path(__file__).parent / "data"


def points(tmp_path: Path, *per_second: float, **changes: Any) -> list[Measured]:
    """Repetitions of the first point of a stored result."""
    data = json.loads((DATA / "unary-sync-shared.json").read_text())
    first = data["benchmarks"][0]
    data["benchmarks"] = [{**first, **changes, "throughput_per_second": value} for value in per_second]
    file = tmp_path / "x.json"
    file.write_text(json.dumps(data))
    return list(load(file).points)


def test_bars_are_as_long_as_the_medians(tmp_path: Path) -> None:
    rows = [
        bars.row("one.fast", points(tmp_path, 900, 1000, 2000, server_cpu_per_rpc_ns=2500)),
        bars.row("one.half", points(tmp_path, 500, server_cpu_per_rpc_ns=None)),
        bars.row("two.none", []),
    ]
    lines = bars.render(rows).splitlines()
    fast, half = (next(line for line in lines if line.startswith(name)) for name in ("fast", "half"))
    assert "1000" in fast and " 2.5 " in fast and fast.count("#") == bars.BAR
    assert "500" in half and half.count("#") == bars.BAR // 2
    assert next(line for line in lines if line.startswith("none")).split()[2:] == ["-"] * 6 + ["|"]
    assert [line.split()[0] for line in lines if "req/s" in line and "|" in line] == ["one", "two"]


def test_an_interval_takes_six_repetitions(tmp_path: Path) -> None:
    rows = [bars.row("a", points(tmp_path, 1, 2, 3, 4, 5, 6)), bars.row("b", points(tmp_path, 1, 2, 3, 4, 5))]
    lines = bars.render(rows).splitlines()
    assert "[1, 6]" in lines[1] and "[" not in lines[2]


def test_calls_that_failed_are_not_in_it(tmp_path: Path) -> None:
    failed = {"failed": 1, "errors": [{"code": "UNAVAILABLE", "count": 1, "first_message": ""}]}
    assert bars.row("a", points(tmp_path, 1, 2, **failed)).throughput == ()


def test_there_is_nothing_to_line_up(tmp_path: Path) -> None:
    assert bars.render([bars.row("a", points(tmp_path, 1))]) == ""
    assert bars.render([bars.row("a", []), bars.row("b", [])]) == ""
