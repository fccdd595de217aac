"""Measuring within a budget: what is measured again, when it ends, and what `cqbench check` finds out about it."""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import decisions
import pytest
from cqbench.analysis.check.folder import blocks
from cqbench.analysis.check.model import State
from cqbench.analysis.verdict.model import Decision
from cqbench.analysis.verdict.whole import judge_runs
from cqbench.formats import asked
from cqbench.formats.runs import read_all
from cqbench.run import check
from experiment_standin import CHECKED, DATA, RESULT, ask, finish, make_programs, only_folder, start, statuses

# Several connections are 1.3 times as fast at 4 in flight, and at 16 in flight sometimes more: that takes longer.
CLIENT = f"""#!{sys.executable} -IS
import json, os, pathlib, random, sys
here = pathlib.Path(__file__).parent
{CHECKED}{RESULT}
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
number = int(output.stem.partition("-")[0])
load = sys.argv[sys.argv.index("--inflight-list") + 1]
several = "local-pool" in sys.argv
noise = random.Random(f"{{output.parent.name}}/{{output.stem}}").gauss(0, 1)
factor = {{"1": 1.0, "4": 1.3 if several else 1.0, "16": 1.3 * 1.13 ** (number % 2 * 2 - 1) if several else 1.0}}[load]
data = result(0)
context = data["context"]
context["command_line"] = sys.argv
for point in data["benchmarks"]:
    point["throughput_per_second"] *= factor * (1 + 0.01 * noise)
output.write_text(json.dumps(data))
"""
TOML = """
[experiment]
name = "try"
title = "A title"
question = "Does it?"
inflight = [1, 4, 16]
warmup = 0.01
interval = "10ms"
repetitions = 6
budget = "{budget}"
seed = 7

[[axis]]
name = "connections"
values = [
  {{ name = "shared", client_flags = "--channel-policy per-slot" }},
  {{ name = "separate", client_flags = "--channel-policy local-pool" }},
]
"""


def measured(tmp_path: Path, *flags: str, budget: str = "60s") -> tuple[Path, str]:
    programs = make_programs(tmp_path, client=CLIENT, toml=TOML.format(budget=budget))
    status, _, stderr = finish(start(programs, *flags))
    assert status == 0, stderr
    return only_folder(programs), stderr


def repetitions(folder: Path) -> dict[str, int]:
    """The number of runs by load."""
    found: dict[str, int] = {}
    for stem, status in statuses(folder).items():
        assert status == "ok"
        load = stem.rpartition("-")[2]
        found[load] = found.get(load, 0) + 1
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An experiment in which all was decided. Tests do not change it."""
    return measured(tmp_path_factory.mktemp("decided"))[0]


def test_only_what_is_inconclusive_is_measured_again(folder: Path) -> None:
    count = repetitions(folder)
    assert count["1"] == count["4"] == 12 < count["16"]
    verdict = json.loads((folder / "verdict.json").read_text())
    decisions = {row["load"]["inflight"]: row["decision"] for row in verdict["scenarios"][0]["rows"]}
    assert decisions == {1: "equivalent", 4: "faster", 16: "faster"}


def test_check_accepts_what_decisions_chose(folder: Path) -> None:
    (subject,) = check.subjects(folder)
    found = blocks(subject)
    assert found is not None and found.state is State.PASSED, found


def test_check_refuses_a_repetition_that_is_gone(folder: Path, tmp_path: Path) -> None:
    """The decisions before it say that it was measured."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    told = json.loads((copy / "manifest.json").read_text())
    gone = [run for run in told["runs"] if run["file"].endswith("/07-16.json")]
    told["runs"] = [run for run in told["runs"] if run not in gone]
    (copy / "manifest.json").write_text(json.dumps(told))
    for run in gone:
        (copy / run["file"]).unlink()
    (subject,) = check.subjects(copy)
    found = blocks(subject)
    assert found is not None and found.state is State.FAILED, found
    assert "repetition 7 of shared, 16 in flight is missing" in found.examples


