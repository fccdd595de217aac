"""The server's limit of concurrent streams: read from results, and whether calls wait for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cqbench.analysis.verdict.evidence import stream_limit
from cqbench.formats.offered import closed, open_loop
from cqbench.formats.result import Document, parse
from cqbench.formats.runs import read_all
from cqbench.formats.source import BadDocument
from cqbench.model.series import Series, load_series
from made_results import open_loop as open_loop_result
from made_results import put
from verdict_synthetic import setting, write

TARGET = "host:2137"


def announced(*limits: int | None) -> list[dict[str, Any]]:
    """The settings of as many servers; None: a server announces no limit."""
    return [{"target": TARGET, **({} if limit is None else {"max_concurrent_streams": limit})} for limit in limits]


def series(tmp_path: Path, policy: str = "shared", peers: list[dict[str, Any]] | None = None, **more: Any) -> Series:
    path = write(tmp_path / "a.json", policy, {1: 10e3, 2: 19e3, 16: 55e3}, peer_settings=peers, **more)
    (one,) = load_series(read_all([path]))
    return one


def document(tmp_path: Path, peers: Any) -> Document:
    path = write(tmp_path / "a.json", "shared", {1: 10e3}, peer_settings=peers)
    return parse(path.read_bytes(), "a.json")


def test_calls_wait_for_the_limit_when_more_are_in_flight(tmp_path: Path) -> None:
    one = series(tmp_path, peers=announced(2))
    assert [stream_limit(one, closed(n)) for n in (1, 2, 16)] == [None, None, 2]
    assert stream_limit(one, closed(5)) is None, "there is no such point"


def test_each_connection_has_the_limit(tmp_path: Path) -> None:
    assert stream_limit(series(tmp_path, "pool:8", announced(2)), closed(16)) is None
    assert stream_limit(series(tmp_path, "pool:7", announced(2)), closed(16)) == 2
    assert stream_limit(series(tmp_path, "local-pool", announced(1)), closed(16)) is None


def test_the_lowest_limit_of_several_servers_holds(tmp_path: Path) -> None:
    assert stream_limit(series(tmp_path, peers=announced(100, 2, None)), closed(16)) == 2


@pytest.mark.parametrize("peers", [None, [], announced(None), [{"target": TARGET, "not_read": "refused"}]])
def test_without_a_limit_nothing_waits_for_it(tmp_path: Path, peers: list[dict[str, Any]] | None) -> None:
    assert stream_limit(series(tmp_path, peers=peers), closed(16)) is None


def test_the_number_of_connections_must_be_known(tmp_path: Path) -> None:
    change = setting({"connections": None}, counts=(16,))
    assert stream_limit(series(tmp_path, peers=announced(2), change=change), closed(16)) is None


def test_every_repetition_must_have_the_limit(tmp_path: Path) -> None:
    for name, peers in (("a", announced(2)), ("b", announced(100))):
        write(tmp_path / f"{name}.json", "shared", {16: 55e3}, peer_settings=peers)
    (one,) = load_series(read_all([tmp_path / "a.json", tmp_path / "b.json"]))
    assert stream_limit(one, closed(16)) is None


def test_the_load_of_an_open_loop_is_no_number_of_calls(tmp_path: Path) -> None:
    path = put(tmp_path / "a.json", open_loop_result({1000.0: [990.0]}, peer_settings=announced(2)))
    (one,) = load_series(read_all([path]))
    assert one.loads == [open_loop(1000.0)]
    assert stream_limit(one, open_loop(1000.0)) is None


def test_settings_are_read(tmp_path: Path) -> None:
    whole = {
        "target": TARGET,
        "max_concurrent_streams": 100,
        "initial_window_bytes": 2**31 - 1,
        "max_frame_bytes": 2**14,
        "max_header_list_bytes": 8192,
    }
    found = document(tmp_path, [whole, {"target": TARGET, "not_read": "Connection refused"}])
    assert found.peer_settings[0].model_dump(exclude={"not_read"}) == whole
    assert found.peer_settings[1].not_read == "Connection refused"
    assert found.stream_limit == 100
    assert document(tmp_path, None).peer_settings == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_concurrent_streams": -1},
        {"max_concurrent_streams": 2**32},
        {"max_concurrent_streams": "2"},
        {"max_concurrent_streams": 2.5},
        {"max_concurrent_streams": True},
        {"initial_window_bytes": 2**31},
        {"max_frame_bytes": 2**14 - 1},
        {"max_frame_bytes": 2**24},
        {"max_header_list_bytes": -1},
        {"not_read": "refused", "max_frame_bytes": 2**14},
        {"target": 5},
    ],
    ids=json.dumps,
)
def test_settings_that_cannot_be_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadDocument, match=r"a.json: .*peer_settings"):
        document(tmp_path, [{"target": TARGET, **wrong}])
