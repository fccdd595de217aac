"""Scenarios: axes of experiments and facets of files; every configuration has its row and its name."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

from cqbench.analysis.verdict.model import Decision
from cqbench.render.verdict import grids
from verdict_synthetic import SHARED, SIXFOLD, at, codes, configuration, judged, manifest, said, write

CONFIG = {"connectionScaling": {"maxConnectionsPerSubchannel": 48}}
SCALES: dict[str, Any] = {
    "service_config": json.dumps(CONFIG),
    "channel_args": {"grpc.max_connections_per_subchannel_cap": "48"},
}


def faster(by: float) -> dict[int, float]:
    return {n: rate * by for n, rate in SHARED.items()}


def retries(folder: Path, off: float = 1.2) -> None:
    """A plain A/B experiment about something else than connections."""
    configuration(folder, "retries-on", "shared", SHARED)
    configuration(folder, "retries-off", "shared", faster(off), channel_args={"grpc.enable_retries": "0"})
    values = ("retries-on", "retries-off")
    manifest(folder, axes=[("retries", values)], question="What do retries cost?")


def test_something_else_than_connections_gets_a_verdict_about_that(tmp_path: Path) -> None:
    retries(tmp_path)
    judgement = judged(tmp_path)
    (case,) = judgement.scenarios
    assert judgement.question == "What do retries cost?" and not case.connections
    assert (case.axis, case.baseline, case.configurations) == ("retries", "retries-on", ("retries-off",))
    assert {row.decision for row in case.rows} == {Decision.FASTER} and len(case.rows) == 6  # 1 in flight counts
    assert said(tmp_path).short == "FASTER: retries-off at 1–32 in flight"
    (one,) = said(tmp_path).to_set
    assert one.setting == "retries-off instead of retries-on" and one.cpp == () and one.costs == ()
    assert one.brings[0] == "×1.20 (1.20–1.20) over 1–32 in flight; ×1.20 at each load"
    assert judgement.cannot_show == () and "connection" not in " ".join(said(tmp_path).keep)
    small = tmp_path / "small"
    retries(small, 1.03)
    assert said(small).short == "EQUIVALENT: within 10 % at every load"


def test_of_several_that_lose_each_is_named(tmp_path: Path) -> None:
    for name, by in (("ours", 1.0), ("theirs", 0.5), ("same", 1.0), ("third", 0.4)):
        configuration(tmp_path, name, "shared", faster(by), channel_args={"x.server": name})
    manifest(tmp_path, axes=[("server", ["ours", "theirs", "same", "third"])])
    assert said(tmp_path).short == "SLOWER: theirs and third at 1–32 in flight"


def test_every_configuration_of_four_policies_has_a_row_and_a_name(tmp_path: Path) -> None:
    ways = {
        "one": "shared",
        "per-slot": "per-slot",
        "own-args": "distinct-args",
        "own-pool": "local-pool",
        "four": "pool:4",
    }
    rates = {"own-pool": SIXFOLD, "own-args": SIXFOLD, "four": {**SIXFOLD, 32: 200e3}}
    for name, policy in ways.items():
        configuration(tmp_path, f"sync.{name}", policy, rates.get(name, SHARED))
    manifest(tmp_path, axes=[("api", ["sync"]), ("policy", list(ways))])
    (case,) = judged(tmp_path).scenarios
    assert case.baseline == "one" and set(case.configurations) == {"per-slot", "own-args", "own-pool", "four"}
    assert at(case, 32, "own-args").decision is Decision.BOTTLENECK
    assert at(case, 32, "per-slot").decision is Decision.EQUIVALENT  # the same thing under another name
    assert at(case, 32, "four").throughput is not None and len(case.effects) == 4


def test_cases_of_a_product_are_named_by_the_other_axes(tmp_path: Path) -> None:
    for mode in ("unary", "streaming"):
        for api, by in (("sync", 1.0), ("cq", 1.5)):
            for way, policy, rates in (("shared", "per-slot", SHARED), ("separate", "local-pool", SIXFOLD)):
                scaled = {n: r * by for n, r in rates.items()}
                configuration(tmp_path, f"{mode}.{api}.{way}", policy, scaled, method=mode, api=api)
    ways = ("connections", ("shared", "separate"))
    manifest(tmp_path, axes=[("mode", ("unary", "streaming")), ("api", ("sync", "cq")), ways])
    judgement = judged(tmp_path)
    assert {c.name for c in judgement.scenarios} == {"unary, sync", "unary, cq", "streaming, sync", "streaming, cq"}
    assert all(c.connections and c.axis == "connections" for c in judgement.scenarios)
    also = {(e.what, e.setting, e.instead_of, e.where): e for e in judgement.also}
    assert set(also) == {("api", "cq", "sync", "unary"), ("api", "cq", "sync", "streaming")}  # other work is no axis
    assert all(e.decision is Decision.FASTER and 1.49 < e.ratio.value < 1.51 for e in also.values())
    (one,) = (one for one in said(tmp_path).to_set if one.setting == "cq instead of sync")
    over = "×1.50 (1.50–1.50) on average over loads and other settings; ×1.50 at each load"
    assert sorted(one.brings) == [f"streaming: {over}", f"unary: {over}"]


def test_an_axis_of_several_facets_that_change_together(tmp_path: Path) -> None:
    """Files outside of experiments."""
    write(tmp_path / "a.json", "shared", SHARED)
    write(tmp_path / "b.json", "shared", faster(1.3), grpc_version="1.60.0", compiler="g++ 13")
    (case,) = judged(tmp_path).scenarios
    assert case.axis == "gRPC and compiler" and case.baseline == "gRPC 1.51.1, default compiler"
    assert case.configurations == ("gRPC 1.60.0, compiler g++ 13",) and case.decision is Decision.FASTER


def test_a_plain_list_of_configurations_is_compared_with_its_first(tmp_path: Path) -> None:
    configuration(tmp_path, "b", "shared", SHARED)
    configuration(tmp_path, "a", "shared", faster(1.3), api="cq")
    configuration(tmp_path, "c", "shared", faster(1.1), api="cq", channel_args={"x": "1"})
    manifest(tmp_path)
    data = json.loads((tmp_path / "manifest.json").read_text())
    data["experiment"]["configuration"] = [{"name": "b"}, {"name": "a"}, {"name": "c"}]
    (tmp_path / "manifest.json").write_text(json.dumps(data))
    (case,) = judged(tmp_path).scenarios
    assert case.baseline == "b" and case.configurations == ("a", "c")


def test_a_thing_compared_with_itself_stays_apart(tmp_path: Path) -> None:
    configuration(tmp_path, "one", "shared", SHARED)
    configuration(tmp_path, "two", "shared", SHARED)
    manifest(tmp_path, axes=[("same", ("one", "two"))])
    (case,) = judged(tmp_path).scenarios
    assert case.configurations == ("two",) and case.decision is Decision.EQUIVALENT and case.repetitions == 6


def test_two_machines_are_never_put_together(tmp_path: Path) -> None:
    for host in ("a", "b"):
        configuration(tmp_path / host, "shared", "per-slot", SHARED, host_name=host)
        configuration(tmp_path / host, "separate", "local-pool", SIXFOLD, host_name=host)
        manifest(tmp_path / host, axes=[("connections", ("shared", "separate"))])
    cases = judged(tmp_path / "a", tmp_path / "b").scenarios
    assert {c.name for c in cases} == {"a", "b"} and all(c.repetitions == 6 for c in cases)


def test_an_experiment_in_two_folders_is_one_with_more_repetitions(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        configuration(tmp_path / folder, "shared", "per-slot", SHARED)
        configuration(tmp_path / folder, "separate", "local-pool", SIXFOLD)
        manifest(tmp_path / folder, axes=[("connections", ("shared", "separate"))])
    (case,) = judged(tmp_path / "a", tmp_path / "b").scenarios
    row = at(case, 32)
    assert row.repetitions == 12 and row.throughput is not None and row.throughput.paired


def test_a_channel_that_scales_is_a_way_to_connect(tmp_path: Path) -> None:
    configuration(tmp_path, "shared", "shared", SHARED)
    configuration(tmp_path, "scaling", "shared", SIXFOLD, **SCALES)
    configuration(tmp_path, "separate", "local-pool", SIXFOLD)
    env = {"GRPC_EXPERIMENTAL_MAX_CONCURRENT_STREAMS_CONNECTION_SCALING": "true"}
    manifest(tmp_path, lambda v: {"client_env": env if v == "scaling" else {}})
    judgement = judged(tmp_path)
    (case,) = judgement.scenarios
    assert case.connections and case.configurations == ("separate", "scaling:48")
    (one,) = said(tmp_path).to_set
    assert one.setting == "one channel that grows to 48 connections (gRFC A105)"
    assert 'args.SetInt("grpc.max_connections_per_subchannel_cap", 48);' in one.cpp


def test_pools_alone_have_the_smallest_as_baseline(tmp_path: Path) -> None:
    for size in (4, 1, 2):
        configuration(tmp_path, f"connections-{size}", f"pool:{size}", SIXFOLD if size > 1 else SHARED)
    (case,) = judged(tmp_path).scenarios
    assert case.connections and (case.baseline, case.configurations) == ("pool:1", ("pool:2", "pool:4"))


def test_open_loops_are_judged_by_the_latency_at_equal_rates(tmp_path: Path) -> None:
    def rated(reached: float, late: float, period: int) -> Any:
        number = count()

        def change(n: int, point: dict[str, Any]) -> None:
            asked = 1000.0 * n
            point.update(target_rate_per_second=asked, inflight=48, throughput_per_second=reached * asked)
            point.update(latency_p99_ns=late * (1e6 + 1e4 * (next(number) % period)))

        return change

    context: dict[str, Any] = {"method": "unary", "loop": "open", "arrivals": "poisson", "at_limit": "queue"}
    rates = {1: 1e3, 2: 2e3}
    configuration(tmp_path, "shared", "per-slot", rates, change=rated(1.0, 2.0, 3), **context)
    configuration(tmp_path, "separate", "local-pool", rates, change=rated(1.0, 1.0, 5), **context)
    judgement = judged(tmp_path)
    (case,) = judgement.scenarios
    assert case.open_loop and case.decision is Decision.FASTER and judgement.cannot_show == ()
    for row in case.rows:  # the interval that is shown decides
        assert row.p99 is not None and row.judged is not None
        assert row.judged.interval == row.p99.inverse().interval and row.judged.spread > 0
    line = "INCONCLUSIVE: more connections have the lower P99 at 1000–2000/s, but why is not known"
    assert said(tmp_path).short == line
    titles, (shown,) = grids.outcomes(said(tmp_path))
    assert titles == ("separate ÷ shared", "P99 at 1000/s", "at 2000/s") and len(shown.cells) == 2
    configuration(tmp_path, "separate", "local-pool", rates, change=rated(0.9, 1.0, 5), **context)
    (case,) = judged(tmp_path).scenarios
    assert {row.decision for row in case.rows} == {Decision.INCONCLUSIVE} and case.rows[0].codes == (
        "rate-not-reached",
    )
    assert codes(judged(tmp_path).measure) == ["rate-not-reached"]
