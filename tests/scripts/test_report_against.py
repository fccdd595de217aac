"""Baselines of series in a report, the findings' cards, and the tables of failed calls and lower bounds."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cqbench.analysis.verdict import whole
from cqbench.formats import runs
from cqbench.formats.figures import THROUGHPUT
from cqbench.model.figures import P50
from cqbench.render.report import data
from cqbench.render.report.model import Report
from cqbench.render.verdict import answer
from cqbench.stats import ratios
from report_results import DATA, EXPERIMENT, REPETITIONS, by_title, change, copied, iterations


@pytest.fixture(scope="module")
def report() -> Report:
    """Returns the report of the stored experiment."""
    return data.make([EXPERIMENT])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the stored experiment to be changed."""
    return Path(shutil.copytree(EXPERIMENT, tmp_path / "sharing"))


def pairs(report: Report, axis: str = "") -> list[tuple[str, str, str]]:
    titles = [s.title for s in report.series]
    return [(a.title, titles[a.series], titles[a.base]) for a in report.against if axis in ("", a.axis)]


def axes(report: Report) -> list[str]:
    return list(dict.fromkeys(a.axis for a in report.against))


# Comparisons.


def test_connections_are_the_question_wherever_they_vary(report: Report) -> None:
    assert axes(report)[0] == "connections"
    assert pairs(report, "connections") == [
        ("separate ÷ shared", "unary.cq.separate", "unary.cq.shared"),
        ("separate ÷ shared", "streaming.sync.separate", "streaming.sync.shared"),
    ]


def test_ratios_are_of_neighbours_in_time(report: Report) -> None:
    one = report.against[0]
    for load, values in one.values.items():
        above, below = (
            {r.number: r.values[THROUGHPUT] for p in report.series[i].points if p.load == load for r in p.runs}
            for i in (one.series, one.base)
        )
        expected = ratios.paired((above[n], below[n]) for n in above)
        assert expected and expected.paired and expected.low is not None
        ratio = values[THROUGHPUT]
        assert (ratio.middle, ratio.low) == pytest.approx((expected.value, expected.low), rel=1e-4)
    assert [load.number for load in one.values] == [1, 4, 16]


def test_any_axis_is_compared_with_its_first_value(folder: Path) -> None:
    def retries(manifest: dict[str, Any]) -> None:
        values = [{"name": name} for name in ("separate", "shared")]
        axis = [{"name": "mode", "values": [{"name": "streaming"}, {"name": "unary"}]}]
        axis += [{"name": "api", "values": [{"name": "sync"}, {"name": "cq"}]}, {"name": "retries", "values": values}]
        manifest["experiment"].pop("configuration")
        manifest["experiment"]["axis"] = axis

    change(folder / "manifest.json", retries)
    for path in folder.glob("raw/*/*.json"):
        change(path, lambda found: found["context"].update(channel_policy="per-slot"))
    report = data.make([folder])
    assert axes(report) == ["retries"]
    assert [title for title, _, _ in pairs(report)] == ["shared ÷ separate"] * 2


def test_a_list_of_configurations_is_one_axis(folder: Path) -> None:
    def listed(manifest: dict[str, Any]) -> None:
        experiment = manifest["experiment"]
        experiment.pop("axis", None)
        names = ("unary.cq.separate", "unary.cq.shared", "streaming.sync.shared", "streaming.sync.separate")
        experiment["configuration"] = [{"name": name} for name in names]

    change(folder / "manifest.json", listed)
    report = data.make([folder])
    assert axes(report) == ["connections", "configuration"]
    assert [(series, base) for _, series, base in pairs(report, "configuration")] == [
        ("unary.cq.shared", "unary.cq.separate"),
        ("streaming.sync.separate", "streaming.sync.shared"),
    ]


def test_files_without_an_experiment_vary_in_their_connections() -> None:
    report = data.make([DATA / "verdict"])
    assert axes(report) == ["connections"]
    assert [title for title, _, _ in pairs(report)] == ["separate ÷ shared"] * 2


