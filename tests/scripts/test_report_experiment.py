"""Results -> the report's data: series, what an experiment says of itself, what is missing, older results."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.source import BadDocument
from cqbench.render.report import data
from cqbench.render.report.model import Report
from report_results import DATA, EXPERIMENT, NAMES, REPETITIONS, at, by_title, change, copied, only


@pytest.fixture(scope="module")
def report() -> Report:
    """Returns the report of the stored experiment."""
    return data.make([EXPERIMENT])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the stored experiment to be changed."""
    return Path(shutil.copytree(EXPERIMENT, tmp_path / "sharing"))


# Series.


def test_a_series_for_each_configuration(report: Report) -> None:
    assert [s.title for s in report.series] == ["unary.cq.shared", "unary.cq.separate", *NAMES[:2]]
    assert [s.id for s in report.series][:2] == ["unary-cq-shared", "unary-cq-separate"]
    assert [(s.method, s.api, s.sharing) for s in report.series][1:3] == [
        ("unary", "cq", "separate"), ("streaming", "sync", "shared")
    ]  # fmt: skip
    for series in report.series:
        assert [p.load.number for p in series.points] == [1, 4, 16] and {p.repetitions for p in series.points} == {6}
        assert series.ideal_rate == at(series, 1).values[THROUGHPUT].middle


def test_series_of_plain_files_have_their_settings_in_words(tmp_path: Path) -> None:
    def spread(data: dict[str, Any]) -> None:
        data["context"]["servers"][0].update(num_cqs=8)

    copied(tmp_path, spread, "b.json")
    copied(tmp_path, lambda data: None, "a.json")
    copied(tmp_path, lambda data: data["context"].update(channel_policy="distinct-args"), "c.json")
    report = data.make([tmp_path])
    assert [(s.id, s.setting) for s in report.series] == [
        ("unary-sync-separate-server-cq-2-x-1-100-posted-distinct-args", "server cq 2 x 1, 100 posted, distinct-args"),
        ("unary-sync-separate-server-cq-2-x-1-100-posted-local-pool", "server cq 2 x 1, 100 posted, local-pool"),
        ("unary-sync-separate-server-cq-8-x-1-100-posted-local-pool", "server cq 8 x 1, 100 posted, local-pool"),
    ]
    assert report.title == f"gRPC performance: {tmp_path.name}"


def test_runs_of_one_setting_are_repetitions(tmp_path: Path) -> None:
    first, second = (copied(tmp_path, lambda data: None, name) for name in ("a.json", "b.json"))
    assert only(data.make([first, second]))[1].repetitions == 14


def test_configurations_of_two_experiments_are_not_put_together(tmp_path: Path) -> None:
    folders = [Path(shutil.copytree(EXPERIMENT, tmp_path / name)) for name in ("first", "second")]
    report = data.make(folders)
    assert len(report.series) == 8 and len({s.id for s in report.series}) == 8
    assert {p.repetitions for s in report.series for p in s.points} == {6}
    assert {s.title for s in report.series} == {f"{f}: {n}" for f in "AB" for n in NAMES}
    assert report.experiments == ("A: first", "B: second") and [s.run for s in report.series] == [0, 1] * 4


def test_a_configuration_that_measured_two_things_is_two_series(folder: Path) -> None:
    path = folder / "raw/unary.cq.shared/06.json"
    change(path, lambda data: data["context"].update(method="streaming"))
    report = data.make([folder])
    split = [s for s in report.series if s.title.startswith("unary.cq.shared")]
    assert [(s.method, at(s, 4).repetitions) for s in split] == [("unary", 5), ("streaming", 1)]
    assert len({s.title for s in split}) == len({s.id for s in split}) == 2


def test_ids_of_names_that_look_alike_differ(folder: Path) -> None:
    for old, new in (("unary.cq.shared", "a.b"), ("unary.cq.separate", "A b"), ("streaming.sync.shared", "ä")):
        (folder / "raw" / old).rename(folder / "raw" / new)
    made = data.make_all([folder])
    assert [s.id for s in made.report.series] == ["a-b", "a-b-2", "series", "streaming-sync-separate"]
    assert len(made.hgrm) == 12


