"""Results -> the report's data: figures, intervals, marks, series, what is missing, and where it was measured."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cqbench import report_data, report_points, runs, usl, verdict, verdict_text
from cqbench.documents import BadDocument
from cqbench.report_model import METRICS, Point, Report, Series, Value
from cqbench.report_values import describe

DATA = Path(__file__).parent / "data"
EXPERIMENT = DATA / "report/experiment"
REPETITIONS = DATA / "report/repetitions.json"
NAMES = ("streaming.sync.shared", "streaming.sync.separate", "unary.cq.shared", "unary.cq.separate")
# Metric -> key of the client's own statistics, their unit / ours.
SOURCES = {
    "throughput": ("throughput_per_second", 1),
    "p50": ("latency_p50_ns", 1000),
    "p90": ("latency_p90_ns", 1000),
    "p99": ("latency_p99_ns", 1000),
    "client_cpu": ("client_cpu_per_rpc_ns", 1000),
    "server_cpu": ("server_cpu_per_rpc_ns", 1000),
    "client_cores": ("client_cores_used", 1),
    "server_cores": ("server_cores_used", 1),
    "client_rpcs_per_segment": ("client_rpcs_per_segment_sent", 1),
    "server_rpcs_per_segment": ("server_rpcs_per_segment_sent", 1),
    "client_busy": ("client_connection_busy_share_median", 0.01),
    "server_busy": ("server_connection_busy_share_median", 0.01),
}


@pytest.fixture(scope="module")
def report() -> Report:
    """Of the stored experiment."""
    return report_data.make([EXPERIMENT])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the stored experiment to be changed."""
    return Path(shutil.copytree(EXPERIMENT, tmp_path / "sharing"))


def change(path: Path, changer: Callable[[dict[str, Any]], Any]) -> Path:
    data = json.loads(path.read_text())
    changer(data)
    path.write_text(json.dumps(data))
    return path


def copied(tmp_path: Path, changer: Callable[[dict[str, Any]], Any], name: str = "a.json") -> Path:
    """A result file of one point and seven repetitions, changed."""
    return change(Path(shutil.copy(REPETITIONS, tmp_path / name)), changer)


def iterations(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry for entry in data["benchmarks"] if entry["run_type"] == "iteration"]


def at(series: Series, inflight: int) -> Point:
    (point,) = [p for p in series.points if p.load.number == inflight]
    return point


def by_title(report: Report, title: str) -> Series:
    (series,) = [s for s in report.series if s.title == title]
    return series


def only(report: Report) -> tuple[Series, Point]:
    """Of a report with one series of one point."""
    (series,) = report.series
    (point,) = series.points
    return series, point


# Figures.


def test_medians_and_intervals_are_those_of_the_client() -> None:
    _, point = only(report_data.make([REPETITIONS]))
    (own,) = json.loads(REPETITIONS.read_text())["statistics"]
    for key, (source, unit) in SOURCES.items():
        theirs, ours = own["figures"][source], point.values[key]
        # The client rounds statistics from 1000 on to integers.
        expected = [theirs[name] / unit for name in ("median", "ci95_low", "ci95_high")]
        assert [ours.middle, ours.low, ours.high] == pytest.approx(expected, rel=6e-4), key
    assert point.repetitions == own["repetitions"] == 7


