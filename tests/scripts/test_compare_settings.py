"""Which cases belong together, what must be the same, what may differ, and what is not said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cqbench.analysis.compare.sections import Section, differences, of_sides, required
from cqbench.analysis.compare.sides import Side
from cqbench.cli.sides.inputs import read_side
from made_results import put
from test_compare_synthetic import REAL, result

SERVER: dict[str, Any] = REAL["context"]["servers"][0]
ECHO = {"workload": "echo", "payload": "zero"}


def side(folder: Path, *contexts: dict[str, Any]) -> Side:
    for i, context in enumerate(contexts):
        put(folder / f"{i}.json", result({1: [1000.0]}, **context))
    return read_side(folder)


def section(tmp_path: Path, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> Section:
    return of_sides(side(tmp_path / "a", *before), side(tmp_path / "b", *after))


def found(tmp_path: Path, **changed: Any) -> list[tuple[str, str, str, bool]]:
    common = ECHO if "request_bytes" in changed else {}
    told, _ = differences(section(tmp_path, [common], [{**common, **changed}]))
    return [(d.facet.key, d.before, d.after, required(d.facet)) for d in told]


def server(**keys: Any) -> list[dict[str, Any]]:
    return [{**SERVER, **keys}]


@pytest.mark.parametrize(
    ("key", "value", "texts"),
    [("host_name", "other", ("host", "other")), ("num_cpus", 4, ("2", "4")), ("affinity", "0", ("0-1", "0")),
     ("request_bytes", 64, ("0", "64")), ("interval_ns", 10, ("200 ms", "10 ns")),
     ("warmup_ns", 10, ("50 ms", "10 ns")), ("deadline_ns", 10, ("1 s", "10 ns")),
     ("library_build_type", "debug", ("release", "debug")),
     ("servers", server(cpus=[0, 1, 2, 5]), ("0-1", "0-2,5")), ("servers", server(build_type="debug"), None),
     ("servers", server(service_time_ns=5000), ("none", "5 us")), ("method", "streaming", ("unary", "streaming"))],
)  # fmt: skip
def test_what_must_agree(tmp_path: Path, key: str, value: Any, texts: tuple[str, str] | None) -> None:
    ((_, before, after, must),) = found(tmp_path, **{key: value})
    assert must and (texts is None or (before, after) == texts)


@pytest.mark.parametrize(
    ("key", "value"),
    [("grpc_version", "1.60.0"), ("channel_args", {"grpc.x": "1"}), ("poll", "spin"), ("service_config", "{}"),
     ("kernel", "Linux 7"), ("deadlock_detection", True), ("channel_policy", "per-slot"), ("api", "sync"),
     ("messages", "arena"), ("servers", server(num_cqs=4)), ("servers", server(grpc_version="1.60.0"))],
)  # fmt: skip
def test_what_may_differ(tmp_path: Path, key: str, value: Any) -> None:
    ((_, _, _, must),) = found(tmp_path, **{key: value})
    assert not must


OVER_HTTP = {
    "api": "http1",
    "http_version": "HTTP/1.1",
    "http_request": "GET /a",
    "messages": None,
    "stub": None,
    "grpc_version": "1.60.0",
}


def test_a_method_over_http_is_the_same_work(tmp_path: Path) -> None:
    assert found(tmp_path, **OVER_HTTP) == [("api", "cq", "http1", False)]


def test_requests_of_ones_own_are_other_work(tmp_path: Path) -> None:
    one, other = ({**OVER_HTTP, "workload": "http", "method": "GET", "http_request": f"GET /{x}"} for x in "ab")
    told, _ = differences(section(tmp_path, [one], [other]))
    assert [(d.facet.key, d.before, d.after, required(d.facet)) for d in told] == [
        ("http_request", "GET /a", "GET /b", True)
    ]


def test_what_is_never_looked_at(tmp_path: Path) -> None:
    other = server(address="x:1", instance="ffffffffffffffff", tcp_echo_port=7, boot_id="other", listening=["x"])
    assert not found(tmp_path, servers=other, boot_id="other", target="x:1", load_avg=[], command_line=["x"])


def test_the_order_of_servers_does_not_matter(tmp_path: Path) -> None:
    two = [SERVER, {**SERVER, "api": "sync"}]
    told, _ = differences(section(tmp_path, [{"servers": two}], [{"servers": two[::-1]}]))
    assert told == []


def test_what_one_side_does_not_say_is_not_a_difference(tmp_path: Path) -> None:
    told, unknown = differences(section(tmp_path, [{}], [{"servers": [], "cpu_model": "", "messages": ""}]))
    assert (told, unknown) == ([], ["CPU model", "servers"])


def manifest(folder: Path, **entry: Any) -> None:
    told = {"file": "raw/v/1.json", "configuration": "v", **entry}
    put(folder / "manifest.json", {"manifest_version": 3, "runs": [told]})
    put(folder / "raw/v/1.json", result({1: [1000.0]}))


def test_what_the_manifest_says_is_compared_too(tmp_path: Path) -> None:
    manifest(tmp_path / "a")
    manifest(tmp_path / "b", network={"added_rtt_ms": 5}, client_env={"A": "1"})
    told, unknown = differences(of_sides(read_side(tmp_path / "a"), read_side(tmp_path / "b")))
    assert [(d.facet.key, d.before, d.after, required(d.facet)) for d in told] == [
        ("environment", "none", "client A=1", False),
        ("network", "none", "5 ms added by a proxy", True),
    ]
    assert unknown == []
    put(tmp_path / "b/manifest.json", {"manifest_version": 3})
    told, unknown = differences(of_sides(read_side(tmp_path / "a"), read_side(tmp_path / "b")))
    assert (told, unknown) == ([], ["environment and network"])


def test_cases_are_told_apart_by_what_differs_on_a_side(tmp_path: Path) -> None:
    ways = [{"channel_policy": "per-slot"}, {"channel_policy": "local-pool"}]
    newer = [{**way, "grpc_version": "1.60.0"} for way in reversed(ways)]
    found = section(tmp_path, ways, newer)
    assert [pair.title for pair in found.pairs] == ["ping/unary/cq/shared", "ping/unary/cq/separate"]
    told, _ = differences(found)
    assert [(d.facet.key, d.scenarios) for d in told] == [("grpc_version", ())]


def test_a_case_that_one_side_lacks(tmp_path: Path) -> None:
    found = section(tmp_path, [{"api": "sync"}, {"api": "cq"}], [{"api": "sync"}])
    assert [pair.title for pair in found.pairs] == ["ping/unary/sync/separate"]
    assert [lone.title for lone in found.only_before] == ["ping/unary/cq/separate, in-flight 1"]


def test_what_no_title_has_tells_cases_apart_too(tmp_path: Path) -> None:
    sizes = [{**ECHO, "request_bytes": 0}, {**ECHO, "request_bytes": 64}]
    found = section(tmp_path, sizes, sizes)
    assert [pair.title for pair in found.pairs] == [
        "echo/unary/cq/separate, request bytes 0",
        "echo/unary/cq/separate, request bytes 64",
    ]


def test_a_difference_in_some_cases_only(tmp_path: Path) -> None:
    before = [{"api": "sync"}, {"api": "cq"}]
    told, _ = differences(section(tmp_path, before, [{"api": "sync"}, {"api": "cq", "host_name": "other"}]))
    # The hosts tell the cases of B apart, so cq is not the same case any more.
    assert told == []
