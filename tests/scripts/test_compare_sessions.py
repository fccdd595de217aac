"""Sides of different sessions: what is compared, what a history adds, and which exit status follows."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cqbench.analysis.compare import history
from cqbench.cli.sides.inputs import read_history, read_side
from cqbench.formats.offered import closed
from cqbench.model.metric import THROUGHPUT
from cqbench.model.series import session_of
from made_results import put
from scipy import stats
from test_compare_synthetic import BASE, SAME, SLOWER, called, result, sessions

GATE = ("--fail-if-slower", "2%", "--metric", "throughput")
LEVELS = (1.0, 1.03, 0.97, 1.01, 0.99, 1.02)  # of the machine, session by session


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stored(folder: str = "stored", levels: tuple[float, ...] = LEVELS) -> str:
    """A history of files, one a day."""
    for i, level in enumerate(levels):
        put(Path(folder, f"{i}.json"), result({4: [level * v for v in BASE]}, date=f"2026-01-0{i + 1}T00:00:00Z"))
    return folder


def files(side: str, values: list[float], levels: tuple[float, ...]) -> str:
    for i, level in enumerate(levels):
        put(Path(side, f"{i}.json"), result({4: [level * v for v in values]}))
    return side


def figure(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    out = called(capsys, *arguments, "--format", "json")[1]
    (point,) = json.loads(out)["comparisons"][0]["points"]
    found: dict[str, Any] = point["metrics"]["throughput_per_second"]
    return found


def test_a_session_is_an_experiments_folder_or_a_file(tmp_path: Path) -> None:
    assert session_of(tmp_path / "e/raw/v/01.json") == session_of(tmp_path / "e/raw/w/02.json") == str(tmp_path / "e")
    assert session_of(Path("a.json")) == str(tmp_path / "a.json") != session_of(Path("b.json"))


@pytest.mark.parametrize("after", [SAME, SLOWER])
@pytest.mark.parametrize("number", [1, 2])
def test_without_a_history_nothing_is_decided(
    capsys: pytest.CaptureFixture[str], after: list[float], number: int
) -> None:
    """A loss of 7 % that no repetition contradicts may be the machine's."""
    sides = files("a", BASE, LEVELS[:number]), files("b", after, LEVELS[:number])
    status, out, err = called(capsys, *sides, *GATE)
    assert status == 3 and "faster" not in out and "  slower" not in out
    there = f"{number} session{'s' * (number > 1)} a side, needs 3, or a history (--history FOLDER) that says how far"
    assert (
        f"gate --fail-if-slower 2%: inconclusive: ping/unary/cq/separate, in-flight 4: {there} sessions differ" in err
    )
    assert "or a measurement in turns (cqbench run EXPERIMENT --gate BEFORE_BIN AFTER_BIN)\n" in err
    told = figure(capsys, *sides)
    assert told["change_percent"] == pytest.approx(-7 if after == SLOWER else 0, abs=0.1)
    assert (told["change_percent_interval"], told["p"], told["verdict"]) == (None, None, "inconclusive")
    assert (told["between_sessions"], told["repetitions_to_find"], told["sessions_to_find"]) == ("unknown", None, None)


def test_a_point_that_is_gone_closes_the_gate_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = put(Path("a.json"), result({1: BASE, 4: BASE})), put(Path("b.json"), result({1: SAME}))
    status, _, err = called(capsys, a, b, *GATE)
    assert status == 1 and "closed: ping/unary/cq/separate, in-flight 4: no throughput after" in err


def test_three_sessions_a_side_are_what_was_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """The many repetitions of a session are one value."""
    a, b = files("a", BASE, LEVELS[:3]), files("b", SLOWER, (1.02, 0.96, 1.0, 0.99))
    told = figure(capsys, a, b)
    expected = stats.ttest_ind(np.log([1.02, 0.96, 1.0, 0.99]) + math.log(0.93), np.log(LEVELS[:3]), equal_var=False)
    assert told["p"] == pytest.approx(expected.pvalue, rel=0.02) and told["between_sessions"] == "sessions"
    low, high = (100 * (math.exp(end) - 1) for end in expected.confidence_interval())
    assert told["change_percent_interval"] == pytest.approx([low, high], rel=0.02)
    assert (told["before"]["sessions"], told["after"]["sessions"]) == (3, 4)
    assert told["sessions_to_find"] > 6 and told["repetitions_to_find"] is None
    assert called(capsys, a, b, *GATE)[0] == 1
    assert called(capsys, a, b, "--fail-if-slower", "9%", "--metric", "throughput")[0] == 3