def test_a_real_headline_is_decided_within_two_minutes(tmp_path: Path) -> None:
    """Measured on a quiet machine with two CPUs, in 86 s; what was measured again follows from the decisions before."""
    with tarfile.open(DATA / "headline.tar.xz") as stored:
        stored.extractall(tmp_path)
    (subject,) = check.subjects(tmp_path)
    found = blocks(subject)
    assert found is not None and found.state is State.PASSED, found
    judgement = judge_runs(read_all([tmp_path]))
    decisions = [row.decision for one in judgement.scenarios for row in one.rows]
    assert len(decisions) == 16 and Decision.INCONCLUSIVE not in decisions
    assert judgement.seconds is not None and judgement.seconds < 120
    taken = [row.repetitions for one in judgement.scenarios for row in one.rows]
    assert (min(taken), max(taken)) == (6, 25)


def test_decisions_of_several_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run does not contradict itself; one in which every gain is a loss does."""
    with tarfile.open(DATA / "headline.tar.xz") as stored:
        stored.extractall(tmp_path)
    margins: set[float] = set()
    one = decisions.rows(tmp_path / "headline", margins)
    other = {
        at: replace(row, decision=Decision.SLOWER if row.decision.gain else row.decision) for at, row in one.items()
    }
    assert decisions.summary("headline", one) == "headline: 12 of 12 decided, 6 to 25 repetitions"
    assert list(decisions.contradictions(one, one, max(margins))) == []
    found = list(decisions.contradictions(one, other, max(margins)))
    assert len(found) == 4 and all("at 4: faster" in line and "against slower" in line for line in found)


def test_it_ends_when_the_time_is_over_and_can_have_more(tmp_path: Path) -> None:
    """The first repetitions are whole in any case."""
    first, stderr = measured(tmp_path, budget="1s")
    assert repetitions(first) == {"1": 12, "4": 12, "16": 12}
    assert "1 s in all at most" in stderr
    assert "--budget" in (first / "verdict.txt").read_text()
    status, _, stderr = ask("--resume", str(first), "--budget", "60s", "--bin", str(tmp_path / "bin"))
    assert status == 0, stderr
    assert repetitions(first)["16"] > 12


def test_repetitions_that_are_asked_for_are_made(tmp_path: Path) -> None:
    fixed, _ = measured(tmp_path, "--repetitions", "7")
    assert set(repetitions(fixed).values()) == {14}
    assert not asked.load(fixed / "manifest.json").sequential


def test_a_budget_is_refused_beside_repetitions() -> None:
    status, _, stderr = ask("headline", "--repetitions", "7", "--budget", "2m")
    assert status == 2
    assert "--budget" in stderr and "--repetitions" in stderr


@pytest.mark.parametrize("margin", ["5", "0.05", "0%", "101%", "x%"])
def test_a_margin_is_a_percentage(tmp_path: Path, margin: str) -> None:
    status, _, stderr = ask("headline", "--margin", margin)
    assert status == 2 and f"argument --margin: '{margin}' is not" in stderr and "such as 5%" in stderr
    (tmp_path / "x.toml").write_text(TOML.format(budget="1m").replace("seed = 7", f'seed = 7\nmargin = "{margin}"'))
    status, _, stderr = ask(str(tmp_path / "x.toml"), "--plan")
    assert status == 2 and "experiment.margin" in stderr and margin in stderr


def test_the_margin_that_was_declared_decides(tmp_path: Path) -> None:
    folder, _ = measured(tmp_path, "--margin", "40%", "--repetitions", "6")
    verdict = json.loads((folder / "verdict.json").read_text())
    decisions = {row["load"]["inflight"]: row["decision"] for row in verdict["scenarios"][0]["rows"]}
    assert decisions[4] == "equivalent", "1.3 times is within the margin"
    assert "equivalent: within 40 %" in (folder / "verdict.txt").read_text()
