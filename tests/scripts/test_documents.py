"""Reading the client's files: real ones, and everything that is not one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cqbench.cli import main
from cqbench.formats import result, source, text
from cqbench.formats.result import load, parse
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

DATA = Path(__file__).parent / "data"


def real(name: str = "unary-sync-shared") -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return data


def test_a_real_file() -> None:
    document = load(DATA / "unary-sync-separate.json")
    assert (document.method, document.api, document.policy) == ("unary", "sync", "local-pool")
    assert [p.inflight for p in document.points] == [1, 4, 16]
    assert [p.connections for p in document.points] == [1, 4, 16]
    assert all(p.throughput and p.p50_ns and p.p99_ns and p.p50_ns <= p.p99_ns for p in document.points)


def test_the_median_of_repetitions_is_not_read_as_a_repetition() -> None:
    document = load(DATA / "repetitions.json")
    assert [(p.inflight, p.repetition) for p in document.points] == [(1, 0), (4, 0), (1, 1), (4, 1), (1, 2), (4, 2)]


def test_a_server_that_was_killed() -> None:
    points = load(DATA / "killed.json").points
    assert points[1].errors and "UNAVAILABLE x 50" in points[1].errors[0]
    assert points[2].throughput is None and "cannot connect" in points[2].failure


def test_an_interrupted_run() -> None:
    document = load(DATA / "partial.json")
    assert document.partial and document.points[-1].partial


@pytest.mark.parametrize("path", sorted((DATA.parents[1] / "golden/expected").glob("*.json")), ids=lambda p: p.stem)
def test_what_the_reporter_writes_is_read(path: Path) -> None:
    document, data = load(path), json.loads(path.read_text())
    runs = [e for e in (*data["benchmarks"], *data["not_measured"]) if e["run_type"] == "iteration"]
    assert [(p.inflight, p.completed) for p in document.points] == [(e["inflight"], e["completed"]) for e in runs]


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (
            None,
            "some.json: schema 1, which only builds of cqbench 0.1.0 from before schema 2 read; this version reads ",
        ),
        (result.SCHEMA_VERSION - 1, f"from before schema {result.SCHEMA_VERSION} read; this version reads schema"),
        (result.SCHEMA_VERSION + 1, "of a newer cqbench than this one, which reads schema"),
    ],
)
def test_another_version_is_refused_and_what_reads_it_is_said(version: int | None, said: str) -> None:
    data = real("result")
    data["context"]["schema_version"] = version
    if version is None:
        del data["context"]["schema_version"]
    with pytest.raises(BadDocument) as error:
        parse(json.dumps(data).encode(), "some.json")
    assert said in str(error.value) and f"schema {result.SCHEMA_VERSION}" in str(error.value)


def test_commands_end_at_an_older_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = real("result")
    data["context"]["schema_version"] = result.SCHEMA_VERSION - 1
    (tmp_path / "raw/a").mkdir(parents=True)
    (tmp_path / "raw/a/01.json").write_text(json.dumps(data))
    for command in ("verdict", "report", "compare"):
        assert main([command, str(tmp_path), *[str(DATA / "result.json")] * (command == "compare")]) == 2
        said = capsys.readouterr().err
        assert f"01.json: schema {result.SCHEMA_VERSION - 1}, which only builds of cqbench 0.1.0" in said
        assert said.count("\n") == 1


@pytest.mark.parametrize("version", [0, -1, "2", True, 2.0, 10**30])
def test_a_version_that_is_none(version: object) -> None:
    data = real("result")
    data["context"]["schema_version"] = version
    with pytest.raises(BadDocument, match="'schema_version' in context"):
        parse(json.dumps(data).encode(), "x")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"context": NaN}', b"[]", b"null", b'"x"', b'{"benchmarks": []}']
)
def test_not_a_result(data: bytes) -> None:
    with pytest.raises(BadDocument) as error:
        parse(data, "some.json")
    assert str(error.value).startswith("some.json: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("key", ["context", "benchmarks"])
def test_a_missing_part_is_named(key: str) -> None:
    data = real()
    del data[key]
    with pytest.raises(BadDocument, match=f"'{key}' is missing"):
        parse(json.dumps(data).encode(), "x")


@pytest.mark.parametrize("key", ["completed", "inflight", "throughput_per_second", "warnings", "errors", "run_type"])
def test_what_a_point_misses_is_named(key: str) -> None:
    data = real()
    del data["benchmarks"][1][key]
    with pytest.raises(BadDocument, match=f"benchmarks\\[1\\].*: '{key}' is missing"):
        parse(json.dumps(data).encode(), "x")


@pytest.mark.parametrize(
    ("key", "value"),
    [("inflight", "4"), ("inflight", 0), ("inflight", True), ("throughput_per_second", -1), ("completed", 10**400),
     ("latency_p50_ns", []), ("errors", [7]), ("connections", 1.5), ("partial", 0),
     ("warnings", "no"), ("notes", [{"code": 1, "text": ""}])],
)  # fmt: skip
def test_wrong_values(key: str, value: object) -> None:
    data = real()
    data["benchmarks"][0][key] = value
    with pytest.raises(BadDocument, match=key if key != "errors" else "error"):
        parse(json.dumps(data).encode(), "x")


def test_google_benchmarks_own_file_is_not_ours() -> None:
    data = {"context": {"date": "", "host_name": ""}, "benchmarks": []}
    with pytest.raises(BadDocument, match="'cqbench_version' is missing"):
        parse(json.dumps(data).encode(), "x")


def test_files_that_are_too_large_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_BYTES", 100)
    with pytest.raises(BadDocument, match="larger than"):
        load(DATA / "unary-sync-shared.json")
    with pytest.raises(BadDocument, match="No such file"):
        load(tmp_path / "none.json")
    with pytest.raises(BadDocument, match="directory"):
        load(tmp_path)


def test_messages_from_the_network_are_harmless_on_a_terminal() -> None:
    assert one_line("a\x1b[2Jb\nc") == "a [2Jb c"
    assert len(one_line("x" * 1000)) == text.MAX_MESSAGE


@pytest.mark.parametrize(
    ("key", "value"),
    [("servers", 7), ("servers", [7]), ("servers", {"a": 1}), ("channel_args", [1]), ("command_line", "x"),
     ("command_line", [7])],
)  # fmt: skip
def test_settings_that_are_none(key: str, value: object) -> None:
    data = real("result")
    data["context"][key] = value
    with pytest.raises(BadDocument, match=rf"x: .*context\.{key}(\[0\])?: .* is not "):
        parse(json.dumps(data).encode(), "x")


@pytest.mark.parametrize(
    ("key", "value"),
    [("cpus", 7), ("cpus", ["1"]), ("cpus", [True]), ("channel_args", {"a": 1}), ("service_time_ns", "5us")],
)
def test_a_servers_settings_that_are_none(key: str, value: object) -> None:
    data = real("result")
    data["context"]["servers"] = [{}, {key: value}]
    with pytest.raises(BadDocument, match=rf"context\.servers\[1\]\.{key}(\[0\])?: .* is not "):
        parse(json.dumps(data).encode(), "x")
    data["context"]["servers"] = [{key: None}]
    assert parse(json.dumps(data).encode(), "x").points


@pytest.mark.parametrize("value", [-1, "5", True, [], 10**400])
def test_evidence_that_is_no_number(value: object) -> None:
    data = real("result")
    data["benchmarks"][1]["client_rtt_min_ns_median"] = value
    with pytest.raises(BadDocument, match=r"benchmarks\[1\].*client_rtt_min_ns_median"):
        parse(json.dumps(data).encode(), "x")


def test_a_sample_inside_the_window_is_below_zero() -> None:
    data = real("result")
    data["benchmarks"][0]["server_sample_before_ns"] = -2_524_946
    parse(json.dumps(data).encode(), "some.json")
    for wrong in ("-1", True, -(10**400)):
        data["benchmarks"][0]["server_sample_before_ns"] = wrong
        with pytest.raises(BadDocument, match=r"benchmarks\[0\].*\.server_sample_before_ns: .* is not a number"):
            parse(json.dumps(data).encode(), "some.json")
