"""cqbench soak: what is drawn, what is judged, and one small round with real servers."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from cqbench.analysis import soak as analysis
from cqbench.measure.processes import Interrupt
from cqbench.render import soak as text
from cqbench.run.soak import cases, session

BIN = Path(os.environ.get("CQBENCH_BIN_DIR", "build/release/bin"))


def rounds(middle: float, last: float) -> list[float]:
    """Ten rounds of warm-up, ten of about `middle` and ten of about `last`."""
    chance = random.Random(1)
    return [100.0] * 10 + [value + chance.gauss(0, value / 1000) for value in [middle] * 10 + [last] * 10]


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        (1000, "flat"),
        (800, "flat"),
        (1030, "grows"),
        (1010, "inconclusive"),
        (2000, "grows"),
    ],
)
def test_verdict(last: float, verdict: str) -> None:
    drift = analysis.judge(rounds(1000, last))
    assert drift.verdict == verdict
    assert drift.ratio
    assert drift.ratio.value == pytest.approx(last / 1000, abs=0.003)


def test_what_never_changes_is_flat() -> None:
    assert analysis.judge([16.0] * 18).verdict == "flat"


def test_a_step_is_no_growth_where_it_may_be() -> None:
    values = [16.0] * 20 + [17.0] * 10
    assert analysis.judge(values).verdict == "grows"
    assert analysis.judge(values, step=1).verdict == "flat"
    assert analysis.judge([*values[:20], *[18.0] * 10], step=1).verdict == "grows"


def test_a_wild_round_is_no_growth() -> None:
    values = rounds(1000, 1000)
    assert analysis.judge([*values[:25], 1e6, *values[26:]]).verdict == "flat"


def test_the_intervals_of_a_soak_hold_together() -> None:
    """The more processes are judged, the wider each interval."""
    chance, record, widths = random.Random(7), analysis.Record(), []
    values = [int(chance.gauss(1e8, 1e5)) for _ in range(30)]
    for process in (*analysis.SERVERS, analysis.CLIENT):
        vitals = [{"rss_bytes": value, "descriptors": 10, "threads": 8} for value in values]
        record.rounds += [analysis.Round(i, float(i), process, one, {}) for i, one in enumerate(vitals)]
        ratio = text.drifts(record)[0][2].ratio
        assert ratio and ratio.low and ratio.high
        widths.append(ratio.high - ratio.low)
    assert widths == sorted(widths) and widths[-1] > 1.2 * widths[0]


def test_too_few_rounds_are_not_judged() -> None:
    assert analysis.judge([1.0] * 17).verdict == "too few rounds: 17 of 18"


def test_a_round_has_every_method_once() -> None:
    drawn = cases.round_of(random.Random(3))
    assert sorted(case.flags[1:4:2] for case in drawn) == sorted(method[:2] for method in cases.METHODS)


def test_every_case_is_one_that_the_client_takes() -> None:
    drawn = {case for seed in range(4) for case in cases.round_of(random.Random(seed))} | set(cases.warm_up())
    programs = [[str(BIN / "grpc_ping_client"), *case.flags, "--check"] for case in drawn]
    refused = [program for program in programs if subprocess.run(program, check=False).returncode]
    assert not refused


def test_a_small_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(cases, "METHODS", cases.METHODS[:1])
    for name, seconds in (("CASE_S", 0.1), ("REFERENCE_S", 0.1), ("RESTARTED_S", 1.0)):
        monkeypatch.setattr(session, name, seconds)
    soak = session.Soak(BIN, tmp_path, 1, Interrupt())
    soak.run(0.1)
    seen = soak.record
    assert (seen.failures, seen.cases, seen.restarts) == ([], 20, 1)
    assert {one.process for one in seen.rounds} == {*analysis.SERVERS, analysis.CLIENT}
    assert all(one.vitals["rss_bytes"] > 2**20 for one in seen.rounds)
    assert all(one.reference["latency_p50_ns"] for one in seen.rounds if one.process != analysis.CLIENT)
    assert capsys.readouterr().err.count("== ") == 2
    assert "too few rounds: 1 of 18" in text.render(seen)
