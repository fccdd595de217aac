"""Results of several client processes as one: what is added up, what is made again, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cqbench.files.result import load as load_result
from cqbench.files.source import BadDocument
from cqbench.measure.processes import Server
from cqbench.ranks import latencies, members
from cqbench.ranks.merge import merge
from experiment_standin import environment
from hdrh.histogram import HdrHistogram
from rank_files import OPEN_NS, WINDOW_NS, Json, drawn, expected, files, point_of, rank_file
from result_schema import complaints, programs

MS = 1_000_000


def merged(paths: list[Path]) -> Json:
    return merge(members.load(paths))


def buckets(text: str) -> Counter[int]:
    return Counter(
        {i.value_iterated_to: i.count_at_value_iterated_to for i in HdrHistogram.decode(text).get_recorded_iterator()}
    )


def codes(point: Json, key: str = "suspect") -> list[str]:
    return [reason["code"] for reason in point[key]]


def test_sums_are_those_of_the_files(tmp_path: Path) -> None:
    paths = files(tmp_path, 4)
    each = [json.loads(path.read_text())["benchmarks"][0] for path in paths]
    point = point_of(merged(paths))
    for key in ("completed", "calls_due", "calls_sent", "calls_ok", "failed", "inflight", "connections", "channels"):
        assert point[key] == sum(p[key] for p in each), key
    for key in ("client_cpu_user_ns", "client_cpu_system_ns", "client_bytes_sent", "client_threads"):
        assert point[key] == pytest.approx(sum(p[key] for p in each), abs=1), key
    spent = point["client_cpu_user_ns"] + point["client_cpu_system_ns"]
    assert point["client_cpu_per_rpc_ns"] == pytest.approx(spent / point["completed"], abs=1)
    assert point["completed_per_slot"] == [n for p in each for n in p["completed_per_slot"]]
    assert point["channels_of_thread"] == [[i] for i in range(8)]
    assert point["window_ns"] == WINDOW_NS == point["ranks"]["window_ns"]
    assert point["throughput_per_second"] == point["completed"] / 2.0
    assert point["name"].endswith("/inflight:8")
    counted: Counter[int] = sum((buckets(p["latency_histogram"]) for p in each), Counter())
    assert buckets(point["latency_histogram"]) == counted
    assert counted.total() == point["latency_samples"] == 20_000


def test_percentiles_are_those_of_all_calls(tmp_path: Path) -> None:
    """One rank of four is a hundred times slower: an average of P50 or P99 would be far off."""
    values = [drawn(0), drawn(1), drawn(2), drawn(3, 400, 100.0)]
    paths = [rank_file(tmp_path, i, 4, of) for i, of in enumerate(values)]
    point = point_of(merged(paths))
    wanted = expected([v for of in values for v in of])
    assert {key: point[key] for key in wanted} == wanted
    everything = [v for of in values for v in of]
    assert point["latency_mean_ns"] == float(sum(everything)) / float(len(everything))
    assert codes(point) == ["straggler"]
    assert point["suspect"][0]["text"].startswith("rank 3 far off the others")
    assert [codes(row) for row in point["ranks"]["per_rank"]] == [[], [], [], ["straggler"]]


def test_failures_of_slices_are_added_up_by_status(tmp_path: Path) -> None:
    def lost(code: str, count: int) -> Callable[[Json, Json], None]:
        return lambda _, point: point.update(slice_failed_by_code={code: [count] * len(point["slice_completed"])})

    changes = [lost("UNAVAILABLE", 1), lost("UNAVAILABLE", 2), lost("ABORTED", 4)]
    found = merged([rank_file(tmp_path, i, 3, drawn(i), change=change) for i, change in enumerate(changes)])
    each = len(point_of(found)["slice_completed"])
    assert point_of(found)["slice_failed_by_code"] == {"ABORTED": [4] * each, "UNAVAILABLE": [3] * each}
    assert complaints(found) == []


def test_a_merge_is_a_result(tmp_path: Path) -> None:
    found = merged(files(tmp_path, 3))
    assert complaints(found) == []
    path = tmp_path / "point.json"
    path.write_text(json.dumps(found))
    (point,) = load_result(path).points
    assert point.ranks is not None
    assert (point.ranks.count, [r.rank for r in point.ranks.per_rank], point.ranks.hosts) == (3, [0, 1, 2], ["a"])
    assert "client_connection_idle_per_segment_ns_median" in point_of(found)["notes"][-1]
    assert "client_connection_idle_per_segment_ns_median" not in point_of(found)


def test_a_median_over_connections_is_there_where_the_files_have_each_value(tmp_path: Path) -> None:
    def trips(low: int, high: int, connections: int) -> Any:
        def change(_: Json, point: Json) -> None:
            point["client_connections"] = point["server_connections"] = connections
            keys = [f"client_rtt_min_ns_{what}" for what in ("min", "median", "max")]
            point.update(zip(keys, (low, (low + high) / 2, high), strict=True))

        return change

    paths = [rank_file(tmp_path, i, 2, drawn(i), change=trips(*of)) for i, of in enumerate([(1, 2, 2), (50, 90, 2)])]
    point = point_of(merged(paths))
    assert [point[f"client_rtt_min_ns_{what}"] for what in ("min", "median", "max")] == [1, 26, 90]
    rank_file(tmp_path, 1, 2, drawn(1), change=trips(50, 90, 4))
    assert "client_rtt_min_ns_median" not in point_of(merged(paths))


def test_one_rank_alone_stays_what_it_was(tmp_path: Path) -> None:
    """All that is made again must come out as the client had it."""
    (path,) = files(tmp_path, 1)
    one, point = json.loads(path.read_text())["benchmarks"][0], point_of(merged([path]))
    same = [key for key in point if key in one and key not in ("notes", "latency_stddev_ns", "latency_histogram")]
    assert len(same) > 100
    close = {key: pytest.approx(one[key], rel=1e-4) if isinstance(one[key], float) else one[key] for key in same}
    inexact = ("client_cpus_busy", "cpu_time", "real_time")  # of other window than the stored one's
    assert {k: point[k] for k in same if k not in inexact and "_per_" not in k} == {
        k: v for k, v in close.items() if k not in inexact and "_per_" not in k
    }
    assert buckets(point["latency_histogram"]) == buckets(one["latency_histogram"])


def test_latencies_of_a_real_client_come_out_bit_for_bit(tmp_path: Path) -> None:
    """By the client's own arithmetic, as compiled: the mean, the deviation, the histogram's text."""
    bin_dir, checked = programs(), 0
    with Server([str(bin_dir / "grpc_ping_server")], tmp_path / "log") as server:
        for load in ("--inflight 3", "--rate 2000"):
            command = [str(bin_dir / "grpc_ping_client"), "--host", server.address, "--api", "cq", *load.split()]
            done = subprocess.run(
                [*command, "--interval", "0.3", "--format", "json"], capture_output=True, timeout=60, check=True
            )
            (point,) = json.loads(done.stdout)["benchmarks"]
            for prefix in ("latency_from_sent_", "latency_"):
                theirs = {key: point.pop(key) for key in [*point] if key.startswith(prefix)}
                part = latencies.of_point(theirs, prefix)
                if part:
                    assert latencies.figures(latencies.merged([part]), prefix) == theirs
                    checked += 1
    assert checked == 3


def test_a_missing_rank_makes_the_point_partial(tmp_path: Path) -> None:
    paths = files(tmp_path, 4)
    found = merged([paths[0], paths[3]])
    point = point_of(found)
    assert point["partial"] and found["context"]["partial"]
    assert point["ranks"]["missing"] == [1, 2]
    assert codes(point) == ["missing-ranks"]
    assert point["suspect"][0]["text"].startswith("ranks 1 and 2 of 4 measured nothing")
    assert point["completed"] == 10_000
    assert complaints(found) == []


def test_a_rank_on_other_cpus_than_it_was_pinned_to(tmp_path: Path) -> None:
    """They say 0-1."""
    loaded = members.load(files(tmp_path, 3))
    assert codes(point_of(merge(loaded, ["0,1", "", "0-1"]))) == []
    point = point_of(merge(loaded, ["0-1", "1", "3-4"]))
    assert codes(point) == ["rank-cpus"]
    assert point["suspect"][0]["text"] == "ranks 1 and 2 had other CPUs than asked for: rank 1 to 0-1, not to 1"


def test_a_rank_that_never_began_is_missing_and_says_why(tmp_path: Path) -> None:
    def late(data: Json, point: Json) -> None:
        data["not_measured"], data["benchmarks"] = data["benchmarks"], []
        for name in [k for k in point if k.startswith(("latency_", "slice_")) or k in ("real_time", "cpu_time")]:
            del point[name]
        point.update(dict.fromkeys((*members.COUNTS, "window_ns", "iterations", "throughput_per_second"), 0))
        point.update(error_occurred=True, error_message="rank 0 did not wait")
        point["rank"] = {"index": 1, "count": 2, "host": "a"}

    found = merged([files(tmp_path, 2)[0], rank_file(tmp_path, 1, 2, drawn(1), change=late)])
    point = point_of(found)
    assert complaints(found) == []
    assert (point["ranks"]["missing"], point["partial"], codes(point)) == ([1], True, ["missing-ranks"])
    assert point["notes"][-1] == "rank 1 measured nothing: rank 0 did not wait"
    found = merged([rank_file(tmp_path, i, 2, drawn(i), change=late) for i in (1,)])
    assert found["benchmarks"] == [] and "rank 0 did not wait" in found["not_measured"][0]["error_message"]


def test_windows_that_do_not_lie_over_each_other(tmp_path: Path) -> None:
    late = (OPEN_NS + 25 * MS, OPEN_NS + WINDOW_NS)
    paths = [*files(tmp_path, 3)[:2], rank_file(tmp_path, 2, 3, drawn(2), window=late)]
    point = point_of(merged(paths))
    assert point["ranks"]["skew_open_ns"] == 25 * MS
    assert codes(point) == ["window-skew"]
    assert "opened up to 25 ms apart, 1.2% of it: rank 2 last" in point["suspect"][0]["text"]
    near = (OPEN_NS + 9 * MS, OPEN_NS + WINDOW_NS - 9 * MS)
    paths[2] = rank_file(tmp_path, 2, 3, drawn(2), window=near)
    assert codes(point_of(merged(paths))) == []


def test_few_calls_are_no_skew(tmp_path: Path) -> None:
    """Of ten calls a second, the first ends a tenth of a second after the window has opened."""
    windows = [(OPEN_NS, OPEN_NS + WINDOW_NS), (OPEN_NS + 100 * MS, OPEN_NS + WINDOW_NS + 100 * MS)]
    paths = [rank_file(tmp_path, i, 2, drawn(i, 20), window=of) for i, of in enumerate(windows)]
    point = point_of(merged(paths))
    assert point["ranks"]["skew_open_ns"] == 100 * MS and "window-skew" not in codes(point)
    late = (OPEN_NS + 700 * MS, OPEN_NS + WINDOW_NS)
    paths[1] = rank_file(tmp_path, 1, 2, drawn(1, 20), window=late)
    assert "window-skew" in codes(point_of(merged(paths)))


def test_a_short_window_makes_the_same_skew_a_doubt(tmp_path: Path) -> None:
    def shorten(_: Json, point: Json) -> None:
        point["window_ns"] = 100 * MS

    windows = [(OPEN_NS, OPEN_NS + 100 * MS), (OPEN_NS + 4 * MS, OPEN_NS + 100 * MS)]
    paths = [rank_file(tmp_path, i, 2, drawn(i), window=w, change=shorten) for i, w in enumerate(windows)]
    assert codes(point_of(merged(paths))) == ["window-skew"]


def test_a_clock_that_is_far_ahead_changes_nothing(tmp_path: Path) -> None:
    """Windows are in rank 0's clock already."""

    def ahead(_: Json, point: Json) -> None:
        point["rank"]["offset_ns"] = -1000 * 1_000_000_000

    paths = files(tmp_path, 2)
    before = point_of(merged(paths))
    paths[1] = rank_file(tmp_path, 1, 2, drawn(1), change=ahead)
    after = point_of(merged(paths))
    assert after["ranks"]["per_rank"][1].pop("offset_ns") == -1e12
    before["ranks"]["per_rank"][1].pop("offset_ns")
    assert after == before