def test_hostile_names_become_ids_and_one_line(folder: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>\x1b[2J\u202e" + "x" * 150
    (folder / "raw/unary.cq.shared").rename(folder / f"raw/{hostile.replace('/', '')}")
    change(folder / "manifest.json", lambda m: m["experiment"]["experiment"].update(title=f"a\nb{hostile}"))
    change(folder / "manifest.json", lambda m: m["notes"].append("x\ny"))
    made = data.make_all([folder])
    texts = [made.report.title, *made.report.notes, *(s.title for s in made.report.series)]
    assert all(text.isprintable() for text in texts) and made.report.title.startswith("a b</script>")
    assert all(re.fullmatch(r"[a-z0-9-]{1,110}", s.id) for s in made.report.series)
    assert all(re.fullmatch(r"[a-z0-9-]+\.hgrm", name) for name in made.hgrm)


def test_commands_are_exact(report: Report) -> None:
    entries = json.loads((EXPERIMENT / "manifest.json").read_text())["runs"]
    for series in report.series:
        (entry,) = [u for u in entries if u["configuration"] == series.title and u["repetition"] == 1]
        assert (series.client_command, series.server_command) == (entry["client_command"], entry["server_command"])
    series, _ = only(data.make([REPETITIONS]))
    assert series.client_command.startswith("bin/grpc_ping_client --port ") and series.server_command == ""


def test_a_command_of_another_repetition_does_when_the_first_has_none(folder: Path) -> None:
    def forget(manifest: dict[str, Any]) -> None:
        for entry in manifest["runs"]:
            if entry["repetition"] in (1, 2):
                entry.pop("server_command")

    change(folder / "manifest.json", forget)
    assert "/03.json" in data.make([folder]).series[0].client_command


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
    def version(i: int) -> Callable[[dict[str, Any]], Any]:
        return lambda data: data["context"].update(grpc_version=f"1.{i}")

    paths = [copied(tmp_path, version(i), f"{i}.json") for i in range(8)]
    assert dict(data.make(paths).machine)["Client gRPC"] == "1.0; 1.1; 1.2; 1.3; 1.4; 1.5; and 2 more"


def test_missing_and_failed_runs_are_said(folder: Path) -> None:
    def stop(manifest: dict[str, Any]) -> None:
        manifest["partial"] = True
        for entry, status in zip(manifest["runs"][:4], ("failed", "interrupted", "pending", "pending"), strict=True):
            entry.update(status=status, reason="no\nluck" if status == "failed" else "")
            (folder / entry["file"]).unlink()

    change(folder / "manifest.json", stop)
    report = data.make([folder])
    first = json.loads((folder / "manifest.json").read_text())["runs"][0]
    assert report.partial == "3 of 24 runs are missing."
    assert report.failures == (f"{first['configuration']}, repetition {first['repetition']}: no luck",)


def test_an_experiment_in_which_nothing_was_measured_yet(folder: Path) -> None:
    shutil.rmtree(folder / "raw")

    def nothing(manifest: dict[str, Any]) -> None:
        manifest.update(partial=True, ended=None)
        for entry in manifest["runs"]:
            entry.update(status="pending")

    change(folder / "manifest.json", nothing)
    report = data.make([folder])
    assert report.partial == "24 of 24 runs are missing; nothing was measured." and report.series == ()
    assert report.title == "Shared against separate connections, in short" and report.verdicts == ()
    json.dumps(report.data, allow_nan=False)


def test_an_experiment_that_was_killed_has_not_ended(folder: Path) -> None:
    change(folder / "manifest.json", lambda m: m.update(partial=True, ended=None))
    assert data.make([folder]).partial == "The experiment has not ended."


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"manifest_version": 3}', "\xff"])
def test_a_manifest_that_cannot_be_read_costs_what_it_says_and_no_more(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    report = data.make([folder])
    assert "manifest.json" in report.partial and report.partial.startswith("Whether anything is missing is not known")
    assert len(report.series) == 4 and report.series[0].client_command.startswith("bin/grpc_ping_client")


@pytest.mark.parametrize("value", [None, 3, "x\n", [], {}, [None], {"a": None}, [{"a": 1}], True])
def test_a_manifest_with_wrong_types_does_no_harm(tmp_path: Path, value: Any) -> None:
    manifest = json.loads((EXPERIMENT / "manifest.json").read_text())
    for key in manifest:
        (tmp_path / "manifest.json").write_text(json.dumps({**manifest, key: value}))
        report = data.make([tmp_path])
        texts = [report.title, report.question, report.made, report.partial, *report.notes, *report.failures]
        texts += [text for row in report.machine for text in row]
        assert all(isinstance(text, str) and text.isprintable() for text in texts) and report.partial


@pytest.mark.parametrize(
    "value", [None, 3, [], {"configuration": []}, {"configuration": "unary.cq.shared", "repetition": {}}]
)
def test_a_run_with_wrong_types_does_no_harm(folder: Path, value: Any) -> None:
    change(folder / "manifest.json", lambda m: m.update(runs=[value, *m["runs"]]))
    report = data.make([folder])
    assert by_title(report, "unary.cq.shared").server_command


def test_doubts_about_everything_are_notes(tmp_path: Path) -> None:
    warning = "client and server share CPUs (0 and 0): pin them apart with taskset or numactl"
    path = copied(
        tmp_path,
        lambda data: data["context"].update(
            warnings=[{"code": "shared-cpus", "text": warning}],
            notes=[{"code": "not-measured", "text": "no control service"}],
        ),
    )
    assert data.make([path]).notes == (f"every point: warning: {warning}", "no control service")
    other = copied(tmp_path, lambda data: None, "b.json")
    assert data.make([path, other]).notes[0] == f"every point of 1 of 2 result files: warning: {warning}"


# Results of other kinds.


def test_older_results(tmp_path: Path) -> None:
    for name in ("unary-sync-shared.json", "partial.json", "killed.json", "pool.json", "result.json"):
        report = data.make([DATA / name])
        assert report.series and report.verdicts[0].answer.short and report.made, name
        json.dumps(report.data, allow_nan=False)
    assert "was cut short" in data.make([DATA / "partial.json"]).partial


def test_one_repetition_has_no_intervals() -> None:
    for series in data.make([DATA / "unary-sync-shared.json"]).series:
        assert series.points and all(v.low is None for p in series.points for v in p.values.values())
        assert not any("repetitions)" in reason for p in series.points for reason in p.warnings)


def test_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadDocument, match="no result files in it"):
        data.make([tmp_path])
    with pytest.raises(BadDocument, match="No such file"):
        data.make([tmp_path / "absent.json"])
