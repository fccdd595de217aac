"""The verdict whether the connection is the bottleneck, where, and what is saturated otherwise, on simulated
machines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cqbench.analysis.verdict.model import Decision
from cqbench.model import thresholds
from cqbench.render.verdict import text
from cqbench.render.verdict.causes import causes
from verdict_synthetic import (
    OTHERS,
    SHARED,
    SIXFOLD,
    Change,
    at,
    codes,
    found,
    judged,
    manifest,
    said,
    setting,
    without,
    write,
)


def test_sixfold_on_32_cores(tmp_path: Path) -> None:
    case = found(tmp_path)
    assert case.connections and (case.baseline, case.configurations) == ("shared", ("separate",))
    decided = {row.load.number: row.decision for row in case.rows}
    assert [n for n, d in decided.items() if d is Decision.BOTTLENECK] == [4, 8, 16, 32]
    assert decided[1] is Decision.SAME and decided[2] is Decision.EQUIVALENT and case.decision is Decision.BOTTLENECK
    row = at(case, 32)
    assert row.throughput is not None and row.throughput.value == pytest.approx(6, rel=0.02) and row.throughput.paired
    assert row.linear is not None and row.linear.value == pytest.approx(0.175, rel=0.02)
    assert "wire-idle" in row.codes and "it reaches 18 % of linear growth (32 × the" in causes([case])[0]
    judgement, answer = judged(tmp_path), said(tmp_path)
    assert answer.question == "Is one shared connection holding this client back?"
    assert answer.short == "YES at 4–32 in flight"
    assert judgement.cannot_show == () and codes(judgement.measure) == ["fewer-connections"]
    assert codes(judgement.settings) == ["set", "keep-otherwise"]
    (one,) = answer.to_set
    assert "args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);" in one.cpp
    assert one.flags == "--channel-policy local-pool"


def test_a_gain_where_one_connection_keeps_up_is_not_the_connection(tmp_path: Path) -> None:
    keeps_up = {n: 9.6e3 * n if n > 1 else 10e3 for n in SHARED}
    case = found(tmp_path, {"rates": keeps_up}, {"rates": {n: r * 1.3 if n > 1 else r for n, r in keeps_up.items()}})
    assert at(case, 8).decision is Decision.OTHER and at(case, 8).codes == ("keeps-up",)
    line = "more connections are faster at 2–32 in flight, but not because of the connection"
    assert said(tmp_path).short == f"NO: {line}"


@pytest.mark.parametrize(
    ("change", "decision", "code"),
    [
        ({"client_cores_used": 31.0}, Decision.OTHER, "client-cpu"),
        ({"server_cores_used": 31.0}, Decision.OTHER, "server-cpu"),
        ({"server_workers_busy_share": 0.99}, Decision.OTHER, "server-threads"),
        ({"client_workers_busy_share": 0.99}, Decision.OTHER, "client-threads"),
        ({"client_connection_busy_share_median": 0.9}, Decision.LIKELY, "no-sign-of-the-connection"),
        ({"client_connection_busy_share_median": None}, Decision.LIKELY, "no-sign-of-the-connection"),
    ],
)
def test_what_else_was_full(tmp_path: Path, change: dict[str, Any], decision: Decision, code: str) -> None:
    case = found(tmp_path, {"change": setting(change)})
    assert at(case, 32).decision is decision and code in at(case, 32).codes


def test_the_clients_own_word_counts_as_its_figures_do(tmp_path: Path) -> None:
    says = setting({"notes": [{"code": "server-cpu-saturated", "text": "the server used 1.00 of 1 CPU(s)"}]})
    assert at(found(tmp_path, {"change": says}), 32).codes == ("server-cpu",)


def test_the_interval_of_the_cpus_share_decides_not_its_median(tmp_path: Path) -> None:
    def wavers(n: int, point: dict[str, Any]) -> None:
        point["client_cores_used"] = 31.0 if point["throughput_per_second"] > 1.0 * SHARED[n] else 28.0

    row = at(found(tmp_path, {"change": wavers}), 32)
    assert row.decision is Decision.LIKELY and row.codes == ("cpu-room-inconclusive",)
    assert "Not shown: that both ends use less than 95 % of their CPUs." in " ".join(said(tmp_path).why)


def test_an_unknown_ideal_is_no_yes(tmp_path: Path) -> None:
    rates = {n: r for n, r in SHARED.items() if n > 1}
    case = found(tmp_path, {"rates": rates})
    assert at(case, 32).decision is Decision.FASTER and at(case, 32).codes == ("ideal-not-known",)
    assert "ideal-not-known" in codes(judged(tmp_path).measure)


def test_without_figures_of_the_server_the_reason_is_not_known(tmp_path: Path) -> None:
    silent = {"change": without("server_"), "servers": []}
    case = found(tmp_path, silent, silent)
    assert at(case, 32).decision is Decision.FASTER and at(case, 32).codes == ("figures-absent",)
    assert codes(judged(tmp_path).measure) == ["figures-absent", "fewer-connections"]
    spin = {"poll": "spin"}
    assert at(found(tmp_path / "b", spin, spin), 32).codes == ("figures-absent",)
    assert codes(judged(tmp_path / "b").measure) == ["figures-while-spinning", "fewer-connections"]


def test_what_was_not_interleaved_is_at_most_likely(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "per-slot", SHARED)
    write(tmp_path / "b.json", "local-pool", SIXFOLD)
    judgement = judged(tmp_path)
    (case,) = judgement.scenarios
    assert at(case, 32).decision is Decision.LIKELY and at(case, 32).codes == ("not-interleaved",)
    assert not judgement.interleaved and said(tmp_path).notes[0].startswith("not interleaved")


def test_through_a_proxy_it_is_not_the_connection(tmp_path: Path) -> None:
    found(tmp_path)
    manifest(tmp_path, lambda _: {"network": {"added_rtt_ms": 0}})
    judgement = judged(tmp_path)
    assert at(judgement.scenarios[0], 32).codes == ("proxy",)
    assert codes(judgement.cannot_show) == ["proxy"]


def test_equal_sides_are_decided(tmp_path: Path) -> None:
    case = found(tmp_path, separate={"rates": SHARED})
    assert case.decision is Decision.EQUIVALENT and {r.decision for r in case.rows} == {
        Decision.SAME,
        Decision.EQUIVALENT,
    }
    assert said(tmp_path).short == "NO: equivalent at every load"
    assert codes(judged(tmp_path).settings) == ["keep"]


def test_a_gain_in_the_grey_zone_is_too_small_to_act_on(tmp_path: Path) -> None:
    case = found(tmp_path, separate={"rates": {n: r * (1.05 if n > 1 else 1) for n, r in SHARED.items()}})
    row = at(case, 8)
    assert row.decision is Decision.EQUIVALENT
    assert "simultaneous 95 % intervals (of P99: 99 %), equivalent: within 10 %" in said(tmp_path).machine
    above = found(tmp_path / "b", separate={"rates": {n: r * (1.13 if n > 1 else 1) for n, r in SHARED.items()}})
    assert at(above, 8).decision is Decision.BOTTLENECK


def test_losses_with_their_reason(tmp_path: Path) -> None:
    slow = {**SIXFOLD, 16: 50e3, 32: 40e3}
    batches = setting({"client_rpcs_per_segment_sent": 3.0})
    more_cpu = setting({"client_cpu_per_rpc_ns": 26_000})
    case = found(tmp_path, {"change": batches}, {"rates": slow, "change": more_cpu})
    assert [r.load.number for r in case.rows if r.decision is Decision.SLOWER] == [16, 32]
    cause = "fewer calls share a TCP segment, so a call takes more CPU time."
    assert f"Where slower: {cause}" in causes([case])
    for name, one, other in (("segments", batches, None), ("cpu", None, more_cpu)):  # neither by itself is a cause
        case = found(tmp_path / name, {"change": one}, {"rates": slow, "change": other})
        assert at(case, 32).decision is Decision.SLOWER and cause not in " ".join(causes([case]))


def test_what_separate_connections_cost_belongs_into_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gain equivalent within ±10 %, at nearly four times the P99."""
    rates = {n: r * (1.06 if n > 1 else 1) for n, r in SHARED.items()}

    def late(n: int, point: dict[str, Any]) -> None:
        if n == 16:
            point["latency_p99_ns"] *= 3.8

    case = found(tmp_path, separate={"rates": rates, "change": late})
    (cost,) = at(case, 16).costs
    assert cost.metric == "p99" and cost.ratio.value == pytest.approx(3.8 / 1.06, rel=0.02)
    assert said(tmp_path).short == "NO: equivalent at every load; P99 ×3.58 at 16 in flight"
    monkeypatch.setattr(thresholds, "COST_ALPHA", 1e-12)  # costs have an error rate of their own
    assert at(judged(tmp_path).scenarios[0], 16).costs == ()


