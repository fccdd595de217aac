"""What must be the same, what may differ, and what is not said."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from test_compare_synthetic import REAL

from cqbench.compare_settings import ALLOWED, REQUIRED, Difference, Settings, differences, unknown
from cqbench.compare_settings import settings as settings_in
from cqbench.surroundings import Surroundings

CONTEXT: dict[str, Any] = REAL["context"]
SERVER: dict[str, Any] = CONTEXT["servers"][0]


def changed(**keys: Any) -> dict[str, Any]:
    return {**CONTEXT, **keys}


def server(**keys: Any) -> dict[str, Any]:
    return changed(servers=[{**SERVER, **keys}])


def settings(context: dict[str, Any], **around: Any) -> Settings:
    return settings_in(context, Surroundings(**around))


def found(before: dict[str, Any], after: dict[str, Any], keys: tuple[str, ...] = REQUIRED) -> list[Difference]:
    return differences({"s": [settings(before)]}, {"s": [settings(after)]}, keys)


@pytest.mark.parametrize(
    ("key", "value"),
    [("host_name", "other"), ("cpu_model", "other"), ("num_cpus", 4), ("affinity", "0"), ("request_bytes", 64),
     ("response_bytes", 64), ("interval_ns", 10), ("deadline_ns", 10), ("library_build_type", "debug")],
)  # fmt: skip
def test_what_must_agree(key: str, value: object) -> None:
    assert found(CONTEXT, changed(**{key: value})) == [Difference(key, str(CONTEXT[key]), str(value))]
    assert not found(CONTEXT, changed(**{key: value}), ALLOWED)


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [("cpus", [0, 1, 2, 5], "0-1", "0-2,5"), ("api", "callback", "cq", "callback"), ("num_cqs", 4, "1", "4"),
     ("workers_per_cq", 2, "1", "2"), ("callbacks_per_cq", 7, "100", "7"), ("build_type", "debug", "release", "debug"),
     ("cpu_model", "other", SERVER["cpu_model"], "other")],
)  # fmt: skip
def test_servers_must_agree(key: str, value: object, before: str, after: str) -> None:
    assert found(CONTEXT, server(**{key: value})) == [Difference(f"servers.{key}", before, after)]


def test_another_number_of_servers() -> None:
    keys = [d.key for d in found(CONTEXT, changed(servers=[SERVER, SERVER]))]
    assert "servers.api" in keys and "servers.cpus" in keys


def test_the_order_of_servers_does_not_matter() -> None:
    other = {**SERVER, "cpus": [3], "api": "sync"}
    assert not found(changed(servers=[SERVER, other]), changed(servers=[other, SERVER]))
    crossed = [{**SERVER, "api": "sync"}, {**SERVER, "cpus": [3]}]
    assert found(changed(servers=[SERVER, other]), changed(servers=crossed))


@pytest.mark.parametrize(
    ("key", "value"),
    [("grpc_version", "1.60.0"), ("channel_args", {"grpc.x": "1"}), ("poll", "spin"), ("warmup_ns", 7),
     ("service_config", "{}"), ("kernel", "Linux 7"), ("deadlock_detection", True)],
)  # fmt: skip
def test_what_may_differ(key: str, value: object) -> None:
    assert not found(CONTEXT, changed(**{key: value}))
    assert [d.key for d in found(CONTEXT, changed(**{key: value}), ALLOWED)] == [key]


def test_what_the_manifest_says_is_compared_too() -> None:
    direct, far = settings(CONTEXT), settings(CONTEXT, added_rtt_ns=5e6)
    set_ = settings(CONTEXT, client_env=(("A", "1"),))
    assert differences({"s": [direct]}, {"s": [far]}, REQUIRED) == [
        Difference("network", "no proxy", "5 ms added by a proxy")
    ]
    assert not differences({"s": [direct]}, {"s": [set_]}, REQUIRED)
    assert differences({"s": [direct]}, {"s": [set_]}, ALLOWED) == [Difference("environment", "none", "client A=1")]
    not_known = {"s": [settings(CONTEXT, problem="x")]}
    assert unknown({"s": [direct]}, not_known, REQUIRED) == ["network"]
    assert not differences({"s": [far]}, not_known, REQUIRED)


def test_what_is_never_looked_at() -> None:
    other = server(address="x:1", instance="ffffffffffffffff", tcp_echo_port=7, boot_id="other", listening=["x"])
    other.update(boot_id="other", date="2030-01-01T00:00:00+00:00", target="x:1", load_avg=[], command_line=["x"])
    assert not found(CONTEXT, other) and not found(CONTEXT, other, ALLOWED)


def test_what_one_side_does_not_say_is_not_a_difference() -> None:
    old = copy.deepcopy(CONTEXT)
    del old["servers"]
    first, second = {"s": [settings(CONTEXT)]}, {"s": [settings(old)]}
    assert not differences(first, second, REQUIRED) and unknown(first, second, REQUIRED) == ["servers"]
    assert unknown(first, first, REQUIRED) == []
    nameless = {"s": [settings(changed(cpu_model="", servers=[]))]}
    assert unknown(first, nameless, REQUIRED) == ["cpu_model", "servers"]
    assert not differences(first, nameless, REQUIRED)


def test_long_values_that_differ_at_their_end() -> None:
    args = [{"grpc.x": "x" * 1000 + end} for end in "ab"]
    assert found(changed(channel_args=args[0]), changed(channel_args=args[1]), ALLOWED)


def test_files_of_one_side_that_differ() -> None:
    one, other = settings(CONTEXT), settings(changed(request_bytes=64))
    assert differences({"s": [one, other]}, {"s": [one, other]}, REQUIRED) == [
        Difference("request_bytes", "0 | 64", "0 | 64")
    ]
    silent = {key: value for key, value in one.items() if key != "request_bytes"}
    assert differences({"s": [one, other]}, {"s": [silent]}, REQUIRED) == [
        Difference("request_bytes", "0 | 64", "nothing")
    ]


def test_series_are_compared_with_themselves() -> None:
    small, large = settings(CONTEXT), settings(changed(request_bytes=64))
    assert not differences({"a": [small], "b": [large]}, {"a": [small], "b": [large]}, REQUIRED)
    assert differences({"a": [small], "b": [large]}, {"a": [small], "b": [small]}, REQUIRED) == [
        Difference("request_bytes", "64", "0", ("b",))
    ]