def test_separate_connections_alone_are_compared_with_nothing() -> None:
    assert data.make([DATA / "verdict/unary-cq-separate.json"]).against == ()
    assert (
        data.make([DATA / "verdict/unary-cq-separate.json", DATA / "verdict/streaming-sync-shared.json"]).against == ()
    )


def test_two_runs_of_an_experiment_are_compared_with_each_other_first(folder: Path) -> None:
    for path in folder.glob("raw/*/*.json"):
        change(
            path,
            lambda found: [e.update(throughput_per_second=2 * e["throughput_per_second"]) for e in iterations(found)],
        )
    report = data.make([EXPERIMENT, folder])
    assert axes(report)[:2] == ["run", "connections"]
    assert pairs(report, "run")[0] == ("B ÷ A", "B: unary.cq.shared", "A: unary.cq.shared")
    assert len(pairs(report, "run")) == 4 and len(pairs(report, "connections")) == 4
    ratios = [v[THROUGHPUT].middle for a in report.against if a.axis == "run" for v in a.values.values()]
    assert ratios == pytest.approx([2] * 12)
    assert [(one.name, len(one.cards)) for one in report.verdicts] == [("A", 2), ("B", 2)]


def test_ratios_of_two_sessions_have_no_interval(folder: Path) -> None:
    """Repetitions of a session say nothing about what sessions differ by; those of one session are paired."""
    of_runs, inside = (
        [v[THROUGHPUT] for a in data.make([EXPERIMENT, folder]).against if a.axis == axis for v in a.values.values()]
        for axis in ("run", "connections")
    )
    assert of_runs and all(ratio.low is None and ratio.high is None for ratio in of_runs)
    assert inside and all(ratio.low is not None for ratio in inside)


def test_intervals_within_a_budget_hold_at_every_look(folder: Path) -> None:
    def widths() -> list[float]:
        found = [v[THROUGHPUT] for a in data.make([folder]).against for v in a.values.values()]
        return [r.high / r.low for r in found if r.low is not None and r.high is not None]

    before = widths()
    change(folder / "manifest.json", lambda manifest: manifest["experiment"]["experiment"].update(budget="2m"))
    after = widths()
    assert before and len(before) == len(after) and all(b < a for b, a in zip(before, after, strict=True))


def test_a_percentile_that_some_repetition_lacks_has_no_ratio(folder: Path) -> None:
    def forget(found: dict[str, Any]) -> None:
        for entry in iterations(found):
            entry.pop("latency_p50_ns", None)

    change(folder / "raw/unary.cq.shared/03.json", forget)
    (one,) = [a for a in data.make([folder]).against if a.axis == "connections" and a.series == 1]
    assert all(P50 not in values and THROUGHPUT in values for values in one.values.values())


# Findings.


def test_cards_are_the_verdicts(report: Report) -> None:
    found = whole.judge_runs(runs.read_all([EXPERIMENT]))
    (one,) = report.verdicts
    assert one.answer == answer.make(found) and one.name == ""
    assert [card.title for card in one.cards] == [case.name for case in found.scenarios]
    for card, case in zip(one.cards, found.scenarios, strict=True):
        assert [row[0] for row in card.table.texts] == [f"{row.load.number:.0f}" for row in case.rows]
        assert {len(row) for row in card.table.texts} == {len(card.table.columns)}


def test_the_ratio_in_a_card_is_that_of_the_plot(report: Report) -> None:
    card = next(card for card in report.verdicts[0].cards if "streaming" in card.title)
    (one,) = [a for a in report.against if a.axis == "connections" and report.series[a.series].method == "streaming"]
    told = {row[0]: row[1].split(" ")[0] for row in card.table.texts}
    assert told == {f"{load.number:.0f}": f"{v[THROUGHPUT].middle:.2f}" for load, v in one.values.items()}


def test_the_facts_say_where_how_often_and_how_doubtful(report: Report) -> None:
    facts = dict(report.facts)
    assert facts["Machine"] == "AMD EPYC, client on CPU 0, server on CPU 1"
    assert facts["Versions"].startswith("gRPC 1.51.1, protobuf 3.21.12, cqbench ")
    assert facts["Repetitions"] == "6 of each of 12 points, 0.1 s + 0.25 s (warm-up + interval)"
    assert " of 12 points" in facts["Unreliable"] and facts["Notes"].startswith("other programs keep")