def test_repetitions(tmp_path: Path) -> None:
    for number in (1, 5, 6):
        few = {"repetitions": number}
        case = found(tmp_path / str(number), few, few)
        assert (case.decision is Decision.BOTTLENECK) is (number == 6)
        needs = [dict(s.facts) for s in judged(tmp_path / str(number)).measure if s.code == "repetitions"]
        assert needs == ([{"minimum": 6, "fewest": number}] if number < 6 else [])
    assert "Inconclusive at 2–32 in flight: 5 repetitions, 6 is the minimum." in said(tmp_path / "5").why


LATE = {"code": "pacer-late", "text": "the pacer was late"}


def warned(number: int, warning: dict[str, str]) -> Change:
    """At 32 in flight, in the first repetitions."""
    left = [number]

    def change(n: int, point: dict[str, Any]) -> None:
        if n == 32 and left[0] > 0:
            left[0] -= 1
            point["warnings"] = [warning]

    return change


@pytest.mark.parametrize(("number", "void"), [(2, False), (3, True)])
def test_more_than_a_third_of_repetitions_that_a_configuration_spoilt_decide_nothing(
    tmp_path: Path, number: int, void: bool
) -> None:
    case = found(tmp_path, {"change": warned(number, LATE)})
    assert (at(case, 32).decision is Decision.INCONCLUSIVE) is void and at(case, 16).decision is Decision.BOTTLENECK
    assert (at(case, 32).codes == ("suspect",)) is void


