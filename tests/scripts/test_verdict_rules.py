"""Every rule of the verdict: where it fires, and just beside, where it does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cqbench import verdict_rules as rules
from cqbench.medians import Ratio
from cqbench.reasons import Reason
from cqbench.verdict_rules import Evidence, Regime, Status

# Nothing is full, and a call takes three times as long as alone.
BUSY = Evidence(
    inflight=16, client_cpu_share=0.5, server_cpu_share=0.5, client_cpus=32, server_cpus=32, client_workers=0.5,
    server_workers=0.5, server_busiest=0.5, connection_busy=0.5, rtt_min_ns=10_000, rtt_smoothed_ns=50_000,
    p50_ns=200_000, ideal=0.33,
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
        ("rtt_min_ns", 140_000, 139_999, Regime.NETWORK),
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
    assert regime(gains=True, ideal=0.899) is Regime.CONNECTION
    assert regime(gains=True, ideal=0.90) is Regime.IDLE, "it keeps up with the calls in flight"
    assert regime(gains=True, ideal=None) is Regime.CONNECTION, "without 1 in flight that is not known"
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
    full = {"client_workers": 1.0, "server_workers": 1.0, "rtt_min_ns": 190_000.0}
    assert regime(server_cpu_share=1.0, **full) is Regime.SERVER_CPU
    assert regime(**full) is Regime.SERVER_QUEUE


def test_the_network_needs_no_server_figures() -> None:
    assert regime(server_cpu_share=None, rtt_min_ns=190_000.0) is Regime.NETWORK
    assert regime(server_cpu_share=None, rtt_min_ns=None) is Regime.UNKNOWN
    assert rules.regime(replace(BUSY, server_cpu_share=None), False)[1] == "figures-absent"


# What workers that sleep in their calls look like: 8 in flight, 8 connections, one worker.
ASLEEP = {
    "client_cpu_share": 0.13, "server_cpu_share": 0.22, "server_workers": 0.2, "connection_busy": 0.98, "ideal": 0.16,
    "rtt_smoothed_ns": 2_526_000.0, "rtt_min_ns": 2_000.0, "p50_ns": 2_593_000.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "fires", "beside"),
    [
        ("connection_busy", 0.80, 0.799),
        ("rtt_smoothed_ns", 0.80 * 2_593_000 + 1, 0.80 * 2_593_000 - 1),
        ("rtt_min_ns", 252_600.0, 252_601.0),
        ("ideal", 0.699, 0.70),
    ],
)
def test_thresholds_of_a_server_that_leaves_requests(name: str, fires: float, beside: float) -> None:
    assert regime(**ASLEEP) is Regime.SERVER_QUEUE
    assert regime(**{**ASLEEP, name: fires}) is Regime.SERVER_QUEUE
    assert regime(**{**ASLEEP, name: beside}) in (Regime.UNKNOWN, Regime.IDLE)


@pytest.mark.parametrize("absent", ["connection_busy", "rtt_smoothed_ns", "rtt_min_ns", "ideal", "server_cpu_share"])
def test_a_server_that_leaves_requests_is_not_guessed(absent: str) -> None:
    assert regime(**{**ASLEEP, absent: None}) is Regime.UNKNOWN
    assert rules.server_leaves_requests(replace(BUSY, **{**ASLEEP, "p50_ns": None})) is None  # type: ignore[arg-type]


def test_what_is_full_comes_before_requests_that_are_left() -> None:
    assert regime(**{**ASLEEP, "server_cpu_share": 0.95}) is Regime.SERVER_CPU
    assert regime(**{**ASLEEP, "client_cpu_share": 0.95}) is Regime.CLIENT_CPU
    assert regime(gains=True, **ASLEEP) is Regime.CONNECTION
    assert rules.regime(replace(BUSY, **ASLEEP), False)[1] == "server-leaves-requests-unread"  # type: ignore[arg-type]


def test_a_single_call_waits_for_nobody() -> None:
    """410 us, of which the handler sleeps 200: its request is not acknowledged before the answer."""
    assert regime(**{**ASLEEP, "inflight": 1, "ideal": None}) is Regime.IDLE


def test_a_long_way_is_not_a_server_that_sleeps() -> None:
    far = {"connection_busy": 1.0, "rtt_min_ns": 5_035_000.0, "rtt_smoothed_ns": 5_100_000.0, "p50_ns": 5_890_000.0}
    assert regime(**far, ideal=0.5) is Regime.NETWORK
    assert regime(**{**far, "p50_ns": 7_200_000.0}, ideal=0.5) is Regime.UNKNOWN


# Through a proxy, the client's socket ends there: it sees neither the added time nor what the server takes.


def test_what_a_proxy_adds_is_part_of_the_network() -> None:
    assert regime(added_rtt_ns=130_000.0) is Regime.NETWORK  # 10 + 130 of 200 us
    assert regime(added_rtt_ns=129_999.0) is Regime.UNKNOWN
    assert regime(added_rtt_ns=0.0, rtt_min_ns=140_000) is Regime.NETWORK
    assert regime(added_rtt_ns=190_000.0, rtt_min_ns=None) is Regime.UNKNOWN


@pytest.mark.parametrize("added", [0.0, 5e6])
def test_a_gain_through_a_proxy_may_be_that_of_its_queues(added: float) -> None:
    far = replace(BUSY, added_rtt_ns=added, p50_ns=2 * added + 200_000)
    assert rules.regime(far, True) == (Regime.UNKNOWN, "faster-through-a-proxy")
    assert rules.regime(far, False) == (Regime.UNKNOWN, "nothing-saturated")
    assert rules.regime(replace(far, client_cpu_share=1.0), True)[0] is Regime.CLIENT_CPU
    assert rules.regime(replace(far, p50_ns=added + 1), True)[0] is Regime.NETWORK
    assert rules.regime(replace(far, server_cpu_share=None), True)[1] == "figures-absent"


@pytest.mark.parametrize("added", [0.0, 1_000.0])
def test_a_proxy_that_acknowledges_is_no_server_that_leaves_requests(added: float) -> None:
    assert regime(**ASLEEP, added_rtt_ns=added) is Regime.UNKNOWN
    assert rules.server_leaves_requests(replace(BUSY, **ASLEEP, added_rtt_ns=added)) is None  # type: ignore[arg-type]


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


def test_what_disqualifies_everything() -> None:
    assert rules.disqualifies(Reason("unknown-surroundings", "x/manifest.json: not JSON"))
    assert rules.disqualifies(Reason("shared-cpus", "whatever it says"))
    assert not rules.disqualifies(Reason("clock-source", "client and server share CPUs"))  # words do not count


def test_a_third_of_suspect_repetitions_is_tolerated() -> None:
    assert not rules.mostly_suspect(2, 6)
    assert rules.mostly_suspect(3, 6)
    assert not rules.mostly_suspect(0, 1)


def test_batching() -> None:
    assert rules.batches(1.5, 1.0)
    assert not rules.batches(1.49, 1.0)
    assert not rules.batches(None, 1.0) and not rules.batches(3.0, None)
