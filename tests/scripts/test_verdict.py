"""Whether the connection is the bottleneck, where, what limits otherwise, on machines that are not at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from verdict_synthetic import OTHERS, SHARED, SIXFOLD, Change, found, judged, manifest, regimes, setting, write

from cqbench import verdict_advice as advice
from cqbench import verdict_text as text
from cqbench import verdict_words as words
from cqbench.verdict_rules import Regime, Verdict


def test_sixfold_on_32_cores(tmp_path: Path) -> None:
    f = found(tmp_path)
    assert f.verdict is Verdict.PRESENT and f.present == (4, 8, 16, 32)
    assert f.best is not None and f.best.inflight == 32
    ratio = f.best.throughput
    assert ratio is not None and ratio.low is not None and ratio.high is not None
    assert ratio.value == pytest.approx(6, rel=0.02) and ratio.low < 6 < ratio.high
    assert regimes(f)[32] is Regime.CONNECTION and regimes(f, "separate")[32] is Regime.IDLE
    assert "IS the bottleneck from" in text.verdict_words(f)
    assert words.cores(f) == "" and advice.to_do(f) == []
    assert "GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL" in advice.policy(f) and "6.00x" in advice.policy(f)


def test_equal_sides_are_no_bottleneck(tmp_path: Path) -> None:
    f = found(tmp_path, separate={"rates": SHARED})
    assert f.verdict is Verdict.ABSENT and f.present == ()
    assert "is NOT the bottleneck" in text.verdict_words(f)
    assert advice.policy(f).startswith("leave it: keep the shared connection")


def test_what_limits_instead_is_said_of_separate_connections(tmp_path: Path) -> None:
    waits = setting({"server_workers_busy_share": 0.99}, (32,))
    full = setting({"client_workers_busy_share": 0.99}, (32,))
    f = found(tmp_path, {"change": full}, {"rates": SHARED, "change": waits})
    assert text.verdict_words(f).endswith("by 10% or more. With 32 in flight the limit is the server's threads.")
    one = found(tmp_path, {"change": full}, {"rates": SHARED})
    assert text.verdict_words(one).endswith("With 32 in flight the limit is the client's threads.")
    none = found(tmp_path, separate={"rates": SHARED})
    assert text.verdict_words(none).endswith("by 10% or more.")


def test_a_gain_just_below_the_threshold_is_none(tmp_path: Path) -> None:
    below = {n: r * (1.05 if n > 1 else 1) for n, r in SHARED.items()}
    above = {n: r * (1.13 if n > 1 else 1) for n, r in SHARED.items()}
    assert found(tmp_path, separate={"rates": below}).verdict is Verdict.ABSENT
    assert found(tmp_path, separate={"rates": above}).verdict is Verdict.PRESENT


def test_faster_while_the_cpus_are_full_is_not_the_connection(tmp_path: Path) -> None:
    full, beside = (setting({"client_cores_used": 32 * share}) for share in (0.95, 0.94))
    f = found(tmp_path, shared={"change": full})
    assert f.verdict is Verdict.FASTER and f.present == () and f.gains
    assert "the client's CPUs are full" in text.verdict_words(f)
    assert found(tmp_path, shared={"change": beside}).verdict is Verdict.PRESENT


def test_faster_through_a_proxy_is_not_the_connection(tmp_path: Path) -> None:
    write(tmp_path / "raw/a.shared/01.json", "per-slot", SHARED)
    write(tmp_path / "raw/a.separate/01.json", "local-pool", SIXFOLD)
    manifest(tmp_path, lambda _: {"network": {"added_rtt_ms": 0}})
    (f,) = judged(tmp_path).findings
    assert f.verdict is Verdict.FASTER and f.present == () and f.gains == (4, 8, 16, 32)
    assert f.fired[0] == "faster-but-connection-not-the-limit"
    assert text.verdict_words(f) == (
        "Separate connections are faster at 4 to 32 in flight, but each connection has a queue of its own in the "
        "proxy, which may be what is full: the shared connection is not shown to be the bottleneck."
    )
    manifest(tmp_path, lambda _: {})
    assert judged(tmp_path).findings[0].verdict is Verdict.PRESENT


def test_losses_at_many_in_flight_with_their_reason(tmp_path: Path) -> None:
    slow = {**SIXFOLD, 16: 50e3, 32: 40e3}
    batches = setting({"client_rpcs_per_segment_sent": 3.0})
    f = found(tmp_path, shared={"change": batches}, separate={"rates": slow})
    assert f.losses == (16, 32) and f.loses_from == 16 and f.batching
    said = advice.policy(f)
    assert "if you run at" in said and "from 16 on in flight they lose: 0.71x" in said
    assert "carries 3.0 calls per segment, not 1.0" in said
    beside = found(tmp_path, separate={"rates": slow})
    assert not beside.batching and "per segment" not in advice.policy(beside)
    assert found(tmp_path).losses == ()


def test_a_loss_in_between_has_no_from_on(tmp_path: Path) -> None:
    f = found(tmp_path, separate={"rates": {**SIXFOLD, 8: 40e3}})
    assert f.losses == (8,) and f.loses_from is None
    assert "at 8 in flight they lose" in advice.policy(f)


def test_what_separate_connections_cost(tmp_path: Path) -> None:
    dear = setting({"client_cpu_per_rpc_ns": 30_000, "server_cpu_per_rpc_ns": 25_000})
    f = found(tmp_path, separate={"change": dear})
    assert f.best is not None and f.best.client_cost is not None and f.best.server_cost is not None
    assert (f.best.client_cost.value, f.best.server_cost.value) == (1.5, 1.25)
    assert f.best.p99 is not None and f.best.p99.value == pytest.approx(1 / 6, rel=0.02)


def test_network_bound(tmp_path: Path) -> None:
    def far(n: int, point: dict[str, Any]) -> None:
        point["client_rtt_min_ns_median"] = 0.9 * point["latency_p50_ns"]

    f = found(tmp_path, shared={"change": far}, separate={"rates": SHARED, "change": far})
    assert set(regimes(f).values()) == {Regime.NETWORK}
    assert f.verdict is Verdict.ABSENT


def test_server_queue_bound(tmp_path: Path) -> None:
    full = setting({"server_workers_busy_share": 0.99}, (16, 32))
    f = found(tmp_path, separate={"change": full})
    assert regimes(f, "separate")[32] is Regime.SERVER_QUEUE and regimes(f, "separate")[8] is Regime.IDLE


def test_spinning_threads_say_nothing_about_cpus(tmp_path: Path) -> None:
    busy = setting({"client_cores_used": 32.0})
    both = {"change": busy, "poll": "spin"}
    f = found(tmp_path, shared=both, separate=both)
    assert not any(r.cpu for r in regimes(f).values())
    assert f.verdict is Verdict.NOT_ENOUGH and f.fired[0] == "faster-but-limit-not-known"
    assert any("--poll block" in t for t in advice.to_do(f))


def few(cpus: int, used: float) -> Change:
    return setting({"client_cpus_allowed": cpus, "client_cores_used": used * cpus})


@pytest.mark.parametrize(("cpus", "said"), [(3, True), (4, False)])
def test_few_cores_are_named(tmp_path: Path, cpus: int, said: bool) -> None:
    f = found(tmp_path, {"change": few(cpus, 0.5)}, {"rates": SHARED, "change": few(cpus, 0.5)})
    assert f.few_cores is said
    assert ("sixfold cannot appear here" in words.cores(f)) is said
    assert ("about 7 client, 7 server for 6x" in words.cores(f)) is said  # 6 x 56,000/s x 20 us


def test_all_counts_above_some_cpu_bound(tmp_path: Path) -> None:
    full = setting({"client_cores_used": 31.0}, (8, 16, 32))
    f = found(tmp_path, {"change": full}, {"rates": SHARED, "change": full})
    assert f.verdict is Verdict.CPU_LIMITED and f.cpu_limited_from == 8
    assert "the CPUs are the limit from 8 in flight on" in text.verdict_words(f)
    assert "sixfold cannot appear here" in words.cores(f)
    gap = setting({"client_cores_used": 31.0}, (8, 16))
    beside = found(tmp_path, {"change": gap}, {"rates": SHARED, "change": gap})
    assert beside.cpu_limited_from is None and beside.verdict is Verdict.ABSENT and words.cores(beside) == ""


def test_open_where_the_cpu_was_full_is_not_the_connection(tmp_path: Path) -> None:
    full = setting({"client_cores_used": 31.0, "suspect": [OTHERS]}, (32,))
    f = found(tmp_path, {"change": full}, {"rates": SHARED})
    assert f.verdict is Verdict.CPU_LIMITED and f.fired[0] == "cpu-at-open" and f.undecided == ()
    idle = setting({"suspect": [OTHERS]}, (32,))
    assert found(tmp_path, {"change": idle}, {"rates": SHARED}).verdict is Verdict.NOT_ENOUGH


def test_cpus_that_cap_the_gain(tmp_path: Path) -> None:
    f = found(tmp_path, separate={"change": setting({"server_cores_used": 31.0}, (32,))})
    assert f.verdict is Verdict.PRESENT and f.gain_capped_from == 32
    assert "are the limit of separate connections from 32" in words.cores(f)
    assert "sixfold" not in words.cores(f) and "6x" not in words.cores(f)  # it is there
    assert found(tmp_path).gain_capped_from is None