def test_other_programs_void_no_difference_that_was_measured_side_by_side(tmp_path: Path) -> None:
    case = found(tmp_path, {"change": warned(6, OTHERS)})
    assert at(case, 32).decision is Decision.BOTTLENECK and at(case, 32).unreliable == 6
    assert said(tmp_path).notes == (f"6 of 72 measurements have a warning, such as '{OTHERS['text']}'",)


def test_other_programs_void_what_was_not_measured_side_by_side(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "per-slot", SHARED, change=warned(6, OTHERS))
    write(tmp_path / "b.json", "local-pool", SIXFOLD)
    judgement = judged(tmp_path)
    assert at(judgement.scenarios[0], 32).codes == ("suspect",) and "quiet-machine" in codes(judgement.measure)


@pytest.mark.parametrize(("number", "left"), [(2, 6), (4, 8)])
def test_undisturbed_rounds_decide_where_they_are_enough(tmp_path: Path, number: int, left: int) -> None:
    """Six of eight are enough, four are not."""
    spoil = warned(number, OTHERS)

    def slow(n: int, point: dict[str, Any]) -> None:
        spoil(n, point)
        point["throughput_per_second"] *= 0.5 if point["warnings"] else 1

    eight = {"repetitions": 8}
    row = at(found(tmp_path, {**eight, "change": slow}, eight), 32)
    assert row.throughput is not None and row.throughput.n == left
    assert (row.throughput.value == pytest.approx(6, rel=0.02)) is (left == 6)