def test_calls_that_never_ended(tmp_path: Path) -> None:
    def unfinished(_: Json, point: Json) -> None:
        for key in ("mean", "stddev", "max"):
            del point[f"latency_{key}_ns"]
        age = sorted(drawn(1))[-10]
        point.update(latency_at_least=10, latency_least_age_ns=age, unfinished=10, calls_ok=4990, completed=4990)

    paths = [files(tmp_path, 2)[0], rank_file(tmp_path, 1, 2, drawn(1), change=unfinished)]
    found = merged(paths)
    point = point_of(found)
    assert complaints(found) == []
    assert (point["latency_at_least"], point["unfinished"]) == (10, 10)
    assert not {"latency_mean_ns", "latency_stddev_ns", "latency_max_ns", "latency_p99_9_ns"} & set(point)
    assert point["latency_p99_ns"] == expected([*drawn(0), *drawn(1)])["latency_p99_ns"]


def test_statuses_and_reasons_of_ranks(tmp_path: Path) -> None:
    def errors(code: str, count: int) -> Any:
        def change(_: Json, point: Json) -> None:
            point.update(failed=count, calls_sent=5000 + count, calls_due=5000 + count)
            point["errors"] = [{"code": code, "count": count, "first_message": f"{code} first"}]
            point["limits"] = [{"code": "client-cpu", "text": f"CPU-bound: the client used {count} %"}]
            point["suspect"] = [{"code": "other-client", "text": "its partners"}]

        return change

    changes = [errors("UNAVAILABLE", 2), errors("INTERNAL", 5), errors("UNAVAILABLE", 3)]
    paths = [rank_file(tmp_path, i, 4, drawn(i), change=c) for i, c in enumerate(changes)]
    paths.append(rank_file(tmp_path, 3, 4, drawn(3)))
    point = point_of(merged(paths))
    assert [(e["code"], e["count"]) for e in point["errors"]] == [("INTERNAL", 5), ("UNAVAILABLE", 5)]
    assert codes(point) == []
    assert [r["text"] for r in point["limits"]] == ["CPU-bound: the client used 2 % (ranks 0, 1 and 2)"]


