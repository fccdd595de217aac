"""cqbench check: single result files, what their figures say about each other, and our own stored runs."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import check_folders
import pytest
from check_folders import DATA, failed, findings
from cqbench.analysis.check import figures, trust, whole
from cqbench.analysis.check.model import State
from cqbench.cli import main
from cqbench.formats import histograms
from cqbench.run import check
from hdrh.histogram import HdrHistogram
from made_results import open_loop, put

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
REAL: Json = json.loads((DATA / "result.json").read_text())
# Stored at one load of three or two, to save room; and one that asks for all CPUs at both ends.
NOT_TO_BE_BELIEVED = {
    "compression": {"complete"},
    "tls": {"blocks"},
    "lineup-full": {"cpus"},
}
# A client that was stopped; a client and a server that shared their CPUs on a busy machine.
NOT_FINE = {"partial": {"complete"}, "result": {"cpus", "warnings"}}


def clean() -> Json:
    """A real file, as if its server had had a CPU of its own and the machine had been quiet."""
    data: Json = copy.deepcopy(REAL)
    data["context"] |= {"warnings": [], "affinity": "0"}
    for server in data["context"]["servers"]:
        server |= {"cpus": [1], "clock_source": "tsc", "cpu_scaling_enabled": None}
    for point in data["benchmarks"]:
        point["warnings"] = []
    return data


def changed(tmp_path: Path, changer: Callable[[Json], Any], data: Json | None = None) -> Path:
    """data: a clean file."""
    data = data or clean()
    changer(data)
    return put(tmp_path / "a.json", data)


def test_our_stored_runs_pass_all_other_rules(tmp_path: Path) -> None:
    for archive in ("documents", "headline"):
        check_folders.unpack(archive, tmp_path)
    found = {s.path.name: {f.rule: f for f in whole.check(s)} for s in check.subjects(tmp_path)}
    assert len(found) == 14
    bad = {name: {r for r, f in of.items() if f.state is State.FAILED} for name, of in found.items()}
    assert {name: rules for name, rules in bad.items() if rules} == NOT_TO_BE_BELIEVED
    assert [name for name, of in found.items() if "before hashes" not in of["hashes"].text] == ["headline"]


@pytest.mark.parametrize("name", ["result", "repetitions", "pool", "killed", "partial", "unary-sync-shared"])
def test_our_stored_results_pass(name: str) -> None:
    assert failed(DATA / f"{name}.json") == NOT_FINE.get(name, set())


def test_a_clean_file_passes(tmp_path: Path) -> None:
    found = findings(put(tmp_path / "a.json", clean()))
    assert {f.rule for f in found.values() if f.state is not State.PASSED} == {"repetitions", "frequency"}


def test_a_file_has_no_findings_about_folders() -> None:
    assert not {"hashes", "blocks", "table", "verdict"} & set(findings(DATA / "result.json"))


def histogram(data: Json, value: str) -> None:
    data["benchmarks"][0]["latency_histogram"] = value


def other_histogram(data: Json) -> None:
    one, other, *_ = (p for p in data["benchmarks"] if p["run_type"] == "iteration")
    one["latency_histogram"] = other["latency_histogram"]


def made_up_histogram(data: Json) -> None:
    """As many calls, all of them as fast as the median."""
    point = data["benchmarks"][0]
    made = HdrHistogram(histograms.LOWEST, histograms.HIGHEST, histograms.DIGITS)
    made.record_value(point["latency_p50_ns"], point["latency_samples"])
    histogram(data, made.encode().decode())


@pytest.mark.parametrize(
    ("changer", "rule"),
    [
        (lambda d: histogram(d, "HISTFAAA"), "latencies"),
        (other_histogram, "latencies"),
        (made_up_histogram, "latencies"),
        (lambda d: d["benchmarks"][0].update(latency_p99_ns=d["benchmarks"][0]["latency_p99_ns"] - 1), "latencies"),
        (lambda d: d["benchmarks"][0].update(latency_samples=d["benchmarks"][0]["latency_samples"] + 1), "latencies"),
        (lambda d: d["benchmarks"][0].update(calls_ok=d["benchmarks"][0]["calls_ok"] - 1), "counts"),
        (lambda d: d["benchmarks"][0].update(window_ns=d["benchmarks"][0]["window_ns"] * 2), "counts"),
    ],
)
def test_a_changed_point_is_found(changer: Callable[[Json], Any], rule: str, tmp_path: Path) -> None:
    assert rule in failed(changed(tmp_path, changer))


def test_an_edited_median_is_found(tmp_path: Path) -> None:
    data = json.loads((DATA / "repetitions.json").read_text())
    median = next(p for p in data["benchmarks"] if p["run_type"] == "aggregate")
    median["throughput_per_second"] *= 1.01
    assert failed(put(tmp_path / "a.json", data)) == {"medians"}


def test_a_warning_of_littles_law_is_a_remark_and_one_that_was_taken_out_is_found(tmp_path: Path) -> None:
    def slots(data: Json) -> None:
        data["benchmarks"][1]["inflight"] *= 2

    def warned(data: Json) -> None:
        slots(data)
        data["benchmarks"][1]["warnings"] = [{"code": "littles-law", "text": "calls do not account for all time"}]

    assert "littles-law" in failed(changed(tmp_path, slots))
    assert findings(changed(tmp_path, warned))["littles-law"].state is State.REMARK


def test_the_constants_of_littles_law_are_those_of_the_client() -> None:
    thresholds = (ROOT / "src/observe/checks/thresholds.h").read_text()
    found = dict(re.findall(r"(kLittleShare|kCallsForLittle) = ([\d.]+);", thresholds))
    assert (float(found["kLittleShare"]), int(found["kCallsForLittle"])) == (
        figures.LITTLE_SHARE,
        figures.CALLS_FOR_LITTLE,
    )
    parts = re.findall(r"(?:kFewestParts|kCallsPerPart) = (\d+);", thresholds)
    assert int(parts[0]) * int(parts[1]) == trust.CALLS_FOR_STEADY
    load = (ROOT / "src/config/load.h").read_text()
    (back_off,) = re.findall(r"kBackOffAfterFailure = (\d+) \* kNanosPerMilli", load)
    assert int(back_off) * 1_000_000 == figures.BACK_OFF_NS


WARNED = {"drift": "steady", "other-processes": "quiet", "steal": "quiet", "pacer-late": "client"}


@pytest.mark.parametrize("code", WARNED)
def test_a_warning_is_a_remark_with_numbers_where_few_points_have_it(code: str, tmp_path: Path) -> None:
    """One of three loads."""

    def warn(data: Json) -> None:
        data["benchmarks"][0]["warnings"].append({"code": code, "text": "something moved"})

    found = findings(changed(tmp_path, warn, json.loads((DATA / "unary-sync-shared.json").read_text())))
    assert found[WARNED[code]].state is found["warnings"].state is State.REMARK
    assert "something moved" in found[WARNED[code]].text and f"{code} 1" in found["warnings"].text


def test_warnings_on_most_points_fail(tmp_path: Path) -> None:
    def warn(data: Json) -> None:
        for point in data["benchmarks"]:
            point["warnings"] = [{"code": "drift", "text": "it drifts"}]

    assert "warnings" in failed(changed(tmp_path, warn))


def test_disturbances_of_an_experiment_are_remarks(tmp_path: Path) -> None:
    """They hit all configurations alike."""
    check_folders.unpack("planted", tmp_path)
    found = findings(tmp_path / "stream-limit")
    assert found["warnings"].state is found["quiet"].state is State.REMARK
    assert "other-processes 60" in found["warnings"].text


def test_a_saturated_client_is_found_by_its_cpus_too(tmp_path: Path) -> None:
    def fill(data: Json) -> None:
        for point in data["benchmarks"]:
            point["notes"] = []
            allowed = point.get("client_cpus_allowed")
            if allowed:
                point["client_cores_used"] = 0.97 * allowed

    assert findings(changed(tmp_path, fill))["client"].state is State.REMARK


@pytest.mark.parametrize(
    ("key", "value", "rule", "state"),
    [
        ("clock_source", "hpet", "clock", State.REMARK),
        ("clock_source", "tsc", "clock", State.PASSED),
        ("clock_source", "", "clock", State.NOT_KNOWN),
        ("cpu_scaling_enabled", True, "frequency", State.REMARK),
        ("cpu_scaling_enabled", False, "frequency", State.PASSED),
        ("cpu_scaling_enabled", None, "frequency", State.NOT_KNOWN),
        ("servers", [], "cpus", State.NOT_KNOWN),
    ],
)
def test_what_the_machine_says(key: str, value: object, rule: str, state: State, tmp_path: Path) -> None:
    def tell(data: Json) -> None:
        data["context"][key] = value

    assert findings(changed(tmp_path, tell))[rule].state is state


def test_connections_that_are_not_known(tmp_path: Path) -> None:
    def forget(data: Json) -> None:
        data["benchmarks"][0]["connections"] = None

    assert findings(changed(tmp_path, forget))["connections"].state is State.NOT_KNOWN


def test_failed_calls_are_a_remark() -> None:
    found = findings(DATA / "killed.json")["calls"]
    assert found.state is State.REMARK and "UNAVAILABLE" in found.text


def test_the_division_has_every_setting(tmp_path: Path) -> None:
    def tune(data: Json) -> None:
        data["context"]["channel_args"] = {"grpc.minimal_stack": "1"}
        data["context"]["servers"][0]["channel_args"] = ["grpc.http2.bdp_probe=0"]
        data["context"]["service_config"] = "{}"

    untouched = findings(changed(tmp_path, lambda data: data["context"].update(channel_args={})))
    assert untouched["division"].text.startswith("defaults")
    text = findings(changed(tmp_path, tune))["division"].text
    assert text == "tuned: client grpc.minimal_stack=1; service config {}; server grpc.http2.bdp_probe=0"


def test_an_open_loop_is_not_held_against_littles_law(tmp_path: Path) -> None:
    found = findings(put(tmp_path / "a.json", open_loop({1000.0: [1000.0]})))
    assert "littles-law" not in found


def test_every_code_of_a_warning_is_one_that_the_client_has() -> None:
    text = (ROOT / "src/result/notice.h").read_text()
    for code in (*trust.STEADY, *trust.CLIENT, *trust.QUIET):
        assert f'"{code}"' in text


def test_the_same_measurement_twice_is_found(tmp_path: Path) -> None:
    for name in ("a", "b"):
        put(tmp_path / f"{name}.json", clean())
    assert failed(tmp_path) == {"origin"}
    assert main(["check", str(tmp_path)]) == 1