def test_doubts_about_every_point_disqualify(tmp_path: Path) -> None:
    shares = {"warnings": [{"code": "shared-cpus", "text": "client and server share CPUs (0 and 0)"}]}
    case = found(tmp_path, shares, shares)
    assert {r.decision for r in case.rows if r.load.number > 1} == {Decision.INCONCLUSIVE}
    assert at(case, 8).codes == ("shared-cpus",)
    assert "cpus-apart" in codes(judged(tmp_path).measure)


def test_nothing_follows_where_the_manifest_cannot_be_read(tmp_path: Path) -> None:
    found(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    judgement = judged(tmp_path)
    assert (
        judgement.scenarios[0].decision is Decision.INCONCLUSIVE
        and said(tmp_path).short == "INCONCLUSIVE at every load"
    )
    (need,) = (one for one in judgement.measure if one.code == "mend-a-file")
    assert "manifest.json: not JSON" in need.facts["warning"]


def test_other_connections_than_promised(tmp_path: Path) -> None:
    case = found(tmp_path, separate={"change": setting({"connections": 3}, (32,))})
    assert at(case, 32).codes == ("connections-not-held",) and at(case, 32).decision is Decision.INCONCLUSIVE


def test_a_contradiction_at_one_in_flight(tmp_path: Path) -> None:
    case = found(tmp_path, separate={"rates": {**SIXFOLD, 1: 12e3}})
    assert case.decision is Decision.INCONCLUSIVE and at(case, 32).codes == ("contradiction",)
    assert "contradiction" in codes(judged(tmp_path).measure)


def test_failed_calls_are_left_out_and_said(tmp_path: Path) -> None:
    failed = setting({"failed": 3, "errors": [{"code": "UNAVAILABLE", "count": 3, "first_message": "x"}]}, (32,))
    case = found(tmp_path, separate={"change": failed})
    assert [r.load.number for r in case.rows] == [1, 2, 4, 8, 16]
    (need,) = (one for one in judged(tmp_path).measure if one.code == "failed-calls")
    assert need.facts == {"points": 6, "connections": ("separate",), "codes": ("UNAVAILABLE",)}


def test_where_all_calls_of_a_side_failed_nothing_is_compared(tmp_path: Path) -> None:
    failed = setting({"failed": 3, "errors": [{"code": "UNAVAILABLE", "count": 3, "first_message": "x"}]})
    for side in ("shared", "separate"):
        case = found(tmp_path / side, **{side: {"change": failed}})
        answer = said(tmp_path / side)
        assert case.rows == () and answer.short == "INCONCLUSIVE: no load could be compared"
        assert "calls/s" not in text.render(answer)
        assert any(f"36 points of {side} had failed calls" in one for one in answer.measure)


def test_one_side_alone(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "per-slot", SHARED)
    judgement = judged(tmp_path)
    assert judgement.scenarios == () and said(tmp_path).short.startswith("NOTHING TO COMPARE: ")
    assert codes(judgement.measure) == ["compare-with-more"]


@pytest.mark.parametrize(("cpus", "named"), [(3, True), (4, False)])
def test_few_cores_are_named(tmp_path: Path, cpus: int, named: bool) -> None:
    few = setting({"client_cpus_allowed": cpus, "client_cores_used": 0.5 * cpus})
    found(tmp_path, {"change": few}, {"rates": SHARED, "change": few})
    needed = [one.facts["needed"] for one in judged(tmp_path).cannot_show]
    assert needed == ([{"client": 7, "server": 7}] if named else [])  # 6 x 56,000/s x 20 us


def test_cpus_are_not_estimated_from_rates_next_to_other_programs(tmp_path: Path) -> None:
    busy = setting({"client_cpus_allowed": 3, "client_cores_used": 1.5, "warnings": [OTHERS]})
    found(tmp_path, {"change": busy}, {"rates": SHARED, "change": busy})
    (one,) = judged(tmp_path).cannot_show
    assert one.facts["needed"] == {}