def test_the_server_is_asked_once_and_counted_per_call_of_all(tmp_path: Path) -> None:
    paths = files(tmp_path, 3)
    one, point = json.loads(paths[0].read_text())["benchmarks"][0], point_of(merged(paths))
    assert point["server_rpcs"] == one["server_rpcs"]
    spent = one["server_cpu_user_ns"] + one["server_cpu_system_ns"]
    assert point["server_cpu_per_rpc_ns"] == pytest.approx(spent / 15_000, abs=1)

    def busy(_: Json, point: Json) -> None:
        point["server_rpcs"] = 40_000

    paths[0] = rank_file(tmp_path, 0, 3, drawn(0), change=busy)
    assert codes(point_of(merged(paths))) == ["other-client"]


def put(key: str, value: Any, where: str = "point") -> Any:
    def change(data: Json, point: Json) -> None:
        (point if where == "point" else data["context"])[key] = value

    return change


REFUSED = {
    "another version": (put("cqbench_version", "0.0.9", "context"), "'cqbench_version' is '0.0.9', in "),
    "another gRPC": (put("grpc_version", "1.0", "context"), "'grpc_version' is '1.0', in "),
    "another command": (put("command_line", ["c", "--api", "sync"], "context"), "the commands differ (--api)"),
    "an older layout": (put("schema_version", 2, "context"), "schema_version 2: ranks are merged from files of 3"),
    "no rank": (lambda _, point: point.pop("rank"), "has no 'rank'"),
    "a rank beyond": (put("rank", {"index": 5, "count": 2, "host": "b"}), "has index 5 of 2 ranks"),
    "other ranks": (lambda _, point: point["rank"].update(count=3), "one of 3 ranks, "),
    "other buckets": (put("latency_histogram", "HISTFAAAAAA="), "'latency_histogram' cannot be merged"),
    "calls that do not add up": (put("calls_due", 7), "do not add up: 7 due, 5000 accounted for"),
    "a search": (lambda data, _: data.update(find_rate={"resolved": False}), "(--find-rate) cannot be merged"),
    "half a call": (put("calls_ok", 0.5), "'calls_ok' in benchmarks[0] is not a count"),
    "no notes": (lambda _, point: point.pop("notes"), "'notes' in benchmarks[0] is missing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_belong_together_is_refused(name: str, tmp_path: Path) -> None:
    change, said = REFUSED[name]
    paths = [files(tmp_path, 2)[0], rank_file(tmp_path, 1, 2, drawn(1), change=change)]
    with pytest.raises(BadDocument) as refused:
        merged(paths)
    assert said in str(refused.value)
    assert "rank-1.json" in str(refused.value) and "\n" not in str(refused.value)


def test_a_rank_twice_is_refused(tmp_path: Path) -> None:
    paths = files(tmp_path, 2)
    again = tmp_path / "again.json"
    again.write_bytes(paths[1].read_bytes())
    with pytest.raises(BadDocument, match="rank 1 is there twice: .*rank-1.json is of it, too"):
        merged([*paths, again])


@pytest.mark.parametrize("name", ["a rank without its machine", "both", "no rows", "slices of one process"])
def test_damage_is_found(name: str, tmp_path: Path) -> None:
    """Only a merge may lack percentiles of slices."""
    paths = files(tmp_path, 2)
    whole, one = merged(paths), json.loads(paths[0].read_text())
    assert complaints(whole) == complaints(one) == []
    point, alone = whole["benchmarks"][0], one["benchmarks"][0]
    if name == "a rank without its machine":
        del alone["rank"]["host"]
    elif name == "both":
        point["rank"] = alone["rank"]
    elif name == "no rows":
        point["ranks"]["per_rank"] = []
    else:
        del alone["slice_latency_p50_ns"]
    assert [*complaints(whole), *complaints(one)] != []


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cqbench.cli", "merge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=60, check=False)


def test_the_command(tmp_path: Path) -> None:
    paths = [str(path) for path in files(tmp_path, 2)]
    output = tmp_path / "point.json"
    done = ask(*reversed(paths), "-o", str(output))
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 of 2 ranks, merged in" in done.stderr
    assert json.loads(output.read_text()) == merged([Path(p) for p in paths])
    done = ask(*paths, "-o", paths[0])
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "is one of the files that are merged" in done.stderr
    done = ask(paths[0], paths[0], "-o", str(output))
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_sixty_four_ranks(tmp_path: Path, record_property: Any) -> None:
    """How long it takes is reported, not judged."""
    paths = files(tmp_path, 64, 2000)
    began = time.perf_counter()
    point = point_of(merged(paths))
    took_ms = (time.perf_counter() - began) * 1000
    record_property("merge_ms", took_ms)
    print(f"merge of 64 rank files: {took_ms:.0f} ms")
    assert point["latency_samples"] == sum(buckets(point["latency_histogram"]).values()) == 128_000
    wanted = expected([v for i in range(64) for v in drawn(i, 2000)])
    assert {key: point[key] for key in wanted} == wanted