@pytest.mark.parametrize(
    ("n", "outside"),
    [(6, 0), (7, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (17, 4), (20, 5), (25, 7), (32, 9), (100, 39)],
)
def test_intervals_lie_between_order_statistics(n: int, outside: int) -> None:
    # Tables of the sign test, such as W. J. Conover, Practical Nonparametric Statistics, chapter 3.
    assert describe([float(v) for v in range(n, 0, -1)]) == Value((n + 1) / 2, 1 + outside, n - outside)


def test_fewer_than_six_values_have_no_interval() -> None:
    assert describe([3.0, 1.0, 2.0, 4.0, 5.0]) == Value(3)
    assert describe([7.0]) == Value(7)


def test_very_many_values_are_no_trouble() -> None:
    value = describe([float(v) for v in range(5000)])
    assert value.low is not None and value.high is not None and 2400 < value.low < value.middle < value.high < 2600


def test_units_are_the_metrics(tmp_path: Path) -> None:
    def one(data: dict[str, Any]) -> None:
        data["benchmarks"] = [{
            **iterations(data)[0], "throughput_per_second": 1000.0, "latency_p50_ns": 2000, "latency_p99_9_ns": 9000,
            "client_cpu_per_rpc_ns": 3500, "server_cores_used": 0.25, "client_connection_busy_share_median": 0.5,
            "connections": 4, "server_rpcs": 1000.0, "server_rpcs_per_queue_min": 200.0,
            "server_rpcs_per_queue_max": 800.0,
        }]  # fmt: skip
        data["context"]["servers"][0]["num_cqs"] = 2

    _, point = only(report_data.make([copied(tmp_path, one)]))
    expected = {
        "throughput": 1000, "p50": 2, "p99_9": 9, "client_cpu": 3.5, "server_cores": 0.25, "client_busy": 50,
        "connections": 4, "rpcs_per_queue_min": 40, "rpcs_per_queue_max": 160,
    }  # fmt: skip
    assert {key: point.values[key].middle for key in expected} == expected
    assert set(point.values) <= {m.key for m in METRICS}


def test_shares_of_queues_are_absent_where_their_number_is_not_known(tmp_path: Path) -> None:
    for servers in ([], [{"num_cqs": "2"}], [{}], [{"num_cqs": 2}, {}]):
        path = copied(tmp_path, lambda data, s=servers: data["context"].update(servers=s))
        _, point = only(report_data.make([path]))
        assert "rpcs_per_queue_min" not in point.values and "throughput" in point.values


def test_a_percentile_that_a_repetition_does_not_have_is_absent(tmp_path: Path) -> None:
    _, point = only(report_data.make([REPETITIONS]))
    assert "p99" in point.values and "p99_9" not in point.values
    path = copied(tmp_path, lambda data: iterations(data)[2].pop("latency_p99_ns"))
    _, point = only(report_data.make([path]))
    assert "p99" not in point.values and "p90" in point.values


def test_evidence_that_a_repetition_does_not_have_leaves_the_others(tmp_path: Path) -> None:
    path = copied(tmp_path, lambda data: iterations(data)[2].pop("server_cpu_per_rpc_ns"))
    entries = iterations(json.loads(path.read_text()))
    values = sorted(e["server_cpu_per_rpc_ns"] for e in entries if "server_cpu_per_rpc_ns" in e)
    _, point = only(report_data.make([path]))
    assert len(values) == 6
    assert point.values["server_cpu"].middle == pytest.approx((values[2] + values[3]) / 2000, rel=1e-5)


def test_results_without_evidence_have_the_clients_own_figures(report: Report) -> None:
    own = {"throughput", "p50", "p90", "p99", "p99_9", "connections"}
    assert set(at(by_title(report, "unary.cq.shared"), 4).values) <= own
    assert {"server_cpu", "client_busy"} <= set(at(by_title(report, "streaming.sync.shared"), 4).values)


# Marks.


def test_reasons_are_given_once_with_how_often(tmp_path: Path) -> None:
    def doubt(data: dict[str, Any]) -> None:
        for i, entry in enumerate(iterations(data)):
            entry["suspect"] = ["too few calls for P99.9: 5935, it needs 10000"]
            entry["suspect"] += [f"other processes used 0.{i} of the 1 CPU(s) of the client"] if i < 3 else []
            entry["suspect"] += ["CPU-bound: this measures CPU"] if i == 5 else []
            entry["suspect"] += [f"the hypervisor took {n} % of a CPU" for n in (7, 9) if i == 5]
            entry["suspect"] += ["too few calls for P90: 50, it needs 100"] if i == 6 else []

    _, point = only(report_data.make([copied(tmp_path, doubt)]))
    assert point.suspect == (
        "other processes used 0.0 of the 1 CPU(s) of the client (in 3 of 7 repetitions)",
        "the hypervisor took 7 % of a CPU (in 1 of 7 repetitions)",
    )
    assert point.limits == ("CPU-bound: this measures CPU (in 1 of 7 repetitions)",)


def test_failed_calls_and_warnings_mark_a_point_that_is_shown(tmp_path: Path) -> None:
    def fail(data: dict[str, Any]) -> None:
        for entry in iterations(data):
            entry.update(suspect=[], warnings=["policy local-pool promises 4 connection(s), this process has 5"])
        iterations(data)[1].update(failed=3, errors=[{"code": "UNAVAILABLE", "count": 3, "first_message": "gone\n<b>"}])

    series, point = only(report_data.make([copied(tmp_path, fail)]))
    assert point.repetitions == 7 and "throughput" in point.values
    assert point.suspect == (
        "policy local-pool promises 4 connection(s), this process has 5 (in 7 of 7 repetitions)",
        "failed calls: UNAVAILABLE x 3 (gone <b>) (in 1 of 7 repetitions)",
    )


def test_what_was_cut_short_counts_only_where_nothing_is_whole(tmp_path: Path) -> None:
    def cut(some: slice) -> Report:
        def changer(data: dict[str, Any]) -> None:
            for i, entry in enumerate(iterations(data)):
                entry.update(inflight=1)
                if i in range(7)[some]:
                    entry.update(partial=True, throughput_per_second=1.0)

        return report_data.make([copied(tmp_path, changer)])

    series, point = only(cut(slice(0, 2)))
    assert (point.repetitions, point.partial) == (5, False) and point.values["throughput"].middle > 1
    assert series.ideal_rate == point.values["throughput"].middle
    report = cut(slice(0, 7))
    series, point = only(report)
    assert (point.repetitions, point.partial, point.values["throughput"].middle) == (7, True, 1)
    assert report.partial == "1 of 1 result files was cut short." and series.ideal_rate is None and series.fit is None


def test_points_that_measured_nothing_are_failures_and_no_points(tmp_path: Path) -> None:
    def nothing(data: dict[str, Any]) -> None:
        for entry in iterations(data):
            entry.update(completed=0, error_message="cannot connect")

    path = copied(tmp_path, nothing)
    report = report_data.make([path])
    assert report.series[0].points == () and report.series[0].fit is None
    assert report.partial == "Nothing was measured."
    assert report.failures[0] == f"{path}, 4 in flight, repetition 1: not measured: cannot connect"
    assert len(report.failures) == 7
    json.dumps(report.data, allow_nan=False)


# Series.


def test_a_series_for_each_variant(report: Report) -> None:
    assert [s.title for s in report.series] == ["unary.cq.shared", "unary.cq.separate", *NAMES[:2]]
    assert [s.id for s in report.series][:2] == ["unary-cq-shared", "unary-cq-separate"]
    assert [(s.method, s.api, s.sharing) for s in report.series][1:3] == [
        ("unary", "cq", "separate"), ("streaming", "sync", "shared")
    ]  # fmt: skip
    for series in report.series:
        assert [p.load.number for p in series.points] == [1, 4, 16] and {p.repetitions for p in series.points} == {6}
        assert series.ideal_rate == at(series, 1).values["throughput"].middle


def test_series_of_plain_files_have_their_settings_in_words(tmp_path: Path) -> None:
    def spread(data: dict[str, Any]) -> None:
        data["context"]["servers"][0].update(num_cqs=8)

    copied(tmp_path, spread, "b.json")
    copied(tmp_path, lambda data: None, "a.json")
    copied(tmp_path, lambda data: data["context"].update(channel_policy="distinct-args"), "c.json")
    report = report_data.make([tmp_path])
    assert [(s.id, s.setting) for s in report.series] == [
        ("unary-sync-separate-server-cq-2-x-1-100-posted-distinct-args", "server cq 2 x 1, 100 posted, distinct-args"),
        ("unary-sync-separate-server-cq-2-x-1-100-posted-local-pool", "server cq 2 x 1, 100 posted, local-pool"),
        ("unary-sync-separate-server-cq-8-x-1-100-posted-local-pool", "server cq 8 x 1, 100 posted, local-pool"),
    ]
    assert report.title == f"gRPC performance: {tmp_path.name}"


def test_runs_of_one_setting_are_repetitions_and_one_file_twice_is_not(tmp_path: Path) -> None:
    first, second = (copied(tmp_path, lambda data: None, name) for name in ("a.json", "b.json"))
    assert only(report_data.make([first, second]))[1].repetitions == 14
    assert only(report_data.make([first, tmp_path / "." / "a.json"]))[1].repetitions == 7


def test_variants_of_two_experiments_are_not_put_together(tmp_path: Path) -> None:
    folders = [Path(shutil.copytree(EXPERIMENT, tmp_path / name)) for name in ("first", "second")]
    report = report_data.make(folders)
    assert len(report.series) == 8 and len({s.id for s in report.series}) == 8
    assert {p.repetitions for s in report.series for p in s.points} == {6}
    assert {s.title for s in report.series} == {f"{f}: {n}" for f in ("first", "second") for n in NAMES}


def test_a_variant_that_measured_two_things_is_two_series(folder: Path) -> None:
    path = folder / "raw/unary.cq.shared/06.json"
    change(path, lambda data: data["context"].update(mode="streaming"))
    report = report_data.make([folder])
    split = [s for s in report.series if s.title.startswith("unary.cq.shared")]
    assert [(s.method, at(s, 4).repetitions) for s in split] == [("unary", 5), ("streaming", 1)]
    assert len({s.title for s in split}) == len({s.id for s in split}) == 2


def test_ids_of_names_that_look_alike_differ(folder: Path) -> None:
    for old, new in (("unary.cq.shared", "a.b"), ("unary.cq.separate", "A b"), ("streaming.sync.shared", "ä")):
        (folder / "raw" / old).rename(folder / "raw" / new)
    made = report_data.make_all([folder])
    assert [s.id for s in made.report.series] == ["a-b", "a-b-2", "series", "streaming-sync-separate"]
    assert len(made.hgrm) == 12


def test_hostile_names_become_ids_and_one_line(folder: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>\x1b[2J\u202e" + "x" * 150
    (folder / "raw/unary.cq.shared").rename(folder / f"raw/{hostile.replace('/', '')}")
    change(folder / "manifest.json", lambda m: m["experiment"]["experiment"].update(title=f"a\nb{hostile}"))
    change(folder / "manifest.json", lambda m: m["notes"].append("x\ny"))
    made = report_data.make_all([folder])
    texts = [made.report.title, *made.report.notes, *(s.title for s in made.report.series)]
    assert all(text.isprintable() for text in texts) and made.report.title.startswith("a b</script>")
    assert all(re.fullmatch(r"[a-z0-9-]{1,110}", s.id) for s in made.report.series)
    assert all(re.fullmatch(r"[a-z0-9-]+\.hgrm", name) for name in made.hgrm)


def test_commands_are_exact(report: Report) -> None:
    units = json.loads((EXPERIMENT / "manifest.json").read_text())["units"]
    for series in report.series:
        (unit,) = [u for u in units if u["variant"] == series.title and u["repetition"] == 1]
        assert (series.client_command, series.server_command) == (unit["client_command"], unit["server_command"])
    series, _ = only(report_data.make([REPETITIONS]))
    assert series.client_command.startswith("bin/grpc_ping_client --port ") and series.server_command == ""


def test_a_command_of_another_repetition_does_when_the_first_has_none(folder: Path) -> None:
    def forget(manifest: dict[str, Any]) -> None:
        for unit in manifest["units"]:
            if unit["repetition"] in (1, 2):
                unit.pop("server_command")

    change(folder / "manifest.json", forget)
    assert "/03.json" in report_data.make([folder]).series[0].client_command


# The law, the verdict.


def test_the_law_is_drawn_beyond_the_last_count(folder: Path) -> None:
    report = report_data.make([DATA / "verdict"])
    for series in report.series:
        assert series.fit is not None
        counts = [n for n, _ in series.fit.curve]
        assert len(counts) == 60 and counts == sorted(counts)
        assert (counts[0], counts[-1]) == (1, pytest.approx(series.points[-1].load.number * 1.25))
        assert (f"{series.sharing} " in series.fit.words) and ("R2" in series.fit.words)
        seen = series.points[-1].values["throughput"].middle
        assert dict(series.fit.curve)[counts[-1]] == pytest.approx(seen, rel=0.4)


def test_fits_are_the_verdicts_own_and_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    fit = usl.fit
    monkeypatch.setattr(usl, "fit", lambda values: calls.append(1) or fit(values))
    report = report_data.make([DATA / "verdict"])
    assert len(calls) == len(report.series) == 4
    assert not any(s.fit is None or s.fit.poor for s in report.series)


def test_points_with_failed_calls_are_not_fitted(tmp_path: Path) -> None:
    report = report_data.make([DATA / "verdict/unary-cq-shared.json"])
    path = Path(shutil.copy(DATA / "verdict/unary-cq-shared.json", tmp_path))

    def fail(data: dict[str, Any]) -> None:
        for entry in iterations(data):
            if entry["inflight"] == 32:
                entry.update(failed=1, throughput_per_second=1e9)

    failed = report_data.make([change(path, fail)])
    assert failed.series[0].fit is not None and failed.series[0].fit.curve[-1][0] == pytest.approx(16 * 1.25)
    assert failed.series[0].points[-1].values["throughput"].middle == 1e9
    assert report.series[0].fit is not None and report.series[0].fit.curve[-1][0] == pytest.approx(32 * 1.25)


def test_poor_fits_say_so(report: Report) -> None:
    assert {s.fit.poor for s in report.series if s.fit} == {True}
    assert all("only 3 in-flight counts" in s.fit.words for s in report.series if s.fit)


def test_findings_are_the_verdicts(report: Report) -> None:
    judgement = verdict.judge_runs(runs.read_all([EXPERIMENT]))
    assert report.summary == verdict_text.summary(judgement)
    assert [f.verdict for f in report.findings] == [f.verdict.value for f in judgement.findings]
    for ours, theirs in zip(report.findings, judgement.findings, strict=True):
        assert ours.title == verdict_text.title(theirs) and ours.words == verdict_text.verdict_words(theirs)
        assert ours.text.splitlines() == verdict_text.block(theirs) and ours.set


# The experiment.


def test_an_experiment_says_what_was_asked_and_when(report: Report) -> None:
    assert report.title == "Shared against separate connections, in short"
    assert report.question == "What does it cost when all calls share one TCP connection?"
    assert report.made == "2026-11-21T09:25:41+00:00" and report.partial == "" and report.failures == ()
    assert report.notes[0].startswith("other programs keep")


def test_the_machine(report: Report) -> None:
    rows = dict(report.machine)
    assert rows["Client CPU"] == rows["Server CPU"] == "AMD EPYC"
    assert (rows["Client CPUs allowed"], rows["Server CPUs allowed"]) == ("0", "1")
    assert rows["Client gRPC"] == rows["Server gRPC"] == "1.51.1" and rows["Client protobuf"] == "3.21.12"
    assert rows["Client kernel"] == "Linux 6.1.0 x86_64" and rows["Client compiler"].startswith("g++")
    assert rows["Client clock source"] == "tsc" and rows["git revision of cqbench"] == "0" * 40
    assert rows["Pinning"].startswith("server on CPU 1, client on CPU 0")
    assert rows["Warm-up and interval"] == "0.1 s + 0.25 s"
    assert rows["Order"].startswith("24 runs, random within each repetition, seed 3: ")
    assert all(label and value for label, value in report.machine)


def test_what_differs_between_runs_is_listed(tmp_path: Path) -> None:
    paths = [
        copied(tmp_path, lambda data, i=i: data["context"].update(grpc_version=f"1.{i}"), f"{i}.json") for i in range(8)
    ]
    assert dict(report_data.make(paths).machine)["Client gRPC"] == "1.0; 1.1; 1.2; 1.3; 1.4; 1.5; and 2 more"


def test_missing_and_failed_runs_are_said(folder: Path) -> None:
    def stop(manifest: dict[str, Any]) -> None:
        manifest["partial"] = True
        for unit, status in zip(manifest["units"], ("failed", "interrupted", "pending", "pending")):
            unit.update(status=status, reason="no\nluck" if status == "failed" else "")
            (folder / unit["file"]).unlink()

    change(folder / "manifest.json", stop)
    report = report_data.make([folder])
    first = json.loads((folder / "manifest.json").read_text())["units"][0]
    assert report.partial == "3 of 24 runs are missing."
    assert report.failures == (f"{first['variant']}, repetition {first['repetition']}: no luck",)


def test_an_experiment_in_which_nothing_was_measured_yet(folder: Path) -> None:
    shutil.rmtree(folder / "raw")

    def nothing(manifest: dict[str, Any]) -> None:
        manifest.update(partial=True, ended=None)
        for unit in manifest["units"]:
            unit.update(status="pending")

    change(folder / "manifest.json", nothing)
    report = report_data.make([folder])
    assert report.partial == "24 of 24 runs are missing; nothing was measured." and report.series == ()
    assert report.title == "Shared against separate connections, in short" and report.findings == ()
    json.dumps(report.data, allow_nan=False)


def test_an_experiment_that_was_killed_has_not_ended(folder: Path) -> None:
    change(folder / "manifest.json", lambda m: m.update(partial=True, ended=None))
    assert report_data.make([folder]).partial == "The experiment has not ended."


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"manifest_version": 99}', "\xff"])
def test_a_manifest_that_cannot_be_read_costs_what_it_says_and_no_more(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    report = report_data.make([folder])
    assert "manifest.json" in report.partial and report.partial.startswith("Whether anything is missing is not known")
    assert len(report.series) == 4 and report.series[0].client_command.startswith("bin/grpc_ping_client")


@pytest.mark.parametrize("value", [None, 3, "x\n", [], {}, [None], {"a": None}, [{"a": 1}], True])
def test_a_manifest_with_wrong_types_does_no_harm(tmp_path: Path, value: Any) -> None:
    manifest = json.loads((EXPERIMENT / "manifest.json").read_text())
    for key in manifest:
        (tmp_path / "manifest.json").write_text(json.dumps({**manifest, key: value}))
        report = report_data.make([tmp_path])
        texts = [report.title, report.question, report.made, report.partial, *report.notes, *report.failures]
        texts += [text for row in report.machine for text in row]
        assert all(isinstance(text, str) and text.isprintable() for text in texts) and report.partial


@pytest.mark.parametrize("value", [None, 3, [], {"variant": []}, {"variant": "unary.cq.shared", "repetition": {}}])
def test_a_unit_with_wrong_types_does_no_harm(folder: Path, value: Any) -> None:
    change(folder / "manifest.json", lambda m: m.update(units=[value, *m["units"]]))
    report = report_data.make([folder / "raw/unary.cq.shared/01.json", folder])
    assert by_title(report, "unary.cq.shared").server_command


def test_doubts_about_everything_are_notes(tmp_path: Path) -> None:
    doubt = "client and server share CPUs (0 and 0): pin them apart with taskset or numactl"
    path = copied(tmp_path, lambda data: data["context"].update(suspect=[doubt], notes=["no control service"]))
    assert report_data.make([path]).notes == (f"every point: suspect: {doubt}", "no control service")
    other = copied(tmp_path, lambda data: None, "b.json")
    assert report_data.make([path, other]).notes[0] == f"every point of 1 of 2 result files: suspect: {doubt}"


# Distributions.


def test_distributions_hold_all_repetitions(report: Report) -> None:
    for series in report.series:
        assert [d.load.number for d in series.distributions] == [1, 4, 16]
        for distribution in series.distributions:
            files = sorted((EXPERIMENT / "raw" / series.title).glob("*.json"))
            entries = [e for f in files for e in json.loads(f.read_text())["benchmarks"]]
            entries = [e for e in entries if e["inflight"] == distribution.load.number]
            assert distribution.calls == sum(e["latency_samples"] for e in entries)
            medians = [e["latency_p50_ns"] / 1000 for e in entries]
            assert min(medians) <= dict(distribution.steps)[0.5] <= max(medians) * 1.001


def test_hgrm_files_are_named_by_series_and_count() -> None:
    made = report_data.make_all([EXPERIMENT])
    assert sorted(made.hgrm) == sorted(f"{s.id}-{n}.hgrm" for s in made.report.series for n in (1, 4, 16))


@pytest.mark.parametrize("which", [slice(0, 1), slice(0, 7)])
def test_without_histograms_there_are_no_distributions(tmp_path: Path, which: slice) -> None:
    path = copied(tmp_path, lambda data: [entry.pop("latency_histogram") for entry in iterations(data)[which]])
    made = report_data.make_all([path])
    assert made.report.series[0].distributions == () and made.hgrm == {}


def test_a_broken_histogram_is_named(tmp_path: Path) -> None:
    path = copied(tmp_path, lambda data: iterations(data)[3].update(latency_histogram="HISTFAAAx"))
    where = f"{path}: 'latency_histogram' of 4 in flight, repetition 4: "
    with pytest.raises(BadDocument, match=re.escape(where)):
        report_data.make([path])


# Results of other kinds.


def test_older_results(tmp_path: Path) -> None:
    for name in ("unary-sync-shared.json", "partial.json", "killed.json", "pool.json", "version-2.json"):
        report = report_data.make([DATA / name])
        assert report.series and report.summary and report.made, name
        json.dumps(report.data, allow_nan=False)
    assert "was cut short" in report_data.make([DATA / "partial.json"]).partial


def test_one_repetition_has_no_intervals() -> None:
    for series in report_data.make([DATA / "unary-sync-shared.json"]).series:
        assert series.points and all(v.low is None for p in series.points for v in p.values.values())
        assert not any("repetitions)" in reason for p in series.points for reason in p.suspect)


def test_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadDocument, match="no result files in it"):
        report_data.make([tmp_path])
    with pytest.raises(BadDocument, match="No such file"):
        report_data.make([tmp_path / "absent.json"])


# For download.


def test_the_download_has_all_figures(report: Report) -> None:
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert [s["title"] for s in data["series"]] == [s.title for s in report.series]
    for ours, theirs in zip(data["series"], report.series, strict=True):
        assert ours["inflight"] == [p.load.number for p in theirs.points]
        for i, point in enumerate(theirs.points):
            for key, figures in ours["figures"].items():
                value = point.values.get(key)
                expected = [value.middle, value.low, value.high] if value else [None] * 3
                assert [figures[name][i] for name in ("median", "low", "high")] == expected
                assert len(figures["repetitions"][i]) == 6
            assert {k for k, f in ours["figures"].items() if f["median"][i] is not None} == set(point.values)
    found = json.loads((EXPERIMENT / "raw/unary.cq.shared/02.json").read_text())["benchmarks"][1]
    second = data["series"][0]["figures"]["throughput"]["repetitions"][1][1]
    assert second == pytest.approx(found["throughput_per_second"], rel=1e-5)


def test_the_download_has_the_verdict(report: Report) -> None:
    judged = verdict.to_json(verdict.judge_runs(runs.read_all([EXPERIMENT])))
    ours = report.data["verdict"]
    assert [f["verdict"] for f in ours["findings"]] == [f["verdict"] for f in judged["findings"]]
    row, full = ours["findings"][0]["rows"][1], judged["findings"][0]["rows"][1]
    assert row["throughput_ratio"]["value"] == pytest.approx(full["throughput_ratio"]["value"], rel=1e-5)
    assert row["shared"]["regime"] == full["shared"]["regime"]
    assert "evidence" not in row["shared"]  # it is in the series


def test_the_download_is_compact(report: Report) -> None:
    numbers = re.findall(r"-?\d+\.\d+(?:e-?\d+)?", json.dumps(report.data["series"]))
    assert numbers and max(len(n.lstrip("-0.").replace(".", "").partition("e")[0]) for n in numbers) <= 7


def test_points_are_made_of_what_was_used() -> None:
    (run,) = runs.read_all([REPETITIONS])
    found = list(report_points.repetitions(run))
    halves = [replace(r, measured=replace(r.measured, partial=i > 2)) for i, r in enumerate(found)]
    assert report_points.used(halves) == halves[:3] and report_points.used(halves[3:]) == halves[3:]
