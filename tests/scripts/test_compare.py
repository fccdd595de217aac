"""compare.sh as a whole: verdicts, gates, refusals, both outputs."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from test_compare_synthetic import BASE, DATA, FASTER, SAME, SLOWER, called, put, result

SCRIPT = Path(__file__).parents[2] / "scripts/compare.sh"
GATE, LATENCY_GATE = "--fail-if-slower", "--fail-if-latency-higher"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pair(
    before: dict[int, Sequence[float]], after: dict[int, Sequence[float]], **context_after: Any
) -> tuple[Path, Path]:
    return put(Path("a.json"), result(before)), put(Path("b.json"), result(after, **context_after))


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    status, out, _ = called(capsys, *arguments, "--format", "json")
    assert status in (0, 1)
    data: dict[str, Any] = json.loads(out)
    return data


def verdicts(data: dict[str, Any], key: str = "throughput_per_second") -> dict[int, str]:
    return {point["inflight"]: point["metrics"][key]["verdict"] for point in data["points"]}


def test_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    """To the letter; look at every line that changes."""
    a, b = pair({1: BASE, 4: BASE, 8: BASE, 16: BASE}, {1: SAME, 4: SLOWER, 8: FASTER, 32: BASE}, grpc_version="1.60.0")
    status, out, err = called(capsys, a, b)
    assert (status, err) == (0, "")
    assert out == (DATA / "compare/text.txt").read_text()


def test_the_verdicts_of_all_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    data = as_json(capsys, *pair({1: BASE, 4: BASE, 8: BASE}, {1: SAME, 4: SLOWER, 8: FASTER}), "--metric", "all")
    for key in ("throughput_per_second", "latency_p50_ns", "latency_p99_ns"):
        assert verdicts(data, key) == {1: "no difference seen", 4: "slower", 8: "faster"}
    for key in ("client_cpu_per_rpc_ns", "server_cpu_per_rpc_ns"):
        assert verdicts(data, key) == {1: "no difference seen", 4: "more CPU", 8: "less CPU"}


def test_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    data = as_json(capsys, *pair({4: BASE, 16: BASE}, {4: SLOWER, 16: SAME}), GATE, "5%")
    point = data["points"][0]
    assert (point["variant"], point["channel_policy"], point["inflight"]) == ("", "local-pool", 4)
    assert point["suspect"] is False
    figure = point["metrics"]["throughput_per_second"]
    assert figure["before"] == {"median": 10_000.5, "repetitions": 10}
    assert figure["after"]["median"] == pytest.approx(10_002.5 * 0.93)
    assert figure["change_percent"] == pytest.approx(-6.98, abs=0.005)
    low, high = figure["change_percent_interval"]
    assert low < figure["change_percent"] < high < -5
    assert figure["p"] == pytest.approx(2 / 184_756) and figure["p_holm"] == pytest.approx(4 / 184_756)
    assert (figure["verdict"], figure["needed_repetitions"]) == ("slower", 5)
    mean = data["geometric_means"]["throughput_per_second"]
    assert mean["points"] == 2 and mean["ratio"] == pytest.approx(0.9645, abs=0.0005)
    assert mean["change_percent_interval"][0] < -3.5 < mean["change_percent_interval"][1]
    assert "bootstrap" in data["methods"]["interval"] and "Mann-Whitney" in data["methods"]["test"]
    assert [(gate["closed"], len(gate["points"])) for gate in data["gates"]] == [(True, 1)]


def test_the_same_figures_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    files = pair({1: BASE, 4: BASE}, {1: SAME, 4: SLOWER})
    assert called(capsys, *files) == called(capsys, *files)


def test_metrics_are_chosen_and_a_gates_own_is_added(capsys: pytest.CaptureFixture[str]) -> None:
    files = pair({1: BASE}, {1: SAME})
    assert list(as_json(capsys, *files, "--metric", "p50")["geometric_means"]) == ["latency_p50_ns"]
    both = as_json(capsys, *files, "--metric", "p50", LATENCY_GATE, "5%")
    assert list(both["geometric_means"]) == ["latency_p50_ns", "latency_p99_ns"]


def test_too_few_repetitions(capsys: pytest.CaptureFixture[str]) -> None:
    few = {n: BASE[:3] for n in (1, 2, 4, 8)}
    status, out, _ = called(capsys, *pair(few, {n: [v / 2 for v in SAME[:3]] for n in few}))
    assert status == 0 and "slower" not in out
    assert out.count("cannot tell: 3 repetitions, needs 5") == 12
    assert "! throughput, P50, P99: too few repetitions at 4 of 4 points: 5 on either side" in out


def test_a_point_with_fewer_repetitions_than_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    files = pair({1: BASE, 4: BASE}, {1: SLOWER, 4: SLOWER[:1]})
    assert verdicts(as_json(capsys, *files)) == {1: "slower", 4: "cannot tell"}
    assert "cannot tell: 10 and 1 repetitions, needs 5" in called(capsys, *files)[1]
    assert called(capsys, *files, GATE, "50%")[0] == 1  # the second point is not decided


@pytest.mark.parametrize(
    ("gate", "limit", "after", "status"),
    [
        (GATE, "5%", SLOWER, 1),
        (GATE, "6.9%", SLOWER, 1),
        (GATE, "7.1%", SLOWER, 0),  # slower, but not by that much
        (GATE, "0%", SLOWER, 1),
        (GATE, "0%", SAME, 0),  # not really slower
        (GATE, "5%", FASTER, 0),
        (GATE, "0%", FASTER, 0),
        (LATENCY_GATE, "5%", SLOWER, 1),
        (LATENCY_GATE, "7.4%", SLOWER, 1),  # 1 / 0.93 is 7.5 % more
        (LATENCY_GATE, "7.6%", SLOWER, 0),
        (LATENCY_GATE, "0%", SAME, 0),
        (LATENCY_GATE, "0%", FASTER, 0),
    ],
)
def test_gates(
    capsys: pytest.CaptureFixture[str], gate: str, limit: str, after: list[float], status: int
) -> None:
    got, out, err = called(capsys, *pair({4: BASE, 8: BASE}, {4: after, 8: SAME}), gate, limit)
    assert got == status and "geometric mean" in out
    if status:
        assert err.startswith(f"compare.sh: gate {gate} {limit}: closed: ping/unary/cq/local-pool, in-flight 4: ")
        assert len(err.splitlines()) == 1
    else:
        assert err == f"compare.sh: gate {gate} {limit}: open\n"


def test_a_change_of_just_the_limit_closes(capsys: pytest.CaptureFixture[str]) -> None:
    before = [100.0, 99, 101, 98, 102, 97, 103, 100]
    after = [93.0, 92.9, 93.1, 92.8, 93.2, 92.7, 93.3, 93]
    assert (1 - 93 / 100) * 100 < 7  # rounded
    assert called(capsys, *pair({1: before}, {1: after}), GATE, "7%")[0] == 1


def test_a_great_change_that_is_chance_after_the_correction_does_not_close(capsys: pytest.CaptureFixture[str]) -> None:
    after = [value * 0.9 for value in SAME[:8]] + [10_100, 10_200]  # p = 0.02, the interval ends below 0
    files = pair({1: BASE, 4: BASE, 8: BASE}, {1: after, 4: SAME, 8: SAME})
    data = as_json(capsys, *files, GATE, "5%")
    figure = data["points"][0]["metrics"]["throughput_per_second"]
    assert figure["p"] < 0.05 < figure["p_holm"] == pytest.approx(3 * figure["p"])
    assert figure["change_percent"] < -5 and figure["change_percent_interval"][1] < 0
    assert figure["verdict"] == "no difference seen" and not data["gates"][0]["closed"]
    assert f"{figure['p_holm']:.4f}  no difference seen" in called(capsys, *files)[1]


def test_a_change_whose_interval_holds_none_does_not_close(capsys: pytest.CaptureFixture[str]) -> None:
    after = [value * 0.94 for value in SAME[:8]] + [11_000, 11_100]
    data = as_json(capsys, *pair({1: BASE}, {1: after}), GATE, "5%")
    figure = data["points"][0]["metrics"]["throughput_per_second"]
    assert figure["verdict"] == "slower" and figure["change_percent"] < -5
    assert figure["change_percent_interval"][1] > 0 and not data["gates"][0]["closed"]


def test_a_great_change_that_may_be_chance_does_not_close(capsys: pytest.CaptureFixture[str]) -> None:
    noisy = [value * (0.6 if i % 2 else 1.4) for i, value in enumerate(SAME)]
    data = as_json(capsys, *pair({1: BASE}, {1: [*noisy[1:], 6_000]}), GATE, "5%")
    assert data["points"][0]["metrics"]["throughput_per_second"]["change_percent"] < -5
    assert not data["gates"][0]["closed"]


def test_a_gate_that_cannot_close_is_not_open(capsys: pytest.CaptureFixture[str]) -> None:
    head = f"compare.sh: gate {GATE} 5%: closed, cannot decide: "
    few = pair({1: BASE[:3], 2: BASE[:3]}, {1: SAME[:3], 2: SAME[:3]})
    status, _, err = called(capsys, *few, GATE, "5%")
    where = "ping/unary/cq/local-pool, in-flight"
    assert (status, err) == (1, f"{head}2 points, the first {where} 1: 3 repetitions, needs 5\n")
    gone = pair({1: BASE, 2: BASE}, {1: SAME})
    status, _, err = called(capsys, *gone, GATE, "5%")
    assert (status, err) == (1, f"{head}{where} 2: no throughput after\n")
    new = pair({1: BASE}, {1: SAME, 2: SAME})
    assert called(capsys, *new, GATE, "5%")[0] == 0
    lopsided = pair({1: BASE * 3}, {1: SLOWER[:2]})
    status, _, err = called(capsys, *lopsided, GATE, "5%")
    assert (status, err) == (1, f"{head}{where} 1: 30 and 2 repetitions, an interval needs 4\n")


def test_a_gate_without_any_figure(capsys: pytest.CaptureFixture[str]) -> None:
    data = result({1: BASE})
    for entry in data["benchmarks"]:
        del entry["latency_p99_ns"]
    file = put(Path("a.json"), data)
    status, out, err = called(capsys, file, file, LATENCY_GATE, "5%")
    assert status == 1 and "P99: no figures on both sides" in out
    assert "closed, cannot decide: no point has a P99 on both sides" in err


def test_points_that_failed_after_close_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE, 4: BASE}, {1: SAME, 4: SAME})
    data = json.loads(b.read_text())
    for entry in data["benchmarks"][10:]:
        entry.update(error_message="cannot connect", completed=0)
    put(b, data)
    status, out, err = called(capsys, a, b, GATE, "5%")
    assert status == 1 and "in-flight 4: no throughput after" in err
    why = "(the other side: 10 runs not used: cannot connect)"
    assert f"only before: ping/unary/cq/local-pool, in-flight 4 {why}" in out


def test_what_cannot_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    files = pair({1: BASE}, {1: SLOWER}, host_name="other", affinity="1", grpc_version="1.60.0")
    status, out, err = called(capsys, *files)
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        "compare.sh: A and B cannot be compared: 2 settings must not differ and did; "
        "--anyway compares them all the same",
        "compare.sh: host_name: host before, other after",
        "compare.sh: affinity: 0-1 before, 1 after",
    ]
    status, out, err = called(capsys, *files, "--anyway", GATE, "5%")
    assert status == 1 and "closed: ping" in err
    assert "! compared all the same (--anyway): host_name: host before, other after\n" in out
    assert "\ncompared on purpose: grpc_version: 1.51.1 before, 1.60.0 after\n" in out
    data = as_json(capsys, *files, "--anyway")
    assert data["differences"][1] == {"key": "affinity", "before": "0-1", "after": "1", "series": None}
    assert [d["key"] for d in data["compared_on_purpose"]] == ["grpc_version"]


def test_a_reboot_is_no_other_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, *pair({1: BASE}, {1: SAME}, boot_id="other"))[0] == 0


def test_nothing_in_common(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = called(capsys, *pair({1: BASE}, {2: BASE}))
    assert status == 2 and err == (
        "compare.sh: A and B have no point in common: A has ping/unary/cq/local-pool, in-flight 1, "
        "B has ping/unary/cq/local-pool, in-flight 2, for example\n"
    )


def test_experiments_are_compared_by_variant(capsys: pytest.CaptureFixture[str]) -> None:
    for side, values in (("a", {"x": BASE, "y": BASE, "z": BASE}), ("b", {"x": SAME, "y": SLOWER})):
        for variant, throughputs in values.items():
            for i, value in enumerate(throughputs):
                sizes = {"request_bytes": {"x": 0, "y": 64, "z": 7}[variant]}
                put(Path(side, "raw", variant, f"{i:02}.json"), result({4: [value]}, **sizes))
    data = as_json(capsys, "a", "b")
    found = {p["variant"]: p["metrics"]["throughput_per_second"]["verdict"] for p in data["points"]}
    assert found == {"x": "no difference seen", "y": "slower"}
    assert [p["variant"] for p in data["only_before"]] == ["z"] and data["only_after"] == []
    assert data["before"]["files"] == 30


def test_suspect_points_are_marked_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE, 4: BASE}, {1: SAME, 4: SAME}, suspect=[{"code": "shared-cpus", "text": "shared CPUs"}])
    data = json.loads(b.read_text())
    for i, entry in enumerate(data["benchmarks"][10:]):
        entry["suspect"] = [{"code": "drift", "text": f"drift of {i} %"}]
    put(b, data)
    _, out, _ = called(capsys, a, b)
    assert "! 4 in flight" in out and "! 1 in flight" not in out
    assert "! 1 of 2 points suspect, marked with a !\n" in out
    assert "! after, 10 repetitions: suspect: drift of 0 %\n" in out
    assert "! after, all points of 1 file: suspect: shared CPUs\n" in out
    parsed = as_json(capsys, a, b)
    assert parsed["suspect_points"] == 1 and [p["suspect"] for p in parsed["points"]] == [False, True]


def test_interrupted_runs_and_version_1(capsys: pytest.CaptureFixture[str]) -> None:
    partial = DATA / "partial.json"
    status, out, _ = called(capsys, partial, partial, "--metric", "all")
    assert status == 0 and "before: 1 of 1 file of interrupted runs" in out
    assert "client CPU per RPC: no figures on both sides" in out
    assert "! not checked, a side says nothing about it: servers\n" in out
    assert "only" not in out  # what was cut short on both sides is on neither


def test_a_figure_that_only_some_points_have(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = pair({1: BASE, 4: BASE}, {1: SAME, 4: SAME})
    data = json.loads(b.read_text())
    for entry in data["benchmarks"][10:]:
        del entry["latency_p99_ns"]
    put(b, data)
    out = called(capsys, a, b)[1]
    assert out.count("no figures on both sides") == 1 and "over 1 point\n" in out and "over 2 points\n" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: A, B"),
        (["a.json"], "the following arguments are required: B"),
        (["a.json", "a.json", "c"], "unrecognized arguments: c"),
        (["", "a.json"], "argument A: is empty: a result file or folder is accepted"),
        (["a.json", "none.json"], "argument B: none.json: No such file or directory"),
        (["a.json", "."], "argument B: bad.json: not JSON"),
        (["a.json", "empty"], "argument B: empty: no result files (*.json) in this folder"),
        (["a.json", "a.json", "--metric", "p42"], "argument --metric: 'p42' is not 'all' or a list of throughput, p50"),
        (["a.json", "a.json", "--metric", ""], "argument --metric: '' is not"),
        (["a.json", "a.json", "--alpha", "0"], "argument --alpha: '0' is not a number from 0.000001 to 0.5"),
        (["a.json", "a.json", "--alpha", "nan"], "argument --alpha: 'nan'"),
        (["a.json", "a.json", "--format", "xml"], "argument --format: 'xml' is not text or json"),
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
    assert err.startswith(f"compare.sh: {words}")


def test_names_of_files_are_harmless_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for i, side in enumerate(("a\x1b[2J", "b")):
        put(Path(side, "raw", "v\nw\x1b", "1.json"), result({1: BASE}, compiler=f"\x1b[2J{i}"))
    status, out, err = called(capsys, "a\x1b[2J", "b")
    assert status == 0 and "\x1b" not in out + err and "v w ping/unary" in out
    assert "\x1b" not in called(capsys, "a\x1b[2J", "no\x1b")[2]


def test_the_script_shows_its_head_as_help() -> None:
    done = subprocess.run([SCRIPT, "a", "--help"], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 0 and done.stdout.startswith("Is B faster or slower than A?")
    for flag in ("--metric", "--alpha", "--format", GATE, LATENCY_GATE, "--anyway"):
        assert flag in done.stdout
