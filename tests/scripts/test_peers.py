"""The peers' outputs, as the real tools wrote them, and the ratios over rounds."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from cqbench.measure.processes import Server
from cqbench.run.peers import adapters, benchmain, transcoding, versions
from cqbench.run.peers.adapters import (
    At,
    BadOutput,
    h2load_command,
    our_figure,
    parse_ghz,
    parse_ghz_scenario,
    parse_h2load,
    parse_sockperf,
)
from cqbench.run.peers.targets import Measurement, Ratio, evaluate, lineup, render, targets
from result_schema import ROOT, programs

DATA = Path(__file__).parent / "data"
H2LOAD = (DATA / "h2load.txt").read_text()
GHZ = (DATA / "ghz.json").read_text()
BENCHMAIN = (DATA / "benchmain.txt").read_text()
SOCKPERF = (DATA / "sockperf.txt").read_text()


def test_h2load_counts_only_the_measured_time() -> None:
    # 50801 requests; "finished in 3.00s" includes the second of warm-up.
    assert parse_h2load(H2LOAD, 2) == 25400.50
    with pytest.raises(BadOutput, match="is not its 50801 requests over 3 s"):
        parse_h2load(H2LOAD, 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [("50801 2xx, 0 3xx, 0 4xx, 0 5xx", "50800 2xx, 0 3xx, 0 4xx, 1 5xx"), ("0 errored", "1 errored"),
     ("0 timeout", "2 timeout"), ("0 failed", "3 failed")],
)  # fmt: skip
def test_h2load_with_failures(old: str, new: str) -> None:
    with pytest.raises(BadOutput, match="failed requests"):
        parse_h2load(H2LOAD.replace(old, new), 2)


def test_h2load_without_a_server() -> None:
    with pytest.raises(BadOutput, match="0 with status 2xx"):
        parse_h2load((DATA / "h2load-refused.txt").read_text(), 1)
    with pytest.raises(BadOutput, match="has no rate"):
        parse_h2load("", 1)


def test_h2load_command() -> None:
    command = h2load_command(
        Measurement("k", "h2load", "", connections=48), At("localhost:1", 2, Path(), Path("frame"))
    )
    assert command[command.index("-D") + 1] == "2"
    assert command[-1] == "http://localhost:1/Ydb.Debug.V1.DebugService/PingPlainGrpc"


def test_ghz_counts_successes() -> None:
    assert parse_ghz(GHZ, 48) == pytest.approx(37861 / 2.001402269)


@pytest.mark.parametrize(
    "statuses", [{"OK": 9, "Unavailable": 49}, {"OK": 9, "Internal": 1}, {"Unavailable": 1}, {}, {"OK": "x"}, []]
)
def test_ghz_with_failures(statuses: object) -> None:
    data = json.loads(GHZ)
    data["statusCodeDistribution"] = statuses
    with pytest.raises(BadOutput, match="ghz"):
        parse_ghz(json.dumps(data), 48)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "not json"])
def test_ghz_garbled(text: str) -> None:
    with pytest.raises(BadOutput):
        parse_ghz(text, 48)


def test_sockperf_full_round_trip() -> None:
    assert parse_sockperf(SOCKPERF) == 47.237


@pytest.mark.parametrize(
    ("old", "new"),
    [("Round trip is", "Latency is"), ("percentile 50.000", "x"), ("dropped messages = 0", "dropped messages = 4")],
)
def test_sockperf_not_as_expected(old: str, new: str) -> None:
    with pytest.raises(BadOutput):
        parse_sockperf(SOCKPERF.replace(old, new))


def test_benchmain() -> None:
    found = benchmain.parse_output(BENCHMAIN, 1)
    assert found["qps"] == 7992 and found["p50"] == pytest.approx(55_947.0) and found["p99"] == pytest.approx(146_060.8)
    assert (found["allocations"], found["bytes"]) == pytest.approx((143.968, 10129.745), abs=1e-3)
    assert set(found) == set(benchmain.UNITS)
    assert benchmain.parse_output(BENCHMAIN.replace("146.0608ms", "146.0608\u03bcs"), 2)["p99"] == pytest.approx(
        146.0608
    )


@pytest.mark.parametrize("gone", ["Allocs/op", "99_Latency", "Number of requests:  7992"])
def test_benchmain_not_as_expected(gone: str) -> None:
    with pytest.raises(BadOutput, match="benchmain's output has no"):
        benchmain.parse_output(BENCHMAIN.replace(gone, "x"), 1)


def test_our_allocations_are_those_of_both_ends() -> None:
    one = json.loads((DATA / "unary-sync-shared.json").read_text())
    one["benchmarks"] = one["benchmarks"][:1]
    with pytest.raises(BadOutput, match="no allocations of both ends"):
        benchmain.our_figures(json.dumps(one))
    for end, count in (("client", 12.0), ("server", 9.0)):
        one["benchmarks"][0] |= {f"{end}_allocations_per_rpc": count, f"{end}_allocated_bytes_per_rpc": 100 * count}
    found = benchmain.our_figures(json.dumps(one))
    assert (found["allocations"], found["bytes"]) == (21.0, 2100.0)
    assert found["p50"] == one["benchmarks"][0]["latency_p50_ns"] / 1000 and set(found) <= set(benchmain.UNITS)


def test_allocations_have_rows_and_no_target() -> None:
    measurements, ratios = benchmain.targets()
    assert [m.key for m in measurements if not m.part_of] == ["go/ours", "go/benchmain"]
    figures = {m.key: 20.0 for m in measurements if m.part_of}
    text = render([evaluate(ratio, [figures]) for ratio in ratios], measurements, {})
    assert text.count("1.00 (1.00 - 1.00)") == len(ratios) == 5 and "20.00" in text and "20 B" in text
    assert max(map(len, text.splitlines())) <= 120 and " yes" not in text and " no" not in text
    absent = {"benchmain": "benchmain not installed"}
    ours = {key: value for key, value in figures.items() if "ours" in key}
    text = render([evaluate(ratio, [ours]) for ratio in ratios], measurements, absent)
    assert text.count("benchmain not installed") == 5


def test_our_figure() -> None:
    one = json.loads((DATA / "unary-sync-shared.json").read_text())
    one["benchmarks"] = one["benchmarks"][:1]
    point = one["benchmarks"][0]
    assert our_figure(json.dumps(one), "req/s") == point["throughput_per_second"]
    assert our_figure(json.dumps(one), "us") == point["latency_p50_ns"] / 1000
    point["warnings"] = [{"code": "connections", "text": "policy shared promises 1"}]
    with pytest.raises(BadOutput, match="promises 1"):
        our_figure(json.dumps(one), "req/s")
    with pytest.raises(BadOutput, match="3 points"):
        our_figure((DATA / "unary-sync-shared.json").read_text(), "req/s")


def test_the_median_is_that_of_the_rounds_ratios() -> None:
    rounds = [{"a": 10.0, "b": 10.0}, {"a": 30.0, "b": 10.0}, {"a": 20.0, "b": 40.0}, {"a": 5.0}]
    outcome = evaluate(Ratio("", "a", "b", 0.9), rounds)
    assert (outcome.median, outcome.low, outcome.high, outcome.rounds) == (1.0, 0.5, 3.0, 3)
    assert (outcome.ours, outcome.peer, outcome.reached) == (15.0, 10.0, True)


def test_reached_knows_its_direction() -> None:
    assert evaluate(Ratio("", "a", "b", 0.65, at_most=True), [{"a": 1.0, "b": 2.0}]).reached is True
    assert evaluate(Ratio("", "a", "b", 0.65), [{"a": 1.0, "b": 2.0}]).reached is False
    assert evaluate(Ratio("", "a", "b", 0.65), []).reached is None


def test_every_target_is_measured_and_every_measurement_used() -> None:
    measurements, ratios = targets()
    keys = [m.key for m in measurements]
    assert len(set(keys)) == len(keys)
    assert {r.ours for r in ratios} | {r.peer for r in ratios} == set(keys)
    assert [r.target for r in ratios] == [0.9, 1.5, 0.9, 1.8, 1.0, 1.0, 0.75, 1.3, 0.9, 1.8, 1.3, 1.5, 1.35, 0.65]


def test_the_line_up_is_every_server_and_message_from_both_tools() -> None:
    measurements, ratios = lineup()
    assert {r.ours for r in ratios} | {r.peer for r in ratios} == {m.key for m in measurements}
    assert len(ratios) == 14 and {m.server for m in measurements} >= {"cq", "callback", "sync", "generic", "go:connect"}
    assert {m.scenario for m in measurements if m.tool == "ghz"} == {"empty", "complex"}
    assert all(m.inflight == 50 for m in measurements if m.tool == "cqbench")


def test_over_http_both_clients_have_the_same_connections_on_every_front() -> None:
    measurements, ratios = transcoding.targets()
    by_key = {m.key: m for m in measurements}
    assert {r.ours for r in ratios} | {r.peer for r in ratios} == set(by_key) and len(ratios) == 9
    for ratio in ratios:
        ours, peer = by_key[ratio.ours], by_key[ratio.peer]
        assert (ours.tool, peer.tool, ours.server) == ("cqbench", "h2load", peer.server)
        assert (ours.connections, ours.streams, ours.inflight) == (peer.connections, peer.streams, 16)
        assert ("http1" in ours.flags) == ("--h1" in h2load_command(peer, At("h:1", 2, Path(), Path())))


def test_fronts_are_started_with_an_http_port(tmp_path: Path) -> None:
    ours, theirs = (transcoding.command(f"http:{name}", tmp_path) for name in ("descriptor", "grpc-gateway"))
    assert ours[:3] == [str(tmp_path / "grpc_ping_server"), "--http", "localhost:0"] and "descriptor" in ours
    assert theirs[0].endswith("build/grpc-gateway/grpc-gateway") and "--equal" in theirs
    assert transcoding.is_built("http:bare")


def test_a_scenario_counts_what_it_skips_in_its_time() -> None:
    data = json.loads(GHZ)
    data["statusCodeDistribution"] = {"OK": 1900}
    assert parse_ghz_scenario(json.dumps(data), 2000, 100) == pytest.approx(2000 / (data["total"] / 1e9))
    with pytest.raises(BadOutput, match="1900 calls, not 2900"):
        parse_ghz_scenario(json.dumps(data), 3000, 100)


# Real ones, against every kind of server: a scenario that ghz does not understand, or answers it does not accept.
@pytest.mark.parametrize("api", ["cq", "callback", "sync", "generic"])
@pytest.mark.parametrize("scenario", ["empty", "complex"])
def test_the_scenarios_run_with_ghz(api: str, scenario: str, tmp_path: Path) -> None:
    if why := versions.absent(adapters.GHZ):
        pytest.skip(f"{why}: {adapters.GHZ.install}")
    with Server([str(programs() / "grpc_ping_server"), "--api", api], tmp_path / "log") as server:
        command = ["ghz", "--config", f"scripts/scenarios/{scenario}.json", "-x", "0s", "--total", "1100"]
        done = subprocess.run(
            [*command, "--format", "json", server.address],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert json.loads(done.stdout)["statusCodeDistribution"] == {"OK": 100}, done.stderr


def test_the_table() -> None:
    measurements, ratios = targets()
    figures = {m.key: 50_000.0 if m.unit == "req/s" else 60.0 for m in measurements if m.tool != "ghz"}
    text = render([evaluate(r, [figures]) for r in ratios], measurements, {"ghz": "ghz not installed"})
    lines = text.splitlines()
    assert max(map(len, lines)) <= 120
    assert any("ghz not installed" in line and line.endswith("-") for line in lines)
    assert any("1.00 (1.00 - 1.00)" in line and line.endswith("yes") for line in lines)
    assert any("60.0 µs" in line for line in lines)