# Tables.


def test_failed_calls_are_counted_by_status_code(tmp_path: Path) -> None:
    def fail(found: dict[str, Any]) -> None:
        for i, entry in enumerate(iterations(found)):
            errors = [{"code": "UNAVAILABLE", "count": 2, "first_message": f"gone {i}\n"}] if i < 2 else []
            entry.update(failed=2 * len(errors), errors=errors)

    report = data.make([copied(tmp_path, fail)])
    total = sum(e["completed"] for e in iterations(json.loads(REPETITIONS.read_text()))) + 4
    ((_, load, code, count, share, message),) = report.errors.texts
    assert (load, code, count, message) == ("4 in flight", "UNAVAILABLE", "4", "gone 0")
    assert float(share.removesuffix(" %")) == pytest.approx(400 / total, rel=1e-3)
    assert data.make([REPETITIONS]).errors.texts == []


def test_failed_calls_of_points_that_measured_nothing_count(tmp_path: Path) -> None:
    def fail(found: dict[str, Any]) -> None:
        for entry in iterations(found):
            errors = [{"code": "DEADLINE_EXCEEDED", "count": 5, "first_message": ""}]
            entry.update(completed=0, failed=5, errors=errors, error_message="no call succeeded")

    ((*_, count, share, _),) = data.make([copied(tmp_path, fail)]).errors.texts
    assert (count, share) == ("35", "100 %")


def test_the_floor_is_beside_the_call(tmp_path: Path) -> None:
    def floor(found: dict[str, Any]) -> None:
        names = {"grpc": 100_000, "tcp-block": 64_000, "tcp-spin": 7_000}
        found["lower_bounds"] = [{"name": n, "latency_p50_ns": ns + d} for n, ns in names.items() for d in (-10, 0, 10)]
        found["lower_bounds"] += [{"name": "tcp-spin", "error_message": "cannot connect"}]

    report = data.make([copied(tmp_path, floor)])
    ((_, grpc, unix, inproc, sleeping, spinning, ratio),) = report.floors.texts
    assert (grpc, unix, inproc, sleeping, spinning, ratio) == ("100", "-", "-", "64", "7", "1.562")
    assert data.make([REPETITIONS]).floors.texts == []


def test_evidence_becomes_figures(tmp_path: Path) -> None:
    def evidence(found: dict[str, Any]) -> None:
        for entry in iterations(found):
            entry.update(
                client_voluntary_context_switches_per_rpc=1.5, client_rtt_min_ns_median=2000, client_cpus_busy=0.9,
                client_cores_used=0.5, completed_per_slot=[10, 30], client_busiest_worker_share=0.8,
                client_cpus=[{"cpu": 0, "steal_share": 0.1}, {"cpu": 1, "steal_share": 0.3}],
                breakdown_unattributed_share=0.6,
            )  # fmt: skip

    values = data.make([copied(tmp_path, evidence)]).series[0].points[0].values
    wanted = {
        "client_voluntary_context_switches_per_rpc": 1.5, "client_rtt_min_ns_median": 2000,
        "client_cpus_busy_elsewhere": 0.4, "client_busiest_worker_share": 0.8, "client_steal_share": 0.2,
        "calls_per_slot_fewest_of_mean": 0.5, "calls_per_slot_most_of_mean": 1.5, "breakdown_unattributed_share": 0.6,
    }  # fmt: skip
    assert {key: values[key].middle for key in wanted} == pytest.approx(wanted)
    assert "breakdown_client_issue_p50_ns" not in values


def test_repetitions_have_their_time_and_number(report: Report) -> None:
    times = [r.at for r in by_title(report, "unary.cq.shared").points[0].runs]
    assert [r.number for r in by_title(report, "unary.cq.shared").points[0].runs] == [1, 2, 3, 4, 5, 6]
    assert all(at is not None and at >= 0 for at in times)
    first = [r.at for s in report.series for p in s.points for r in p.runs if r.at is not None]
    assert min(first) == 0
