"""compare.sh as a whole: verdicts, gates, refusals, both outputs."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pytest
from cqbench.analysis.compare.gates import repetitions_to_decide, slower
from cqbench.analysis.compare.points import Figure
from cqbench.model.metric import METRICS, THROUGHPUT
from cqbench.stats.ratios import Ratio
from made_results import put
from test_compare_synthetic import BASE, DATA, FASTER, SAME, SLOWER, called, result, sessions

SCRIPT = Path(__file__).parents[2] / "scripts/compare.sh"
GATE, LATENCY_GATE = "--fail-if-slower", "--fail-if-latency-higher"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pair(
    before: Mapping[int, Sequence[float]], after: Mapping[int, Sequence[float]], **context_after: Any
) -> tuple[Path, Path]:
    return put(Path("a.json"), result(before)), put(Path("b.json"), result(after, **context_after))


def apart(
    before: Mapping[int, Sequence[float]], after: Mapping[int, Sequence[float]], **context_after: Any
) -> tuple[Path, Path]:
    """Sides of as many sessions as repetitions."""
    return sessions(Path("a"), result(before)), sessions(Path("b"), result(after, **context_after))


def one_session(
    before: Mapping[int, Sequence[float]], after: Mapping[int, Sequence[float]], **context_after: Any
) -> tuple[Path, Path]:
    """Two configurations of one experiment."""
    return put(Path("x/raw/a/1.json"), result(before)), put(Path("x/raw/b/1.json"), result(after, **context_after))


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    status, out, _ = called(capsys, *arguments, "--format", "json")
    assert status in (0, 1, 3)
    data: dict[str, Any] = json.loads(out)
    return data


def part(data: dict[str, Any]) -> dict[str, Any]:
    """Returns the only part of A and B."""
    (one,) = data["comparisons"]
    assert isinstance(one, dict)
    return one


def verdicts(data: dict[str, Any], key: str = "throughput_per_second") -> dict[int, str]:
    return {point["inflight"]: point["metrics"][key]["verdict"] for point in part(data)["points"]}


def test_the_verdicts_of_all_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    data = as_json(capsys, *apart({1: BASE, 4: BASE, 8: BASE}, {1: SAME, 4: SLOWER, 8: FASTER}), "--metric", "all")
    for key in ("throughput_per_second", "latency_p50_ns", "latency_p99_ns"):
        assert verdicts(data, key) == {1: "no difference seen", 4: "slower", 8: "faster"}
    for key in ("client_cpu_per_rpc_ns", "server_cpu_per_rpc_ns"):
        assert verdicts(data, key) == {1: "no difference seen", 4: "more CPU", 8: "less CPU"}


def test_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    data = as_json(capsys, *apart({4: BASE, 16: BASE}, {4: SLOWER, 16: SAME}), GATE, "5%")
    point = part(data)["points"][0]
    assert (point["scenario"], point["name"], point["inflight"]) == ("ping/unary/cq/separate", "in-flight 4", 4)
    assert (point["unreliable"], point["same_schedule"]) == (False, None)
    figure = point["metrics"]["throughput_per_second"]
    of_sessions = {"sessions": 10, "history_percent": None}
    assert figure["before"] == {"mean": pytest.approx(geometric_mean(BASE), rel=1e-4), "repetitions": 10, **of_sessions}
    assert figure["after"]["mean"] == pytest.approx(geometric_mean(SLOWER), rel=1e-4)
    assert figure["change_percent"] == pytest.approx(-7, abs=0.01)
    low, high = figure["change_percent_interval"]
    assert low < figure["change_percent"] < high < -5
    assert figure["p_holm"] == pytest.approx(2 * figure["p"]) and figure["p"] < 1e-10 and not figure["paired"]
    assert (figure["verdict"], figure["repetitions_to_find"]) == ("slower", None)
    assert (figure["between_sessions"], figure["sessions_to_find"]) == ("sessions", 3)
    total = part(data)["total"]["throughput_per_second"]
    assert total["points"] == 2 and total["ratio"] == pytest.approx(0.9645, abs=0.0005)
    assert total["change_percent_interval"][0] < -3.5 < total["change_percent_interval"][1]
    assert "Student's t" in data["methods"]["interval"] and "Holm" in data["methods"]["different"]
    assert [(gate["state"], len(gate["points"])) for gate in data["gates"]] == [("closed", 1)]


def test_metrics_are_chosen_by_name_and_group_and_a_gates_own_is_added(capsys: pytest.CaptureFixture[str]) -> None:
    files = pair({1: BASE}, {1: SAME})
    assert list(part(as_json(capsys, *files, "--metric", "p50"))["total"]) == ["latency_p50_ns"]
    both = as_json(capsys, *files, "--metric", "p50", LATENCY_GATE, "5%")
    assert list(part(both)["total"]) == ["latency_p50_ns", "latency_p99_ns"]
    group = part(as_json(capsys, *files, "--metric", "cpu,throughput"))["total"]
    assert list(group) == ["throughput_per_second", "client_cpu_per_rpc_ns", "server_cpu_per_rpc_ns"]
    everything = part(as_json(capsys, *files))["total"]
    assert {"latency_p90_ns", "latency_mean_ns", "client_cpu_per_rpc_ns"} <= set(everything)


def test_a_metric_without_noise_is_compared_too(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE}, {1: SAME})
    for file, count in ((a, 12), (b, 13)):
        data = json.loads(file.read_text())
        for entry in data["benchmarks"]:
            entry.update(client_allocations_per_rpc=count, server_allocations_per_rpc=0 if count == 12 else 1)
        put(file, data)
    total = part(as_json(capsys, a, b, "--metric", "allocations"))["total"]
    assert total["client_allocations_per_rpc"]["verdict"] == "more allocations"
    assert total["server_allocations_per_rpc"]["verdict"] == "a 0: no ratio"
    out = called(capsys, a, b, "--metric", "allocations")[1]
    assert re.search(r"12 +13 +\+8.3 % +\+8.3 to \+8.3 +<0.0001 +6  more allocations\n", out)


def test_too_few_repetitions(capsys: pytest.CaptureFixture[str]) -> None:
    few = dict.fromkeys((1, 2, 4, 8), BASE[:5])
    status, out, _ = called(capsys, *one_session(few, {n: [v / 2 for v in SAME[:5]] for n in few}))
    assert status == 0 and "slower" not in out and "faster" not in out
    assert out.count("inconclusive: 5 repetitions, needs 6") >= 12


def test_a_point_with_fewer_repetitions_than_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    files = one_session({1: BASE, 4: BASE}, {1: SLOWER, 4: SLOWER[:1]})
    assert verdicts(as_json(capsys, *files)) == {1: "slower", 4: "inconclusive"}
    assert "inconclusive: 10 and 1 repetitions, needs 6" in called(capsys, *files)[1]
    assert called(capsys, *files, GATE, "50%")[0] == 3  # the second point is not decided


@pytest.mark.parametrize(
    ("gate", "limit", "after", "status"),
    [
        (GATE, "5%", SLOWER, 1),
        (GATE, "6.9%", SLOWER, 1),
        (GATE, "7.1%", SLOWER, 3),  # slower, but perhaps not by that much
        (GATE, "9%", SLOWER, 0),  # slower, but certainly not by that much
        (GATE, "0%", SLOWER, 1),
        (GATE, "0%", SAME, 3),  # a small loss is not excluded
        (GATE, "5%", SAME, 0),
        (GATE, "5%", FASTER, 0),
        (LATENCY_GATE, "5%", SLOWER, 1),
        (LATENCY_GATE, "7.4%", SLOWER, 1),  # 1 / 0.93 is 7.5 % more
        (LATENCY_GATE, "7.6%", SLOWER, 3),
        (LATENCY_GATE, "10%", SLOWER, 0),
        (LATENCY_GATE, "5%", FASTER, 0),
    ],
)
def test_gates(capsys: pytest.CaptureFixture[str], gate: str, limit: str, after: list[float], status: int) -> None:
    got, out, err = called(capsys, *apart({4: BASE}, {4: after}), gate, limit)
    assert got == status and "IN TOTAL" in out
    head = f"cqbench compare: gate {gate} {limit}: "
    if status == 0:
        assert err == f"{head}open\n"
        return
    state = {1: "closed", 3: "inconclusive"}[status]
    assert err.startswith(f"{head}{state}: ping/unary/cq/separate, in-flight 4: ")
    assert len(err.splitlines()) == 1


def test_one_closed_point_closes_the_gate_though_another_is_not_decided(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = called(capsys, *apart({4: BASE, 8: BASE}, {4: SLOWER, 8: SAME}), GATE, "0%")
    assert status == 1
    assert [line.split(": ")[2] for line in err.splitlines()] == ["closed", "inconclusive"]


def test_an_inconclusive_gate_says_how_many_repetitions_would_decide(capsys: pytest.CaptureFixture[str]) -> None:
    noisy = [value * (0.8 if i % 2 else 1.2) for i, value in enumerate(SAME)]
    status, _, err = called(capsys, *apart({4: BASE}, {4: noisy}), GATE, "5%")
    assert status == 3
    needed = re.search(r"about (\d+) sessions on either side would decide; so may a measurement in turns", err)
    assert needed and 15 <= int(needed[1]) <= 1000


@pytest.mark.parametrize(
    ("change", "spread", "needed"),
    [
        (-0.01, 0.001, 15),  # told from the limit at once: at least half as many again
        (-0.03, 0.10, 305),
        (-0.20, 0.20, 15),  # more than the limit was measured: no loss at all is to be left out
        (-0.05001, 5.0, None),
        (-0.04999, 0.2, None),
    ],
)
def test_repetitions_to_decide(change: float, spread: float, needed: int | None) -> None:
    ratio = Ratio(1 + change, 0.5, 1.5, 0.5, 10, True, spread)
    figure = Figure(THROUGHPUT, 1, 1, (10, 10), ratio, 0.5, 0.97, 1)
    found = repetitions_to_decide(slower(5, METRICS), figure)
    assert (found is None) == (needed is None)
    assert needed is None or found == pytest.approx(needed, rel=0.05)


def test_a_change_of_just_the_limit_closes(capsys: pytest.CaptureFixture[str]) -> None:
    before = [100.0, 99, 101, 98, 102, 97, 103, 100]
    after = [0.93 * value for value in before]
    assert called(capsys, *apart({1: before}, {1: after}), GATE, "7%")[0] == 1


def test_a_great_change_that_is_chance_after_the_correction_does_not_close(capsys: pytest.CaptureFixture[str]) -> None:
    after = [value * (0.88 + 0.02 * i) for i, value in enumerate(SAME[:8])]  # p = 0.03
    files = apart({1: BASE, 4: BASE, 8: BASE}, {1: after, 4: SAME, 8: SAME})
    data = as_json(capsys, *files, GATE, "2%")
    figure = part(data)["points"][0]["metrics"]["throughput_per_second"]
    assert figure["p"] < 0.05 < figure["p_holm"] == pytest.approx(3 * figure["p"])
    assert figure["change_percent"] < -2 and figure["change_percent_interval"][1] < 0
    assert figure["verdict"] == "no difference seen" and data["gates"][0]["state"] == "inconclusive"


def test_a_great_change_that_may_be_chance_does_not_close(capsys: pytest.CaptureFixture[str]) -> None:
    noisy = [value * (0.6 if i % 2 else 1.4) for i, value in enumerate(SAME)]
    data = as_json(capsys, *apart({1: BASE}, {1: [*noisy[1:], 6_000]}), GATE, "5%")
    assert part(data)["points"][0]["metrics"]["throughput_per_second"]["change_percent"] < -5
    assert data["gates"][0]["state"] == "inconclusive"


def test_a_gate_that_cannot_close_is_not_open(capsys: pytest.CaptureFixture[str]) -> None:
    head = f"cqbench compare: gate {GATE} 5%: "
    few = one_session({1: BASE[:3], 2: BASE[:3]}, {1: SAME[:3], 2: SAME[:3]})
    status, _, err = called(capsys, *few, GATE, "5%")
    where = "ping/unary/cq/separate, in-flight"
    assert (status, err) == (3, f"{head}inconclusive: 2 points, the first {where} 1: 3 repetitions, needs 6\n")
    gone = one_session({1: BASE, 2: BASE}, {1: SAME})
    status, _, err = called(capsys, *gone, GATE, "5%")
    assert (status, err) == (1, f"{head}closed: {where} 2: no throughput after\n")
    new = one_session({1: BASE}, {1: SAME, 2: SAME})
    assert called(capsys, *new, GATE, "5%")[0] == 0
    lopsided = one_session({1: BASE * 3}, {1: SLOWER[:2]})
    status, _, err = called(capsys, *lopsided, GATE, "5%")
    assert (status, err) == (3, f"{head}inconclusive: {where} 1: 30 and 2 repetitions, needs 6\n")


def test_a_gate_without_any_figure(capsys: pytest.CaptureFixture[str]) -> None:
    data = result({1: BASE})
    for entry in data["benchmarks"]:
        del entry["latency_p99_ns"]
    file = put(Path("a.json"), data)
    status, out, err = called(capsys, file, put(Path("b.json"), data), LATENCY_GATE, "5%")
    assert status == 3 and "! no point has figures on both sides: P99\n" in out
    assert "inconclusive: no point has a P99 on both sides" in err


def test_points_that_failed_after_close_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE, 4: BASE}, {1: SAME, 4: SAME})
    data = json.loads(b.read_text())
    for entry in data["benchmarks"][10:]:
        entry.update(error_message="cannot connect", completed=0)
    put(b, data)
    status, out, err = called(capsys, a, b, GATE, "5%")
    assert status == 1 and "in-flight 4: no throughput after" in err
    why = "(the other side: 10 runs not used: cannot connect)"
    assert f"only before: ping/unary/cq/separate, in-flight 4 {why}" in out


def test_what_cannot_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    files = apart({1: BASE}, {1: SLOWER}, host_name="other", affinity="1", grpc_version="1.60.0")
    status, out, err = called(capsys, *files)
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        "cqbench compare: A and B cannot be compared: 2 settings must not differ and did; "
        "--anyway compares them all the same",
        "cqbench compare: host: host before, other after",
        "cqbench compare: client CPUs: 0-1 before, 1 after",
    ]
    status, out, err = called(capsys, *files, "--anyway", GATE, "5%")
    assert status == 1 and "closed: ping" in err
    assert "! compared all the same (--anyway): host: host before, other after\n" in out
    assert "\ncompared on purpose: gRPC: 1.51.1 before, 1.60.0 after\n" in out
    told = part(as_json(capsys, *files, "--anyway"))["differences"]
    assert told[1] == {"key": "affinity", "before": "0-1", "after": "1", "scenarios": None, "on_purpose": False}
    assert [d["key"] for d in told if d["on_purpose"]] == ["grpc_version"]


def test_nothing_in_common(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = called(capsys, *pair({1: BASE}, {2: BASE}))
    assert status == 2 and err == (
        "cqbench compare: A and B have no point in common: A has ping/unary/cq/separate, in-flight 1, "
        "B has ping/unary/cq/separate, in-flight 2, for example\n"
    )


def test_experiments_are_compared_by_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    """Folders of three experiments on either side."""
    for side, values in (("a", {"x": BASE, "y": BASE, "z": BASE}), ("b", {"x": SAME, "y": SLOWER})):
        for configuration, throughputs in values.items():
            for i, value in enumerate(throughputs[:9]):
                sizes = {"request_bytes": {"x": 0, "y": 64, "z": 7}[configuration]}
                file = Path(side, f"day{i % 3}", "raw", configuration, f"{i:02}.json")
                put(file, result({4: [value]}, **sizes))
    data = as_json(capsys, "a", "b")
    found = {p["scenario"].split()[0]: p["metrics"]["throughput_per_second"] for p in part(data)["points"]}
    assert {name: f["verdict"] for name, f in found.items()} == {"x": "no difference seen", "y": "slower"}
    assert not found["x"]["paired"] and found["x"]["between_sessions"] == "sessions"
    assert (found["x"]["before"]["repetitions"], found["x"]["before"]["sessions"]) == (9, 3)
    assert [p["point"].split()[0] for p in part(data)["only_before"]] == ["z"] and part(data)["only_after"] == []
    assert data["sides"][0]["files"] == 27
    one = as_json(capsys, "a/day0", "b/day0")
    for point in part(one)["points"]:
        figure = point["metrics"]["throughput_per_second"]
        assert (figure["verdict"], figure["between_sessions"]) == ("inconclusive", "unknown")


def test_suspect_points_are_marked_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE, 4: BASE}, {1: SAME, 4: SAME}, warnings=[{"code": "shared-cpus", "text": "shared CPUs"}])
    data = json.loads(b.read_text())
    for i, entry in enumerate(data["benchmarks"][10:]):
        entry["warnings"] = [{"code": "drift", "text": f"drift of {i} %"}]
    put(b, data)
    _, out, _ = called(capsys, a, b)
    assert "! 4 in flight" in out and "! 1 in flight" not in out
    assert "! 1 of 2 points unreliable, marked with a !\n" in out
    assert "! after: warning: drift of 0 %\n" in out
    assert "! after: warning about all points: shared CPUs\n" in out
    assert [p["unreliable"] for p in part(as_json(capsys, a, b))["points"]] == [False, True]


def test_interrupted_runs_and_version_1(capsys: pytest.CaptureFixture[str]) -> None:
    partial = DATA / "partial.json"
    status, out, _ = called(capsys, partial, partial, "--metric", "all")
    assert status == 0 and "before: 1 of 1 file of interrupted runs" in out
    assert "! no point has figures on both sides: client CPU per call, " in out
    assert "only" not in out.replace("only before", "")  # what was cut short on both sides is on neither


def test_an_older_file_says_less(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = put(Path("a.json"), result({1: BASE}, servers=[], cpu_model="")), put(Path("b.json"), result({1: SAME}))
    status, out, _ = called(capsys, a, b)
    assert status == 0 and "! not checked, a side says nothing about it: CPU model, servers\n" in out


def test_a_figure_that_a_repetition_lacks_is_not_there_for_the_point(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE, 4: BASE}, {1: SAME, 4: SAME})
    data = json.loads(b.read_text())
    del data["benchmarks"][10]["latency_p99_ns"]
    put(b, data)
    found = part(as_json(capsys, a, b))
    assert ["latency_p99_ns" in p["metrics"] for p in found["points"]] == [True, False]
    assert found["total"]["latency_p99_ns"]["points"] == 1 and found["total"]["latency_p50_ns"]["points"] == 2
    assert "P99, us (1 point)" in called(capsys, a, b)[1]


def test_repetitions_with_failed_calls_do_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE}, {1: FASTER})
    data = json.loads(b.read_text())
    for entry in data["benchmarks"][:3]:
        entry.update(failed=1, errors=[{"code": "UNAVAILABLE", "count": 1, "first_message": ""}])
    put(b, data)
    figure = part(as_json(capsys, a, b))["points"][0]["metrics"]["throughput_per_second"]
    assert figure["after"]["repetitions"] == 7
    assert "! after: 3 runs not used: 1 calls failed (UNAVAILABLE)\n" in called(capsys, a, b)[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "A and B, or one experiment with --axis or --configurations, are needed; given: nothing"),
        (["a.json"], "A and B, or one experiment with --axis or --configurations, are needed; given: a.json"),
        (["a.json", "a.json", "c"], "A and B, or one experiment with"),
        (["a.json", "b", "--axis", "x"], "one experiment's folder is needed; given: a.json b"),
        (["a.json", "--axis", "x"], "argument DIR: a.json: not an experiment's folder: it has no raw/"),
        (
            ["a.json", "--axis", "x", "--configurations", "a", "b"],
            "--axis and --configurations cannot be used together",
        ),
        (["a.json", "--history", "empty"], "--history stands alone, or with A and B; given: a.json"),
        (["--history", "empty", "--format", "json"], "argument --format: 'json' is not for --history"),
        (["--history", "empty"], "argument --history: empty: no run in it"),
        (["", "a.json"], "argument A: is empty: a result file or folder is accepted"),
        (["a.json", "none.json"], "argument B: none.json: No such file or directory"),
        (["a.json", "."], "argument B: bad.json: not JSON"),
        (["a.json", "empty"], "argument B: empty: no result files (*.json, or *.txt of go test)"),
        (
            ["a.json", "a.json", "--metric", "p42"],
            "argument --metric: 'p42' is not 'all' or a list of names (throughput, mean",
        ),
        (["a.json", "a.json", "--metric", ""], "argument --metric: '' is not"),
        (["a.json", "a.json", "--find", "3"], "argument --find: '3' is not a percentage"),
        (
            ["a.json", "a.json", "--format", "xml"],
            "argument --format: 'xml' is not one of 'text', 'markdown', 'csv', 'json', 'html'",
        ),
        (["a.json", "a.json", GATE, "0.05"], f"argument {GATE}: '0.05' is not a percentage from 0% to 100%"),
        (["a.json", "a.json", GATE, "101%"], f"argument {GATE}: '101%'"),
        (["a.json", "a.json", LATENCY_GATE, "-1%"], f"argument {LATENCY_GATE}: "),
        (["a.json", "a.json", LATENCY_GATE, "nan%"], f"argument {LATENCY_GATE}: 'nan%'"),
    ],
)
def test_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    put(Path("a.json"), result({1: BASE}))
    Path("bad.json").write_text("{")
    Path("empty").mkdir()
    status, out, err = called(capsys, *arguments)
    assert (status, out) == (2, "") and len(err.splitlines()) == 1
    assert err.startswith(f"cqbench compare: {words}")


def test_names_of_files_are_harmless_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for i, side in enumerate(("a\x1b[2J", "b")):
        put(Path(side, "raw", "v\nw\x1b", "1.json"), result({1: BASE}, compiler=f"\x1b[2J{i}"))
    status, out, err = called(capsys, "a\x1b[2J", "b")
    assert status == 0 and "\x1b" not in out + err and "v w ping/unary" in out
    assert "\x1b" not in called(capsys, "a\x1b[2J", "no\x1b")[2]


def test_the_script_shows_the_commands_help() -> None:
    done = subprocess.run([SCRIPT, "a", "--help"], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0 and "Is B faster or slower than A?" in done.stdout
    for flag in (
        "--metric",
        "--axis",
        "--configurations",
        "--history",
        "--format",
        GATE,
        LATENCY_GATE,
        "--anyway",
        "Examples",
    ):
        assert flag in done.stdout