def test_a_history_is_the_part_between_sessions(capsys: pytest.CaptureFixture[str]) -> None:
    spread = float(np.std(np.log(LEVELS), ddof=1))
    a, b = put(Path("a.json"), result({4: BASE})), put(Path("b.json"), result({4: SLOWER}))
    told = figure(capsys, a, b, "--history", stored())
    assert told["between_sessions"] == "history" and told["before"]["history_percent"] == pytest.approx(100 * spread)
    reach = stats.t.ppf(0.975, 5) * spread * math.sqrt(2)  # the repetitions' own noise is 0.3 %
    low, high = (100 * (0.93 * math.exp(side * reach) - 1) for side in (-1, 1))
    assert told["change_percent_interval"] == pytest.approx([low, high], rel=0.03)
    assert told["verdict"] == "no difference seen" and told["sessions_to_find"] > 6
    status, out, err = called(capsys, a, b, *GATE, "--history", "stored")
    head = "sessions: 1 before, 1 after; the 6 of the history differ by 2.2 % (standard deviation, throughput)\n"
    assert status == 3 and head in out
    assert "sessions on either side would decide; so may a measurement in turns" in err
    halved = put(Path("c.json"), result({4: [0.5 * v for v in SAME]}))
    assert called(capsys, a, halved, *GATE, "--history", "stored")[0] == 1
    more = figure(capsys, files("d", BASE, LEVELS[:2]), files("e", SLOWER, LEVELS[:2]), "--history", "stored")
    narrower = [end - told["change_percent"] for end in told["change_percent_interval"]]
    assert more["change_percent_interval"][1] - more["change_percent"] < narrower[1]


def test_a_change_in_the_history_is_no_difference_between_sessions() -> None:
    """The segments before and after it have their own means."""
    levels = [*LEVELS, *LEVELS, *(0.7 * level for level in (*LEVELS, *LEVELS))]
    for i, level in enumerate(levels):
        put(Path("stored", f"{i}.json"), result({4: [10_000 * level]}, date=f"2026-01-{i + 1:02}T00:00:00Z"))
    (spread,) = history.spreads(read_history(Path("stored")).runs, [THROUGHPUT]).values()
    assert spread.sessions == 24 and spread.freedom == 22
    assert spread.percent == pytest.approx(100 * float(np.std(np.log(LEVELS))) * math.sqrt(24 / 22), rel=0.01)


def test_a_history_of_something_else_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = put(Path("a.json"), result({8: BASE})), put(Path("b.json"), result({8: SLOWER}))
    assert figure(capsys, a, b, "--history", stored())["between_sessions"] == "unknown"
    one = stored("one", LEVELS[:1])
    a, b = put(Path("a.json"), result({4: BASE})), put(Path("b.json"), result({4: SLOWER}))
    assert figure(capsys, a, b, "--history", one)["between_sessions"] == "unknown"


def test_sides_of_the_same_sessions_are_compared_by_repetitions(capsys: pytest.CaptureFixture[str]) -> None:
    """Two configurations of one experiment, given as two folders: not in pairs, but the machine was one."""
    sides = [sessions(Path("e/raw", name), result({4: v})) for name, v in (("a", BASE), ("b", SLOWER))]
    told = figure(capsys, *sides)
    assert (told["between_sessions"], told["verdict"]) == ("same sessions", "slower")
    assert told["before"]["sessions"] == 1 and told["repetitions_to_find"] == 6


def test_counts_of_a_call_do_not_follow_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    sides = []
    for name, count in (("a", 12), ("b", 13)):
        data = result({4: BASE})
        for entry in data["benchmarks"]:
            entry["client_allocations_per_rpc"] = count
        sides.append(put(Path(f"{name}.json"), data))
    out = called(capsys, *sides, "--metric", "client-allocations,throughput", "--format", "json")[1]
    total = json.loads(out)["comparisons"][0]["total"]
    assert total["client_allocations_per_rpc"]["between_sessions"] == "counted"
    assert total["client_allocations_per_rpc"]["verdict"] == "more allocations"
    assert total["throughput_per_second"]["verdict"] == "inconclusive"


def test_points_of_different_sessions_have_no_total(capsys: pytest.CaptureFixture[str]) -> None:
    """Each load in three files of its own: no session has both, so only the points are compared."""
    for side in ("a", "b"):
        for load in (1, 4):
            for i in range(3):
                put(Path(side, f"{load}-{i}.json"), result({load: [BASE[i]]}))
    out = called(capsys, "a", "b", "--metric", "throughput", "--format", "json")[1]
    (part,) = json.loads(out)["comparisons"]
    assert [p["metrics"]["throughput_per_second"]["between_sessions"] for p in part["points"]] == ["sessions"] * 2
    assert part["total"]["throughput_per_second"]["verdict"] == "inconclusive"


def test_a_history_needs_two_sides(capsys: pytest.CaptureFixture[str]) -> None:
    (Path("e") / "raw").mkdir(parents=True)
    for arguments in (["e", "--axis", "x"], ["e"], ["a", "b", "c"]):
        status, _, err = called(capsys, *arguments, "--history", "h")
        assert status == 2 and "--history stands alone, or with A and B; given: " in err
    a = put(Path("a.json"), result({4: BASE}))
    status, _, err = called(capsys, a, a, "--history", "none")
    assert (status, err) == (2, "cqbench compare: argument --history: none: not a folder of runs\n")


def test_sides_know_their_sessions() -> None:
    files("a", BASE, LEVELS[:3])
    (scenario,) = read_side(Path("a")).scenarios
    assert len({sample.session for sample in scenario.points[closed(4)]}) == 3
