"""Recommended settings: with its costs at other loads, with the flags that measured it, and nothing where it flips."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cqbench.formats import asked
from verdict_synthetic import SHARED, SIXFOLD, codes, configuration, found, judged, manifest, said, setting

LIMIT = [{"target": "host:2137", "max_concurrent_streams": 2}]


def rates(**gains: float) -> dict[int, float]:
    """SHARED times the gains at those numbers in flight: n8=1.3."""
    return {n: rate * gains.get(f"n{n}", 1.0) for n, rate in SHARED.items()}


def test_a_gain_has_its_loss_at_another_load_next_to_it(tmp_path: Path) -> None:
    found(tmp_path, separate={"rates": rates(n2=0.8, n16=1.3, n32=1.4)})
    (one,) = said(tmp_path).to_set
    assert one.brings == ("×1.30 (1.28–1.32) at 16, ×1.40 (1.38–1.42) at 32 in flight",)
    (costs,) = one.costs
    assert costs.startswith("slower, ×0.80 (0.79–0.81) at 2")


def test_a_setting_that_flips_from_one_load_to_the_next_is_not_recommended(tmp_path: Path) -> None:
    found(tmp_path, separate={"rates": rates(n8=0.8, n16=1.3)})
    answer = said(tmp_path)
    assert answer.to_set == () and codes(judged(tmp_path).settings) == ["flips", "keep-flips"]
    assert answer.keep[0] == (
        "separate depends on the load (streaming, sync client): ×1.30 (1.28–1.32) at 16, but ×0.80 (0.79–0.81) at 8 in "
        "flight. Measure at your own load; until then keep shared."
    )
    assert "fewer-connections" not in codes(judged(tmp_path).measure)


def test_scenarios_in_which_a_setting_flips_share_a_sentence(tmp_path: Path) -> None:
    for name, of in (("sync", rates(n8=0.8, n16=1.3)), ("cq", rates(n4=1.5, n8=0.7, n16=0.6, n32=0.5))):
        configuration(tmp_path, f"{name}.shared", "per-slot", SHARED, api=name)
        configuration(tmp_path, f"{name}.separate", "local-pool", of, api=name)
    manifest(tmp_path, axes=[("api", ("sync", "cq")), ("connections", ("shared", "separate"))])
    (sentence,) = (one for one in said(tmp_path).keep if "depends on the load" in one)
    assert "separate depends on the load (cq; sync): ×1.30 to ×1.50 at 4, 16, but ×0.50 to ×0.80 at 8–32" in sentence


def test_of_two_the_one_that_does_not_flip_is_recommended(tmp_path: Path) -> None:
    for name, policy, of in (
        ("shared", "per-slot", SHARED),
        ("four", "pool:4", rates(n16=1.2, n32=1.2)),
        ("separate", "local-pool", rates(n8=0.8, n16=1.6, n32=1.6)),
    ):
        configuration(tmp_path, name, policy, of)
    (one,) = said(tmp_path).to_set
    assert one.setting == "4 channels in turn, each with a connection of its own"
    assert one.cpp[-1] == "// 4 such channels, each call on the next: channels[n++ % 4]"


@pytest.mark.parametrize("budget", [None, "2m"])
def test_fewer_connections_are_as_good_by_the_interval_that_decides(budget: str | None, tmp_path: Path) -> None:
    """Within a budget that interval holds at every look, so it is wider."""

    def noisy(n: int, point: dict[str, Any]) -> None:
        point["throughput_per_second"] *= noise.gauss(1, 0.022)

    noise = Random(1)
    configuration(tmp_path, "shared", "per-slot", SHARED, 8)
    configuration(tmp_path, "four", "pool:4", rates(n16=1.50, n32=1.50), 8)
    configuration(tmp_path, "own", "local-pool", rates(n16=1.53, n32=1.53), 8, change=noisy)
    told: dict[str, Any] = {"budget": budget} if budget else {}
    manifest(tmp_path, axes=[("connections", ("shared", "four", "own"))], **told)
    (one,) = said(tmp_path).to_set
    assert one.setting.startswith("a channel for each call" if budget else "4 channels in turn")


def test_more_p99_where_it_is_faster_is_a_cost(tmp_path: Path) -> None:
    def late(n: int, point: dict[str, Any]) -> None:
        point["latency_p99_ns"] *= 9 if n == 32 else 1

    found(tmp_path, separate={"rates": rates(n32=1.3), "change": late})
    (one,) = said(tmp_path).to_set
    assert one.costs[0].startswith("P99 ×6.9")


def test_the_servers_limit_is_raised_before_connections_are_added(tmp_path: Path) -> None:
    common: dict[str, Any] = {"peer_settings": LIMIT}
    found(tmp_path, common, common)
    first, second = said(tmp_path).to_set
    assert first.setting == "on the server, at least 32 concurrent streams per connection instead of 2"
    assert first.cpp == ("builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 32);",)
    assert second.setting.startswith("or a channel for each call in flight")
    assert said(tmp_path).short == "YES at 4–32 in flight: the server's limit of 2 streams per connection"
    assert codes(judged(tmp_path).measure) == ["raise-limit", "fewer-connections"]


def test_fewer_connections_are_to_be_measured_only_where_none_were(tmp_path: Path) -> None:
    for name, policy, of in (
        ("shared", "per-slot", SHARED),
        ("four", "pool:4", SHARED),
        ("own", "local-pool", SIXFOLD),
    ):
        configuration(tmp_path, name, policy, of)
    assert codes(judged(tmp_path).measure) == []
    (one,) = said(tmp_path).to_set
    assert one.setting == "a channel for each call in flight, with a subchannel pool of its own"


def test_another_axis_has_its_estimates_by_load_and_the_flags_that_measured_it(tmp_path: Path) -> None:
    for name, of in (("sync", SHARED), ("cq", rates(n1=0.9, n4=1.5, n8=1.5, n16=1.5, n32=1.5))):
        for way, policy in (("shared", "per-slot"), ("separate", "local-pool")):
            configuration(tmp_path, f"{name}.{way}", policy, of, api=name)
    manifest(tmp_path, axes=[("api", ("sync", "cq")), ("connections", ("shared", "separate"))])
    path = tmp_path / "manifest.json"
    data = json.loads(path.read_text())
    for axis in data["experiment"]["axis"]:
        for value in axis["values"]:
            value["client_flags"] = f"--{axis['name']} {value['name']}"
    path.write_text(json.dumps(data))
    (one,) = said(tmp_path).to_set
    assert (one.setting, one.flags, one.cpp[0][:21]) == ("cq instead of sync", "--api cq", "grpc::CompletionQueue")
    assert one.brings[0].endswith("on average over loads and other settings; lowest ×0.90 at 1, highest ×1.50 at 4")


def test_names_of_ways_to_connect_are_explained(tmp_path: Path) -> None:
    found(tmp_path, separate={"change": setting({})})
    assert said(tmp_path).sides == "shared: one connection; separate: a connection for each call in flight"


@pytest.mark.parametrize(
    ("value", "flags"),
    [
        ({"client_flags": "--api cq"}, "--api cq"),
        ({"server_flags": "--num-cqs 2"}, "server: --num-cqs 2"),
        ({"client_env": {"A": "1", "B": "2"}}, "environment: A=1 B=2"),
        ({"client_flags": "--api cq", "server_flags": "--api sync"}, "--api cq; server: --api sync"),
        ({"client_flags": ""}, None),
        ({"client_flags": 3, "client_env": []}, None),
        ({"client_flags": "--data \u001b[2J\nx"}, "--data ?[2J?x"),
    ],
)
def test_flags_of_a_value_are_those_of_the_experiments_file(
    value: dict[str, Any], flags: str | None, tmp_path: Path
) -> None:
    found(tmp_path)
    manifest(tmp_path)
    path = tmp_path / "manifest.json"
    data = json.loads(path.read_text())
    data["experiment"] |= {"axis": [{"name": "x", "values": [{"name": "v", **value}, 5]}, "y"], "configuration": [None]}
    path.write_text(json.dumps(data))
    shown = asked.load(path).flags.get(("x", "v"))
    assert shown == flags or (flags is not None and "?" in flags and shown is not None and shown.isprintable())
