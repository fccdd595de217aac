"""The verdict as a whole: stored results of the real programs, and made-up ones for machines that are not at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cqbench import verdict
from cqbench import verdict_advice as advice
from cqbench import verdict_text as text
from cqbench.documents import BadDocument
from cqbench.verdict_data import find_files, load_series, make_pairs
from cqbench.verdict_judge import Finding, judge
from cqbench.verdict_rules import Regime, Status, Verdict

DATA = Path(__file__).parent / "data/verdict"
COUNTS = (1, 2, 4, 8, 16, 32)
OTHERS = "other processes used 3.00 of the 32 CPU(s) of the client"
Change = Callable[[int, dict[str, Any]], None]


def entry(n: int, repetition: int, rate: float, connections: int) -> dict[str, Any]:
    """A point of a machine with 32 CPUs a side on which nothing is full."""
    return {
        "run_type": "iteration", "repetition_index": repetition, "inflight": n, "connections": connections,
        "expected_connections": connections, "completed": 100_000, "throughput_per_second": rate,
        "latency_p50_ns": n / rate * 1e9, "latency_p99_ns": 2 * n / rate * 1e9, "failed": 0, "errors": [],
        "warnings": [], "suspect": [], "partial": False, "client_cores_used": 4.0, "client_cpus_allowed": 32,
        "server_cores_used": 4.0, "server_cpus_allowed": 32, "client_cpu_per_rpc_ns": 20_000,
        "server_cpu_per_rpc_ns": 20_000, "client_workers_busy_share": 0.3, "server_workers_busy_share": 0.3,
        "server_busiest_worker_share": 0.4, "client_rtt_min_ns_median": 5_000, "client_rpcs_per_segment_sent": 1.0,
    }  # fmt: skip


def write(
    path: Path,
    policy: str,
    rates: dict[int, float],
    repetitions: int = 6,
    change: Change | None = None,
    **context: Any,
) -> Path:
    """A result file with repetitions within 1 % of the rates. change: applied to every point."""
    points = []
    for repetition in range(repetitions):
        for n, rate in rates.items():
            connections = 1 if policy in ("shared", "per-worker") else n
            if policy.startswith("pool:"):
                connections = int(policy[5:])
            point = entry(n, repetition, rate * (1 + 0.01 * (repetition % 3 - 1)), connections)
            if change:
                change(n, point)
            points.append(point)
    server = {"api": "cq", "poll": "block", "num_cqs": 8, "workers_per_cq": 2, "callbacks_per_cq": 10, "cpus": [32, 33]}
    head = {
        "schema_version": 2, "cqbench_version": "0.1.0", "mode": "streaming", "api": "sync", "channel_policy": policy,
        "workload": "ping", "target": "host:2137", "grpc_version": "1.51.1", "partial": False, "poll": "block",
        "affinity": "0-31", "command_line": ["bin/grpc_ping_client"], "servers": [server], "suspect": [], **context,
    }  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"context": head, "benchmarks": points, "not_measured": []}))
    return path


SHARED = {1: 10e3, 2: 19e3, 4: 35e3, 8: 50e3, 16: 55e3, 32: 56e3}
SIXFOLD = {1: 10e3, 2: 20e3, 4: 40e3, 8: 78e3, 16: 155e3, 32: 336e3}


def found(tmp_path: Path, shared: dict[str, Any] | None = None, separate: dict[str, Any] | None = None) -> Finding:
    """The finding of a pair; the arguments of write() other than SHARED and SIXFOLD."""
    write(tmp_path / "a.json", "per-worker", **{"rates": SHARED, **(shared or {})})
    write(tmp_path / "b.json", "local-pool", **{"rates": SIXFOLD, **(separate or {})})
    (finding,) = verdict.findings_of(load_series(find_files(tmp_path)))
    return finding


def setting(figures: dict[str, Any], counts: tuple[int, ...] = COUNTS) -> Change:
    """A change that sets figures at some counts."""

    def change(n: int, point: dict[str, Any]) -> None:
        if n in counts:
            point.update(figures)

    return change


def without(*ends: str) -> Change:
    """A change that removes the figures of an end."""

    def change(n: int, point: dict[str, Any]) -> None:
        for name in [k for k in point if k.startswith(ends)]:
            del point[name]

    return change


def regimes(finding: Finding, side: str = "shared") -> dict[int, Regime]:
    return {r.inflight: getattr(r, side).regime for r in finding.rows}


# The bottleneck.


def test_sixfold_on_32_cores(tmp_path: Path) -> None:
    f = found(tmp_path)
    assert f.verdict is Verdict.PRESENT and f.present == (4, 8, 16, 32)
    assert f.best is not None and f.best.inflight == 32
    ratio = f.best.throughput
    assert ratio is not None and ratio.low is not None and ratio.high is not None
    assert ratio.value == pytest.approx(6, rel=0.02) and ratio.low < 6 < ratio.high
    assert regimes(f)[32] is Regime.CONNECTION and regimes(f, "separate")[32] is Regime.IDLE
    assert "IS the bottleneck from" in text.verdict_words(f)
    assert text.cores(f) == "" and advice.to_do(f) == []
    assert "GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL" in advice.policy(f) and "6.00x" in advice.policy(f)


def test_equal_sides_are_no_bottleneck(tmp_path: Path) -> None:
    f = found(tmp_path, separate={"rates": SHARED})
    assert f.verdict is Verdict.ABSENT and f.present == ()
    assert "is NOT the bottleneck" in text.verdict_words(f)
    assert advice.policy(f).startswith("leave it: keep the shared connection")


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


# Regimes that need a pair of sides.


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


# Not enough evidence.


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
        ("too few calls for P50: 3, it needs 20", "a longer --interval"),
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
    (f,) = verdict.findings_of(load_series(find_files(tmp_path)))
    assert f.verdict is Verdict.NOT_ENOUGH and f.fired[0] == "one-side-not-measured"
    assert advice.to_do(f) == ["measure the other side too (--local-pool)"]
    assert len(text.block(f)) < text.MAX_LINES


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
    assert f.repetitions == 4 and "12 were cut short or had errors" in advice.to_do(f)[0]


# Few cores.


def few(cpus: int, used: float) -> Change:
    return setting({"client_cpus_allowed": cpus, "client_cores_used": used * cpus})


@pytest.mark.parametrize(("cpus", "said"), [(3, True), (4, False)])
def test_few_cores_are_named(tmp_path: Path, cpus: int, said: bool) -> None:
    f = found(tmp_path, {"change": few(cpus, 0.5)}, {"rates": SHARED, "change": few(cpus, 0.5)})
    assert f.few_cores is said
    assert ("sixfold cannot appear here" in text.cores(f)) is said
    assert ("about 7 client, 7 server for 6x" in text.cores(f)) is said  # 6 x 56,000/s x 20 us


def test_all_counts_above_some_cpu_bound(tmp_path: Path) -> None:
    full = setting({"client_cores_used": 31.0}, (8, 16, 32))
    f = found(tmp_path, {"change": full}, {"rates": SHARED, "change": full})
    assert f.verdict is Verdict.CPU_LIMITED and f.cpu_limited_from == 8
    assert "the CPUs are the limit from 8 in flight on" in text.verdict_words(f)
    assert "sixfold cannot appear here" in text.cores(f)
    gap = setting({"client_cores_used": 31.0}, (8, 16))
    beside = found(tmp_path, {"change": gap}, {"rates": SHARED, "change": gap})
    assert beside.cpu_limited_from is None and beside.verdict is Verdict.ABSENT and text.cores(beside) == ""


def test_open_where_the_cpu_was_full_is_not_the_connection(tmp_path: Path) -> None:
    full = setting({"client_cores_used": 31.0, "suspect": [OTHERS]}, (32,))
    f = found(tmp_path, {"change": full}, {"rates": SHARED})
    assert f.verdict is Verdict.CPU_LIMITED and f.fired[0] == "cpu-at-open" and f.undecided == ()
    idle = setting({"suspect": [OTHERS]}, (32,))
    assert found(tmp_path, {"change": idle}, {"rates": SHARED}).verdict is Verdict.NOT_ENOUGH


def test_cpus_that_cap_the_gain(tmp_path: Path) -> None:
    f = found(tmp_path, separate={"change": setting({"server_cores_used": 31.0}, (32,))})
    assert f.verdict is Verdict.PRESENT and f.gain_capped_from == 32
    assert "are the limit of separate connections from 32" in text.cores(f)
    assert "sixfold" not in text.cores(f) and "6x" not in text.cores(f)  # it is there
    assert found(tmp_path).gain_capped_from is None


# What else to set.


def test_fewest_connections_that_are_as_good(tmp_path: Path) -> None:
    write(tmp_path / "c.json", "pool:4", {**SIXFOLD, 32: 334e3})
    write(tmp_path / "d.json", "pool:2", {**SIXFOLD, 32: 200e3})
    f = found(tmp_path)
    assert f.pair.separate is not None and f.pair.separate.policy == "separate"
    assert "4 connections (pool:4) are enough at 32: 5.96x" in advice.policy(f)


def test_fewer_connections_that_carry_less(tmp_path: Path) -> None:
    write(tmp_path / "c.json", "pool:4", {**SIXFOLD, 32: 300e3})
    assert "Fewer connections (pool:4) carry less." in advice.policy(found(tmp_path))
    assert "onnections (" not in advice.policy(found(tmp_path / "alone"))


def test_a_pool_alone_is_the_separate_side(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "pool:4", SIXFOLD)
    (f,) = verdict.findings_of(load_series(find_files(tmp_path)))
    assert f.verdict is Verdict.PRESENT and "4 channels with connections of their own" in advice.policy(f)


def test_choices_between_settings_that_differ_in_one_thing(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", {n: 1.5 * r for n, r in SHARED.items()}, api="cq")
    write(tmp_path / "c.json", "shared", {n: 3 * r for n, r in SHARED.items()}, api="cq", mode="unary")
    (choice,) = advice.choices(load_series(find_files(tmp_path)))
    assert (choice.what, choice.better, choice.other, choice.inflight) == ("api", "cq", "sync", 32)
    assert choice.ratio.value == pytest.approx(1.5)
    assert "client API cq instead of sync: 1.50x" in advice.choice_words(choice)


def test_two_differences_at_once_are_no_choice(tmp_path: Path) -> None:
    fast = {n: 1.5 * r for n, r in SHARED.items()}
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", fast, api="cq", command_line=["x", "--threads", "4"])
    write(tmp_path / "c.json", "shared", fast, channel_args={"grpc.x": "1"})
    assert advice.choices(load_series(find_files(tmp_path))) == []


def test_a_choice_must_be_ahead_by_what_counts(tmp_path: Path) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", {n: 1.09 * r for n, r in SHARED.items()}, api="cq")
    assert advice.choices(load_series(find_files(tmp_path))) == []


@pytest.mark.parametrize(
    ("what", "context", "words"),
    [
        ("client", {"command_line": ["x", "--threads", "4"]}, "--threads 4 instead of default"),
        ("client", {"command_line": ["x", "--threads=4"]}, "--threads 4 instead of default"),
        ("server", {"servers": [{"api": "cq", "num_cqs": 1, "workers_per_cq": 2, "cpus": [32, 33]}]}, "cq 1 x 2"),
    ],
)
def test_threads_and_server_layouts_are_kept_apart(
    tmp_path: Path, what: str, context: dict[str, Any], words: str
) -> None:
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", {n: 1.5 * r for n, r in SHARED.items()}, **context)
    series = load_series(find_files(tmp_path))
    (choice,) = advice.choices(series)
    assert choice.what == what and words in advice.choice_words(choice)
    assert len(make_pairs(series)) == 2


def test_other_loads_are_kept_apart_and_are_no_choice(tmp_path: Path) -> None:
    fast = {n: 1.5 * r for n, r in SHARED.items()}
    server = {"api": "cq", "service_time_ns": 5000, "service_time_mode": "burn"}
    write(tmp_path / "a.json", "shared", SHARED, servers=[{"api": "cq"}])
    write(tmp_path / "b.json", "shared", fast, servers=[server])
    write(tmp_path / "c.json", "shared", SHARED, workload="echo", request_bytes=100, response_bytes=10)
    series = load_series(find_files(tmp_path))
    assert [s.setting.payload for s in series] == ["", "service 5 us burn", "100/10 bytes"]
    assert len(make_pairs(series)) == 3 and advice.choices(series) == []


# Reading.


def test_the_folder_of_an_experiment(tmp_path: Path) -> None:
    for number in range(6):
        write(tmp_path / f"raw/shared/{number:02}.json", "per-worker", SHARED, repetitions=1)
        write(tmp_path / f"raw/separate/{number:02}.json", "local-pool", SIXFOLD, repetitions=1)
    (tmp_path / "summary.json").write_text("{}")
    (f,) = verdict.findings_of(load_series(find_files(tmp_path)))
    assert f.verdict is Verdict.PRESENT and f.repetitions == 6


def test_variants_that_look_alike_are_said_to_be_mixed(tmp_path: Path) -> None:
    for name in ("near", "far"):
        write(tmp_path / f"raw/{name}/00.json", "per-worker", SHARED)
        write(tmp_path / f"raw/{name}-separate/00.json", "local-pool", SIXFOLD)
    (f,) = verdict.findings_of(load_series(find_files(tmp_path)))
    assert any("far, near) look alike" in t for t in advice.to_do(f))


def test_unreadable_results_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    assert verdict.main([str(tmp_path)]) == 2
    assert "no result files" in capsys.readouterr().err
    (tmp_path / "x.json").write_text("{}")
    assert verdict.main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(BadDocument):
        load_series([tmp_path / "missing.json"])


# Output.


def test_a_block_fits_a_screen_at_its_worst(tmp_path: Path) -> None:
    counts = tuple(range(1, 49))
    slow = {n: 10e3 * min(n, 6) for n in counts}
    fast = {n: 15e3 * n if 1 < n < 20 else 8e3 * min(n, 6) for n in counts} | {1: 10e3}
    disturbed = setting({"client_cpus_allowed": 2, "client_cores_used": 1.0, "suspect": [OTHERS]}, (3,))
    noisy = {
        "rates": slow, "change": disturbed,
        "channel_args": {"grpc.a_long_argument": "1" * 60}, "repetitions": 5,
    }  # fmt: skip
    f = found(tmp_path, noisy, {**noisy, "rates": fast})
    lines = text.render([f], []).splitlines()
    assert len(lines) <= text.MAX_LINES and max(map(len, lines)) <= text.WIDTH
    assert lines[-3].startswith(("MEASURE", " "))
    shown = [int(line[:9].strip(" !")) for line in lines if line[:9].strip(" !").isdigit()]
    assert shown[0] == 1 and shown[-1] == 48 and len(shown) >= 5


def test_the_most_important_comes_first(tmp_path: Path) -> None:
    half = {n: r * (1.5 if n > 1 else 1) for n, r in SHARED.items()}
    full = setting({"client_cores_used": 32.0})
    for api, mode, rates, change in (
        ("cq", "unary", SHARED, None),
        ("cq", "streaming", SIXFOLD, full),
        ("sync", "unary", half, None),
        ("sync", "streaming", SIXFOLD, None),
    ):
        write(tmp_path / f"{api}-{mode}-a.json", "shared", SHARED, change=change, mode=mode, api=api)
        write(tmp_path / f"{api}-{mode}-b.json", "local-pool", rates, change=change, mode=mode, api=api)
    findings = verdict.findings_of(load_series(find_files(tmp_path)))
    assert [f.verdict for f in findings] == [Verdict.PRESENT, Verdict.PRESENT, Verdict.FASTER, Verdict.ABSENT]
    assert [f.pair.any.mode for f in findings[:2]] == ["streaming", "unary"]


def test_json_has_every_number_and_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found(tmp_path)
    assert verdict.main([str(tmp_path), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (finding,) = data["findings"]
    assert finding["verdict"] == "bottleneck-present" and finding["rules"] == ["faster-and-cpus-not-saturated"]
    row = finding["rows"][-1]
    assert row["shared"]["rule"] == "faster-and-cpus-not-saturated" and row["status"] == "present"
    assert set(row["throughput_ratio"]) == {"value", "low", "high"}
    assert finding["usl"]["shared"]["r2"] > 0.9 and data["thresholds"]["gain"] == 1.10


def test_nothing_measured() -> None:
    assert text.render([], []) == "Nothing to judge: no series was measured.\n"


# What the real programs gave on two busy CPUs, client on one, server on the other.


@pytest.fixture(scope="module")
def real() -> dict[str, Finding]:
    return {p.any.mode: judge(p) for p in make_pairs(load_series(find_files(DATA)))}


def test_real_streaming(real: dict[str, Finding]) -> None:
    f = real["streaming"]
    status = {r.inflight: r.status for r in f.rows}
    assert status == {
        1: Status.SAME, 2: Status.PRESENT, 4: Status.FASTER, 8: Status.SLOWER, 16: Status.OPEN, 32: Status.OPEN,
    }  # fmt: skip
    assert f.verdict is Verdict.PRESENT and f.cpu_limited_from == 4 and f.few_cores and f.batching
    assert "at 2 in flight only" in text.verdict_words(f) and "From 4 on the CPUs" in text.verdict_words(f)


def test_real_unary_was_disturbed_and_says_so(real: dict[str, Finding]) -> None:
    f = real["unary"]
    assert f.verdict is Verdict.NOT_ENOUGH and f.undecided == (2, 4, 8, 16, 32)
    assert any("keep other work off" in t for t in advice.to_do(f))


def test_real_output_fits_a_screen(real: dict[str, Finding]) -> None:
    for f in real.values():
        lines = text.render([f], []).splitlines()
        assert len(lines) <= text.MAX_LINES and max(map(len, lines)) <= text.WIDTH
