"""Results -> the report's data: figures, intervals, marks, the fitted law, distributions, what can be downloaded."""

from __future__ import annotations

import functools
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cqbench.formats import runs
from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.source import BadDocument
from cqbench.model.figures import CLIENT_CPU, P50, P90, P99, P99_9, PERCENTILES, SERVER_CPU, at_both_ends
from cqbench.render.report import data, points
from cqbench.render.report.model import Report, Value
from cqbench.render.report.values import SHOWN, describe
from report_results import DATA, EXPERIMENT, REPETITIONS, at, by_title, change, copied, iterations, only

# Figures for which the client has its own statistics, too.
ENDS = ("cores_used", "rpcs_per_segment_sent", "connection_busy_share_median")
STATED = (THROUGHPUT, P50, P90, P99, CLIENT_CPU, SERVER_CPU, *(name for of in ENDS for name in at_both_ends(of)))


@pytest.fixture(scope="module")
def report() -> Report:
    """Returns the report of the stored experiment."""
    return data.make([EXPERIMENT])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the stored experiment to be changed."""
    return Path(shutil.copytree(EXPERIMENT, tmp_path / "sharing"))


# Figures.


def test_medians_and_intervals_are_those_of_the_client() -> None:
    _, point = only(data.make([REPETITIONS]))
    (own,) = json.loads(REPETITIONS.read_text())["statistics"]
    for key in STATED:
        theirs, ours = own["figures"][key], point.values[key]
        # The client rounds statistics from 1000 on to integers.
        expected = [theirs[name] for name in ("median", "ci95_low", "ci95_high")]
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


def test_figures_are_those_of_the_results_in_their_units(tmp_path: Path) -> None:
    def one(data: dict[str, Any]) -> None:
        data["benchmarks"] = [{
            **iterations(data)[0], "throughput_per_second": 1000.0, "latency_p50_ns": 2000, "latency_p99_9_ns": 9000,
            "client_cpu_per_rpc_ns": 3500, "server_cores_used": 0.25, "client_connection_busy_share_median": 0.5,
            "connections": 4, "server_rpcs": 1000.0, "server_rpcs_per_queue_min": 200.0,
            "server_rpcs_per_queue_max": 800.0,
        }]  # fmt: skip
        data["context"]["servers"][0]["num_cqs"] = 2

    _, point = only(data.make([copied(tmp_path, one)]))
    expected = {
        THROUGHPUT: 1000, P50: 2000, P99_9: 9000, CLIENT_CPU: 3500, "server_cores_used": 0.25,
        "client_connection_busy_share_median": 0.5, "connections": 4, "rpcs_per_queue_fewest_of_mean": 0.4,
        "rpcs_per_queue_most_of_mean": 1.6,
    }  # fmt: skip
    assert {key: point.values[key].middle for key in expected} == expected
    assert set(point.values) <= {figure.name for figure in SHOWN}


def test_shares_of_queues_are_absent_where_their_number_is_not_known(tmp_path: Path) -> None:
    several: list[list[dict[str, Any]]] = [[], [{"num_cqs": "2"}], [{}], [{"num_cqs": 2}, {}]]
    for servers in several:
        path = copied(tmp_path, lambda data: None)
        change(path, functools.partial(lambda servers, data: data["context"].update(servers=servers), servers))
        _, point = only(data.make([path]))
        assert "rpcs_per_queue_fewest_of_mean" not in point.values and THROUGHPUT in point.values


def test_a_percentile_that_a_repetition_does_not_have_is_absent(tmp_path: Path) -> None:
    _, point = only(data.make([REPETITIONS]))
    assert P99 in point.values and P99_9 not in point.values
    path = copied(tmp_path, lambda data: iterations(data)[2].pop("latency_p99_ns"))
    _, point = only(data.make([path]))
    assert P99 not in point.values and P90 in point.values


def test_evidence_that_a_repetition_does_not_have_leaves_the_others(tmp_path: Path) -> None:
    path = copied(tmp_path, lambda data: iterations(data)[2].pop("server_cpu_per_rpc_ns"))
    entries = iterations(json.loads(path.read_text()))
    values = sorted(e["server_cpu_per_rpc_ns"] for e in entries if "server_cpu_per_rpc_ns" in e)
    _, point = only(data.make([path]))
    assert len(values) == 6
    assert point.values[SERVER_CPU].middle == pytest.approx((values[2] + values[3]) / 2, rel=1e-5)


def test_results_without_evidence_have_the_clients_own_figures(report: Report) -> None:
    own = {THROUGHPUT, *PERCENTILES, "connections", "calls_per_slot_fewest_of_mean", "calls_per_slot_most_of_mean"}
    assert set(at(by_title(report, "unary.cq.shared"), 4).values) <= own
    assert {SERVER_CPU, "client_connection_busy_share_median"} <= set(
        at(by_title(report, "streaming.sync.shared"), 4).values
    )


# Marks.


def test_reasons_are_given_once_with_how_often(tmp_path: Path) -> None:
    def warning(data: dict[str, Any]) -> None:
        for i, entry in enumerate(iterations(data)):
            said = [f"other processes used 0.{i} of the 1 CPU(s) of the client"] if i < 3 else []
            said += [f"the hypervisor took {n} % of a CPU" for n in (7, 9) if i == 5]
            entry["warnings"] = [{"code": text.split()[0], "text": text} for text in said]
            entry["notes"] = (
                [{"code": "client-cpu-saturated", "text": "CPU-bound: this measures CPU"}] if i == 5 else []
            )

    _, point = only(data.make([copied(tmp_path, warning)]))
    assert point.warnings == (
        "other processes used 0.0 of the 1 CPU(s) of the client (in 3 of 7 repetitions)",
        "the hypervisor took 7 % of a CPU (in 1 of 7 repetitions)",
    )
    assert point.saturated == ("CPU-bound: this measures CPU (in 1 of 7 repetitions)",)


def test_failed_calls_and_warnings_mark_a_point_that_is_shown(tmp_path: Path) -> None:
    def fail(data: dict[str, Any]) -> None:
        for entry in iterations(data):
            said = "policy local-pool promises 4 connection(s), this process has 5"
            entry.update(warnings=[{"code": "connections", "text": said}])
        iterations(data)[1].update(failed=3, errors=[{"code": "UNAVAILABLE", "count": 3, "first_message": "gone\n<b>"}])

    series, point = only(data.make([copied(tmp_path, fail)]))
    assert point.repetitions == 7 and THROUGHPUT in point.values
    assert point.warnings == (
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

        return data.make([copied(tmp_path, changer)])

    series, point = only(cut(slice(0, 2)))
    assert (point.repetitions, point.partial) == (5, False) and point.values[THROUGHPUT].middle > 1
    assert series.ideal_rate == point.values[THROUGHPUT].middle
    report = cut(slice(0, 7))
    series, point = only(report)
    assert (point.repetitions, point.partial, point.values[THROUGHPUT].middle) == (7, True, 1)
    assert report.partial == "1 of 1 result files was cut short." and series.ideal_rate is None and series.fit is None


def test_points_that_measured_nothing_are_failures_and_no_points(tmp_path: Path) -> None:
    def nothing(data: dict[str, Any]) -> None:
        for entry in iterations(data):
            entry.update(completed=0, error_message="cannot connect")

    path = copied(tmp_path, nothing)
    report = data.make([path])
    assert report.series[0].points == () and report.series[0].fit is None
    assert report.partial == "Nothing was measured."
    assert report.failures[0] == f"{path}, 4 in flight, repetition 1: not measured: cannot connect"
    assert len(report.failures) == 7
    json.dumps(report.data, allow_nan=False)


# The law, the verdict.


def test_the_law_is_drawn_beyond_the_last_count(folder: Path) -> None:
    report = data.make([DATA / "verdict"])
    for series in report.series:
        assert series.fit is not None
        counts = [n for n, _ in series.fit.curve]
        assert len(counts) == 60 and counts == sorted(counts)
        assert counts[0] == 1 and counts[-1] == pytest.approx(series.points[-1].load.number * 1.25)
        assert (f"{series.sharing} " in series.fit.words) and ("R2" in series.fit.words)
        seen = series.points[-1].values[THROUGHPUT].middle
        assert dict(series.fit.curve)[counts[-1]] == pytest.approx(seen, rel=0.4)


def test_points_with_failed_calls_are_not_fitted(tmp_path: Path) -> None:
    report = data.make([DATA / "verdict/unary-cq-shared.json"])
    path = Path(shutil.copy(DATA / "verdict/unary-cq-shared.json", tmp_path))

    def fail(data: dict[str, Any]) -> None:
        for entry in iterations(data):
            if entry["inflight"] == 32:
                entry.update(failed=1, throughput_per_second=1e9)

    failed = data.make([change(path, fail)])
    assert failed.series[0].fit is not None and failed.series[0].fit.curve[-1][0] == pytest.approx(16 * 1.25)
    assert failed.series[0].points[-1].values[THROUGHPUT].middle == 1e9
    assert report.series[0].fit is not None and report.series[0].fit.curve[-1][0] == pytest.approx(32 * 1.25)


def test_poor_fits_say_so(report: Report) -> None:
    assert {s.fit.poor for s in report.series if s.fit} == {True}
    assert all("only 3 in-flight counts" in s.fit.words for s in report.series if s.fit)


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
    made = data.make_all([EXPERIMENT])
    assert sorted(made.hgrm) == sorted(f"{s.id}-{n}.hgrm" for s in made.report.series for n in (1, 4, 16))


@pytest.mark.parametrize("which", [slice(0, 1), slice(0, 7)])
def test_without_histograms_there_are_no_distributions(tmp_path: Path, which: slice) -> None:
    path = copied(tmp_path, lambda data: [entry.pop("latency_histogram") for entry in iterations(data)[which]])
    made = data.make_all([path])
    assert made.report.series[0].distributions == () and made.hgrm == {}


def test_a_broken_histogram_is_named(tmp_path: Path) -> None:
    path = copied(tmp_path, lambda data: iterations(data)[3].update(latency_histogram="HISTFAAAx"))
    where = f"{path}: 'latency_histogram' of 4 in flight, repetition 4: "
    with pytest.raises(BadDocument, match=re.escape(where)):
        data.make([path])


# For download.


def test_the_download_is_the_report(report: Report) -> None:
    plain = json.loads(json.dumps(report.data, allow_nan=False))
    assert [s["title"] for s in plain["series"]] == [s.title for s in report.series]
    for ours, theirs in zip(plain["series"], report.series, strict=True):
        assert [p["load"] for p in ours["points"]] == [p.load.number for p in theirs.points]
        for mine, point in zip(ours["points"], theirs.points, strict=True):
            for key, value in point.values.items():
                assert mine["values"][key] == {"middle": value.middle, "low": value.low, "high": value.high}
            assert mine["values"].keys() == point.values.keys() and len(mine["runs"]) == 6
    found = json.loads((EXPERIMENT / "raw/unary.cq.shared/02.json").read_text())["benchmarks"][1]
    second = plain["series"][0]["points"][1]["runs"][1]
    assert second["values"][THROUGHPUT] == pytest.approx(found["throughput_per_second"], rel=1e-5)
    assert second["number"] == 2
    assert [one["answer"]["word"] for one in plain["verdicts"]] == [one.answer.word for one in report.verdicts]
    assert plain["against"][0]["values"]["4"][THROUGHPUT].keys() == {"middle", "low", "high"}


def test_the_download_is_compact(report: Report) -> None:
    numbers = re.findall(r"-?\d+\.\d+(?:e-?\d+)?", json.dumps(report.data["series"]))
    assert numbers and max(len(n.lstrip("-0.").replace(".", "").partition("e")[0]) for n in numbers) <= 7


def test_points_are_made_of_what_was_used() -> None:
    (run,) = runs.read_all([REPETITIONS])
    found = list(points.repetitions(run))
    halves = [replace(r, measured=r.measured.model_copy(update={"partial": i > 2})) for i, r in enumerate(found)]
    assert points.used(halves) == halves[:3] and points.used(halves[3:]) == halves[3:]
