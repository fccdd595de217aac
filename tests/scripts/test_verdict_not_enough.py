"""When the figures do not say, and what to measure then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from verdict_synthetic import OTHERS, SHARED, SIXFOLD, Change, found, judged, regimes, setting, without, write

from cqbench import verdict_advice as advice
from cqbench import verdict_text as text
from cqbench.verdict_block import MAX_LINES
from cqbench.verdict_rules import Regime, Verdict


def test_a_server_without_figures(tmp_path: Path) -> None:
    silent = {"change": without("server_"), "servers": []}
    f = found(tmp_path, shared=silent, separate=silent)
    assert f.verdict is Verdict.NOT_ENOUGH and f.fired[0] == "faster-but-limit-not-known"
    assert regimes(f)[32] is Regime.UNKNOWN
    assert any("control service" in t for t in advice.to_do(f))
    equal = found(tmp_path, shared=silent, separate={**silent, "rates": SHARED})
    assert equal.verdict is Verdict.ABSENT  # no gain needs no cause


@pytest.mark.parametrize(
    ("repetitions", "expected", "asks"),
    [
        (1, Verdict.NOT_ENOUGH, True),
        (2, Verdict.NOT_ENOUGH, True),
        (3, Verdict.PRESENT, True),
        (5, Verdict.PRESENT, True),
        (6, Verdict.PRESENT, False),
    ],
)
def test_repetitions(tmp_path: Path, repetitions: int, expected: Verdict, asks: bool) -> None:
    f = found(tmp_path, shared={"repetitions": repetitions})
    assert f.verdict is expected and ("few-repetitions" in f.fired) is asks
    assert any("--repetitions 6" in t for t in advice.to_do(f)) is asks
    if expected is Verdict.NOT_ENOUGH:
        assert "too few repetitions" in text.verdict_words(f)
        assert advice.policy(f).startswith("leave it, until")


def test_suspect_repetitions(tmp_path: Path) -> None:
    def some(number: int) -> Change:
        def change(n: int, point: dict[str, Any]) -> None:
            point["suspect"] = [OTHERS] if point["repetition_index"] < number else []

        return change

    f = found(tmp_path, shared={"change": some(3)})
    assert f.verdict is Verdict.NOT_ENOUGH and "suspect repetitions" in text.verdict_words(f)
    assert regimes(f)[32] is Regime.UNKNOWN  # the gain proves nothing
    assert any("keep other work off" in t and OTHERS in t for t in advice.to_do(f))
    assert "!32" in "\n".join(text.block(f))
    beside = found(tmp_path, shared={"change": some(2)})
    assert beside.verdict is Verdict.PRESENT and "!" not in "\n".join(text.block(beside))


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("throughput drifts: +9 % from the first to the second half of the window", "a longer --warmup"),
        ("the hypervisor took 8 % of a CPU of the server", "a machine of your own"),
        ("another client uses the server: it answered 1.50 times as many calls", "keep other work off"),
    ],
)
def test_each_doubt_has_its_remedy(tmp_path: Path, reason: str, remedy: str) -> None:
    f = found(tmp_path, shared={"change": setting({"suspect": [reason]})})
    assert any(remedy in t for t in advice.to_do(f))


def test_shared_cpus_ask_for_pinning(tmp_path: Path) -> None:
    doubt = "client and server share CPUs (0-1 and 0-1): pin them apart with taskset or numactl"
    f = found(tmp_path, shared={"suspect": [doubt]})
    assert "pin client and server apart with taskset or numactl" in advice.to_do(f)
    assert f.verdict is Verdict.NOT_ENOUGH and "share CPUs" in text.verdict_words(f)
    governor = "the CPU frequency governor of the client is not 'performance'"
    beside = found(tmp_path, shared={"suspect": [governor]})
    assert beside.verdict is Verdict.PRESENT and advice.to_do(beside) == [governor]


def test_being_cpu_bound_is_a_finding_not_a_doubt(tmp_path: Path) -> None:
    f = found(tmp_path, shared={"change": setting({"suspect": ["CPU-bound: this measures CPU, not ..."]})})
    assert f.verdict is Verdict.PRESENT and advice.to_do(f) == []


def test_contradictory_at_one_in_flight(tmp_path: Path) -> None:
    f = found(tmp_path, separate={"rates": {**SIXFOLD, 1: 12e3}})
    assert f.verdict is Verdict.NOT_ENOUGH and f.fired[0] == "contradiction-at-1-in-flight"
    assert any("interleave" in t for t in advice.to_do(f))
    assert found(tmp_path, separate={"rates": {**SIXFOLD, 1: 10.8e3}}).verdict is Verdict.PRESENT


def test_other_connections_than_promised(tmp_path: Path) -> None:
    f = found(tmp_path, shared={"change": setting({"connections": 2})})
    assert f.verdict is Verdict.NOT_ENOUGH and "other connections than promised" in text.verdict_words(f)
    assert found(tmp_path, shared={"change": setting({"connections": None})}).verdict is Verdict.PRESENT


def test_wide_intervals_are_open(tmp_path: Path) -> None:
    def wild(n: int, point: dict[str, Any]) -> None:
        if n > 1:
            point["throughput_per_second"] *= (0.6, 1.4, 1.0)[point["repetition_index"] % 3]

    f = found(tmp_path, separate={"rates": SHARED, "change": wild})
    assert f.verdict is Verdict.NOT_ENOUGH and "wide intervals" in text.verdict_words(f)
    assert any("intervals are too wide" in t for t in advice.to_do(f))


def test_one_side_alone(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.NOT_ENOUGH and f.fired[0] == "one-side-not-measured"
    assert advice.to_do(f) == ["measure the other side too (--local-pool)"]
    assert len(text.block(f)) < MAX_LINES


def test_no_common_count_above_one(tmp_path: Path) -> None:
    f = found(tmp_path, shared={"rates": {1: 10e3, 2: 20e3}}, separate={"rates": {1: 10e3, 4: 40e3}})
    assert f.verdict is Verdict.NOT_ENOUGH and f.fired[0] == "no-common-count-above-1"


def test_partial_and_failed_points_are_left_out(tmp_path: Path) -> None:
    def spoil(n: int, point: dict[str, Any]) -> None:
        if point["repetition_index"] == 0:
            point["partial"] = True
        if point["repetition_index"] == 1:
            point.update(failed=3, errors=[{"code": "UNAVAILABLE", "count": 3, "first_message": ""}])

    f = found(tmp_path, shared={"change": spoil})
    assert f.repetitions == 4
    assert advice.to_do(f) == [
        "6 points of shared had failed calls (UNAVAILABLE), left out here: see the errors in the files",
        "--repetitions 6 or more (fewest here: 5; 6 were cut short)",
    ]


def failing(point: dict[str, Any], *codes: str) -> None:
    point.update(failed=len(codes), errors=[{"code": c, "count": 1, "first_message": "no"} for c in codes])


def test_more_repetitions_are_not_asked_for_where_calls_fail(tmp_path: Path) -> None:
    def spoil(n: int, point: dict[str, Any]) -> None:
        if n >= 16:
            failing(point, "UNAVAILABLE", *(["RESOURCE_EXHAUSTED"] if n > 16 else []))

    f = found(tmp_path, shared={"change": spoil})
    assert f.undecided == (16, 32) and "open at 16 to 32 in flight (failed calls)" not in text.verdict_words(f)
    assert f.verdict is Verdict.PRESENT  # where it was measured
    (said,) = advice.to_do(f)
    assert said.startswith("12 points of shared had failed calls (UNAVAILABLE/RESOURCE_EXHAUSTED), left out here")


def test_a_side_whose_calls_all_fail(tmp_path: Path) -> None:
    f = found(tmp_path, shared={"change": lambda n, point: failing(point, "UNAVAILABLE")})
    assert f.verdict is Verdict.NOT_ENOUGH
    assert "no count above 1 in flight was measured on both sides without failed calls." in text.verdict_words(f)
    assert advice.to_do(f)[0].startswith("36 points of shared had failed calls (UNAVAILABLE)")
    assert not any("--repetitions" in t or "intervals" in t for t in advice.to_do(f))


def test_open_because_calls_failed_or_nothing_was_measured(tmp_path: Path) -> None:
    rates = {n: r for n, r in SHARED.items() if n < 32}
    f = found(tmp_path, {"rates": SHARED, "change": failing_at(32)}, {"rates": SHARED})
    assert "open at 32 in flight (failed calls)." in text.verdict_words(f)
    beside = found(tmp_path, {"rates": rates}, {"rates": SHARED})
    assert "open at 32 in flight (a side is missing)." in text.verdict_words(beside)


def failing_at(count: int) -> Change:
    return lambda n, point: failing(point, "UNAVAILABLE") if n == count else None
