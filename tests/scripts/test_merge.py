"""Results of several client processes as one: `cqbench merge`, and the program that it asks."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cqbench.formats.result import load as load_result
from cqbench.measure.processes import Server
from cqbench.measure.ranks import merge
from experiment_standin import environment
from hdrh.histogram import HdrHistogram
from rank_files import Json, drawn, expected, files, point_of, rank_file
from result_schema import complaints, programs


@pytest.fixture
def client() -> Path:
    return programs() / merge.PROGRAM


def merged(client: Path, paths: list[Path]) -> Json:
    output = paths[0].parent / "merged.json"
    assert merge.merge(client, paths, output) == ""
    found: Json = json.loads(output.read_text())
    return found


def buckets(text: str) -> Counter[int]:
    return Counter(
        {i.value_iterated_to: i.count_at_value_iterated_to for i in HdrHistogram.decode(text).get_recorded_iterator()}
    )


def codes(point: Json, key: str = "warnings") -> list[str]:
    return [reason["code"] for reason in point[key]]


def test_percentiles_are_those_of_all_calls(client: Path, tmp_path: Path) -> None:
    """One rank of four is a hundred times slower: an average of P50 or P99 would be far off."""
    values = [drawn(0), drawn(1), drawn(2), drawn(3, 400, 100.0)]
    found = merged(client, [rank_file(tmp_path, i, 4, of) for i, of in enumerate(values)])
    assert complaints(found) == []
    point = point_of(found)
    everything = [v for of in values for v in of]
    wanted = expected(everything)
    assert {key: point[key] for key in wanted} == wanted
    assert point["latency_mean_ns"] == float(sum(everything)) / float(len(everything))
    assert sum(buckets(point["latency_histogram"]).values()) == point["latency_samples"] == len(everything)
    assert point["name"].endswith("/inflight:8") and point["completed"] == len(everything)
    assert codes(point) == ["straggler"]
    assert [codes(row) for row in point["ranks"]["per_rank"]] == [[], [], [], ["straggler"]]
    (read,) = load_result(tmp_path / "merged.json").points
    assert read.ranks and (read.ranks.count, read.ranks.hosts) == (4, ["a"])


@pytest.mark.parametrize("flags", ["--inflight-list 3,5", "--rate 300 --deadline 5s --objective p50<4s"])
def test_one_rank_alone_stays_what_it_was(flags: str, client: Path, tmp_path: Path) -> None:
    """All that is made again comes out as the client itself had it: latencies bit for bit, others but for rounding."""
    with Server([str(client.parent / "grpc_ping_server")], tmp_path / "log") as server:
        command = [str(client), "--host", server.address, "--api", "cq", *flags.split(), "--interval", "1"]
        command += ["--max-error-rate", "1", "--ranks", "1", "--rank", "0", "--rendezvous", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
    one, found = json.loads((tmp_path / "rank-0.json").read_text()), merged(client, [tmp_path / "rank-0.json"])
    assert complaints(one) == complaints(found) == []
    assert len(one["benchmarks"]) == len(found["benchmarks"]) > 0
    for ours, theirs in zip(found["benchmarks"], one["benchmarks"], strict=True):
        assert ours.pop("ranks")["missing"] == [] and theirs.pop("rank")["index"] == 0
        # A CPU is at most busy, and the server's figures per call are of the ranks' calls, not of its own count.
        own = {"notes", "warnings", "client_cpus_busy", *(key for key in theirs if key.startswith("server_"))}
        others = {key for key in theirs if ours.get(key) != theirs[key]} - own
        lost = {key for key in others if key not in ours or not isinstance(theirs[key], int | float)}
        assert lost <= {"arrival_gap_variation", "arrival_gap_correlation"}, "which need more than the report has"
        assert not [key for key in others if key.startswith(("latency_", "bucket_"))]
        assert {key: ours[key] for key in others - lost} == pytest.approx(
            {k: theirs[k] for k in others - lost}, rel=1e-3
        )
    assert {**found["context"], "partial": False} == {**one["context"], "partial": False}


def test_a_missing_rank_makes_the_point_partial(client: Path, tmp_path: Path) -> None:
    paths = files(tmp_path, 4)
    found = merged(client, [paths[3], paths[0]])
    point = point_of(found)
    assert complaints(found) == []
    assert point["partial"] and found["context"]["partial"]
    assert (point["ranks"]["missing"], codes(point), point["completed"]) == ([1, 2], ["missing-ranks"], 10_000)


def test_a_rank_on_other_cpus_than_it_was_pinned_to(client: Path, tmp_path: Path) -> None:
    """They say 0-1."""
    output = tmp_path / "merged.json"
    merged(client, files(tmp_path, 3))
    merge.check_cpus(output, ["0,1", "", "0-1"])
    assert codes(point_of(json.loads(output.read_text()))) == []
    merge.check_cpus(output, ["0-1", "1", "3-4"])
    point = point_of(json.loads(output.read_text()))
    assert codes(point) == [merge.CPUS]
    assert point["warnings"][0]["text"] == "ranks 1 and 2 had other CPUs than asked for: rank 1 to 0-1, not to 1"


def test_numbers_of_calls_servers_and_notes_are_those_of_all_ranks(client: Path, tmp_path: Path) -> None:
    def change(data: Json, report: Json) -> None:
        index = report["rank"]["index"]
        data["context"].update(
            total_calls=10 + index,
            notes=[{"code": "not-measured", "text": text} for text in ("of all", f"of rank {index}")],
        )
        data["context"]["servers"] = [{"address": "x"}] if index == 1 else []
        report["setting"] = {"warnings": [{"code": "cpu-scaling", "text": "is on"}]}
        data["context"]["warnings"] = report["setting"]["warnings"]

    context = merged(client, [rank_file(tmp_path, i, 2, drawn(i), change=change) for i in range(2)])["context"]
    assert context["total_calls"] == 21 and [note["text"] for note in context["notes"]] == [
        "of all",
        "of rank 0",
        "of rank 1",
    ]
    assert context["servers"] == [{"address": "x"}] and codes(context) == ["cpu-scaling"]


def test_http2_settings_are_those_of_the_first_rank_that_has_some(client: Path, tmp_path: Path) -> None:
    """Ranks may reach a server by other ways, so that they may read other settings."""
    of_ranks: list[list[Json]] = [
        [],
        [{"target": "a:1", "max_concurrent_streams": 2}, {"target": "b:1", "not_read": "a \x1b[2J reason"}],
        [{"target": "a:1", "max_concurrent_streams": 100}],
    ]

    def change(data: Json, report: Json) -> None:
        if found := of_ranks[report["rank"]["index"]]:
            data["context"]["peer_settings"] = found

    paths = [rank_file(tmp_path, i, 3, drawn(i), change=change) for i in range(3)]
    result = merged(client, paths)
    assert complaints(result) == []
    assert result["context"]["peer_settings"] == of_ranks[1]
    table = subprocess.run([client, "--merge", *paths, "--evidence"], capture_output=True, text=True, check=True).stdout
    assert "HTTP/2 settings of the server at a:1: 2 concurrent stream(s) per connection, initial window" in table
    assert "HTTP/2 settings of the server at b:1: not read: a  [2J reason" in table


def put(**values: Any) -> Any:
    return lambda data, _: data["context"].update(values)


def twice(data: Json, report: Json) -> None:
    report["rank"]["index"] = 0


REFUSED = {
    "another version": (put(cqbench_version="0.0.9"), "'cqbench_version' is \"0.0.9\", in "),
    "another gRPC": (put(grpc_version="1.0"), "'grpc_version' is \"1.0\", in "),
    "another window": (put(interval_ns=7), "'interval_ns' is 7, in "),
    "another command": (put(command_line=["c", "--api", "sync"]), "the commands differ (--api)"),
    "another layout": (put(schema_version=2), "schema_version 2: ranks are merged from files of "),
    "no report": (lambda data, _: data.update(rank_reports=[]), "has no 'rank_reports'"),
    "no base64": (lambda data, _: data.update(rank_reports=["?"]), "is not base64"),
    "damage": (lambda data, _: data.update(rank_reports=["AAAA"]), "its report cannot be read"),
    "a rank beyond": (lambda _, report: report["rank"].update(index=5), "its report cannot be read"),
    "other ranks": (lambda _, report: report["rank"].update(count=3), "one of 3 ranks, "),
    "a rank twice": (twice, "rank 0 is there twice: "),
    "other buckets": (lambda _, r: r["measurement"]["latency"]["value_ns"].reverse(), "cannot be read"),
    "another repetition": (lambda _, report: report.update(repetition=1), "point 1 is of another repetition"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_belong_together_is_refused(name: str, client: Path, tmp_path: Path) -> None:
    change, said = REFUSED[name]
    paths = [files(tmp_path, 2)[0], rank_file(tmp_path, 1, 2, drawn(1), change=change)]
    why = merge.merge(client, paths, tmp_path / "merged.json")
    assert said in why and "rank-1.json" in why and "\n" not in why
    assert not (tmp_path / "merged.json").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"context": 5}', "[" * 100_000])
def test_what_is_no_result_is_refused(text: str, client: Path, tmp_path: Path) -> None:
    path = tmp_path / "rank-0.json"
    path.write_text(text)
    assert merge.merge(client, [path], tmp_path / "merged.json") == f"{path}: it is not a result"


def test_a_client_that_is_not_there(tmp_path: Path) -> None:
    assert "cannot run" in merge.merge(tmp_path / "client", [tmp_path], tmp_path / "merged.json")


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cqbench.cli", "merge", "--bin", str(programs()), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=60, check=False)


def test_the_command(tmp_path: Path) -> None:
    paths = [str(path) for path in files(tmp_path, 2)]
    output = tmp_path / "point.json"
    done = ask(*reversed(paths), "-o", str(output))
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 of 2 ranks, merged in" in done.stderr
    assert point_of(json.loads(output.read_text()))["completed"] == 10_000
    done = ask(*paths, "-o", paths[0])
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "is one of the files that are merged" in done.stderr
    done = ask(paths[0], paths[0], "-o", str(output))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_the_client_shows_a_merge_as_a_table(client: Path, tmp_path: Path) -> None:
    paths = files(tmp_path, 2)
    done = subprocess.run([client, "--merge", *paths], capture_output=True, text=True, timeout=60, check=True)
    assert "2 ranks measured together" in done.stdout
    command = [str(client), "--merge", *map(str, paths), "--output", str(paths[1])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "is one of the files that are merged" in done.stderr


def test_sixty_four_ranks(client: Path, tmp_path: Path, record_property: Any) -> None:
    """How long it takes is reported, not judged."""
    paths = files(tmp_path, 64, 2000)
    began = time.perf_counter()
    point = point_of(merged(client, paths))
    took_ms = (time.perf_counter() - began) * 1000
    record_property("merge_ms", took_ms)
    print(f"merge of 64 rank files: {took_ms:.0f} ms")
    wanted = expected([v for i in range(64) for v in drawn(i, 2000)])
    assert {key: point[key] for key in wanted} == wanted
