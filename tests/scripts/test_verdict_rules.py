"""Every rule of the verdict: where it fires, and just beside, where it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cqbench import verdict_rules as rules
from cqbench.verdict_rules import Evidence, Regime, Status
from cqbench.verdict_stats import Ratio, ratio_of_medians

# Nothing is full, and a call takes three times as long as alone.
BUSY = Evidence(
    inflight=16, client_cpu_share=0.5, server_cpu_share=0.5, client_cpus=32, server_cpus=32, client_workers=0.5,
    server_workers=0.5, server_busiest=0.5, rtt_ns=10_000, p50_ns=200_000, ideal=0.33,
)  # fmt: skip


def regime(gains: bool = False, **changes: float | None) -> Regime:
    return rules.regime(replace(BUSY, **changes), gains)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "fires", "beside", "expected"),
    [
        ("client_cpu_share", 0.95, 0.949, Regime.CLIENT_CPU),
        ("server_cpu_share", 0.95, 0.949, Regime.SERVER_CPU),
        ("server_workers", 0.95, 0.949, Regime.SERVER_QUEUE),
        ("server_busiest", 0.95, 0.949, Regime.SERVER_QUEUE),
        ("client_workers", 0.95, 0.949, Regime.CLIENT_QUEUE),
        ("rtt_ns", 140_000, 139_999, Regime.NETWORK),
        ("ideal", 0.70, 0.699, Regime.IDLE),
        ("client_cpu_share", None, 0.5, Regime.UNKNOWN),
    ],
)
def test_thresholds_of_the_regimes(name: str, fires: float | None, beside: float, expected: Regime) -> None:
    assert regime(**{name: fires}) is expected
    assert regime(**{name: beside}) is Regime.UNKNOWN


def test_one_in_flight_is_latency_bound_without_an_ideal() -> None:
    assert regime(inflight=1, ideal=None) is Regime.IDLE
    assert regime(inflight=2, ideal=None) is Regime.UNKNOWN


def test_connection_bound_is_a_gain_with_cpus_to_spare() -> None:
    assert regime(gains=True) is Regime.CONNECTION
    assert regime(gains=False) is Regime.UNKNOWN
    assert regime(gains=True, client_cpu_share=0.95) is Regime.CLIENT_CPU
    assert regime(gains=True, server_cpu_share=0.95) is Regime.SERVER_CPU
    assert regime(gains=True, server_cpu_share=None) is Regime.UNKNOWN
    assert regime(gains=True, client_cpu_share=None) is Regime.UNKNOWN
    assert regime(gains=True, server_workers=0.95) is Regime.SERVER_QUEUE


def test_one_full_worker_is_what_a_full_connection_looks_like() -> None:
    assert regime(gains=True, server_busiest=1.0) is Regime.CONNECTION
    assert regime(gains=False, server_busiest=1.0) is Regime.SERVER_QUEUE


def test_the_fuller_end_is_named() -> None:
    assert regime(client_cpu_share=0.96, server_cpu_share=0.99) is Regime.SERVER_CPU
    assert regime(client_cpu_share=0.99, server_cpu_share=0.96) is Regime.CLIENT_CPU


def test_full_cpus_come_before_the_network_and_queues() -> None:
    full = {"client_workers": 1.0, "server_workers": 1.0, "rtt_ns": 190_000.0}
    assert regime(server_cpu_share=1.0, **full) is Regime.SERVER_CPU
    assert regime(**full) is Regime.SERVER_QUEUE


def test_the_network_needs_no_server_figures() -> None:
    assert regime(server_cpu_share=None, rtt_ns=190_000.0) is Regime.NETWORK
    assert regime(server_cpu_share=None, rtt_ns=None) is Regime.UNKNOWN
    assert rules.regime(replace(BUSY, server_cpu_share=None), False)[1] == "figures-absent"


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (Ratio(1.11, 1.01, 1.2), True),
        (Ratio(1.10, 1.01, 1.2), False),  # not by more than the threshold
        (Ratio(1.50, 1.00, 2.0), False),  # the interval touches 1
        (Ratio(1.50), None),  # no interval
        (None, None),
    ],
)
def test_faster(ratio: Ratio | None, expected: bool | None) -> None:
    assert rules.faster(ratio) is expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (Ratio(0.94, 0.90, 0.99), True),
        (Ratio(0.95, 0.90, 0.99), False),
        (Ratio(0.80, 0.60, 1.00), False),
        (Ratio(0.80), None),
    ],
)
def test_slower(ratio: Ratio, expected: bool | None) -> None:
    assert rules.slower(ratio) is expected


def test_no_gain_is_an_interval_below_the_threshold() -> None:
    assert rules.no_gain(Ratio(1.0, 0.9, 1.10)) is True
    assert rules.no_gain(Ratio(1.0, 0.9, 1.101)) is False
    assert rules.no_gain(Ratio(1.0)) is None


def test_the_status_of_a_count() -> None:
    gain, loss = Ratio(1.5, 1.4, 1.6), Ratio(0.8, 0.7, 0.9)
    assert rules.status(8, gain, Regime.CONNECTION, False) is Status.PRESENT
    assert rules.status(8, gain, Regime.CLIENT_CPU, False) is Status.FASTER
    assert rules.status(8, gain, Regime.CONNECTION, True) is Status.OPEN
    assert rules.status(8, loss, Regime.CLIENT_CPU, False) is Status.SLOWER
    assert rules.status(8, Ratio(1.0, 0.97, 1.03), Regime.UNKNOWN, False) is Status.EQUAL
    assert rules.status(8, Ratio(1.0, 0.8, 1.3), Regime.UNKNOWN, False) is Status.OPEN
    assert rules.status(8, Ratio(1.5), Regime.UNKNOWN, False) is Status.OPEN
    assert rules.status(1, gain, Regime.IDLE, False) is Status.SAME
    assert rules.status(2, gain, Regime.CONNECTION, False) is Status.PRESENT


def test_a_contradiction_at_one_in_flight() -> None:
    assert rules.contradictory(Ratio(1.11, 1.01, 1.2))
    assert not rules.contradictory(Ratio(1.10, 1.01, 1.2))
    assert not rules.contradictory(Ratio(1.3, 0.99, 1.5))
    assert rules.contradictory(Ratio(0.90, 0.8, 0.99))
    assert not rules.contradictory(Ratio(0.92, 0.8, 0.99))
    assert not rules.contradictory(Ratio(0.80, 0.7, 1.0))
    assert not rules.contradictory(Ratio(2.0)) and not rules.contradictory(None)


def test_few_cores_on_either_side() -> None:
    assert rules.few_cores(3, 32) and rules.few_cores(32, 3)
    assert not rules.few_cores(4, 4)
    assert not rules.few_cores(None, None)


def test_what_counts_as_doubt() -> None:
    assert rules.is_doubt("other processes used 0.53 of the 1 CPU(s) of the client")
    assert rules.is_doubt("too few calls for P50: 12, it needs 20")
    assert not rules.is_doubt("CPU-bound: this measures CPU, not the connection: the client uses 1.00 of 1 CPU(s)")
    assert not rules.is_doubt("too few calls for P99.9: 2079, it needs 10000")


def test_only_shared_cpus_disqualify_everything() -> None:
    assert rules.disqualifies("client and server share CPUs (0-1 and 0-1): pin them apart with taskset or numactl")
    assert not rules.disqualifies("the clock source of the client is hpet, not TSC")


def test_a_third_of_suspect_repetitions_is_tolerated() -> None:
    assert not rules.mostly_suspect(2, 6)
    assert rules.mostly_suspect(3, 6)
    assert not rules.mostly_suspect(0, 1)


def test_batching() -> None:
    assert rules.batches(1.5, 1.0)
    assert not rules.batches(1.49, 1.0)
    assert not rules.batches(None, 1.0) and not rules.batches(3.0, None)


def test_below_three_repetitions_there_is_no_interval() -> None:
    two = ratio_of_medians([2.0, 2.0], [1.0, 1.0, 1.0])
    three = ratio_of_medians([2.0, 2.1, 2.2], [1.0, 1.0, 1.0])
    assert two == Ratio(2.0)
    assert three is not None and three.low is not None
    assert ratio_of_medians([], [1.0]) is None
    assert ratio_of_medians([1.0, None], [0.0]) is None


def test_the_interval_is_always_the_same_and_holds_what_made_the_figures() -> None:
    random = np.random.default_rng(3)
    held = 0
    for _ in range(100):
        top, bottom = random.normal(150, 6, 6), random.normal(100, 4, 6)
        ratio = ratio_of_medians(list(top), list(bottom), resamples=400)
        assert ratio == ratio_of_medians(list(top), list(bottom), resamples=400)
        assert ratio is not None and ratio.low is not None and ratio.high is not None
        held += ratio.low <= 1.5 <= ratio.high
    assert held >= 88  # of 95 promised: resampling few values is a little too sure
