"""Report and verdict about results that several client processes measured together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cqbench.formats.result import load
from cqbench.formats.runs import read, read_all
from cqbench.measure.ranks import merge
from cqbench.model import setting
from cqbench.render.report import data, page
from cqbench.render.verdict.causes import causes
from rank_files import Json, drawn, rank_file
from result_schema import programs
from verdict_synthetic import COUNTS, SHARED, SIXFOLD, at, codes, configuration, found, judged, manifest, said, write

FULL = [{"code": "client-cpu-saturated", "text": "CPU-bound: the client used 1.00 of the 1 CPU(s)"}]
ROOM = {"client_cores_used": 2.0, "client_cpus_allowed": 32, "server_cores_used": 2.0, "server_cpus_allowed": 32}


def ranks_of(*hosts: str, full: tuple[str, ...] = ()) -> Json:
    rows = [
        {"rank": i, "host": host, "throughput_per_second": 100.0, "connections": 1, "notes": FULL * (host in full)}
        for i, host in enumerate(hosts)
    ]
    return {"count": len(rows), "missing": [], "window_ns": 1e9, "per_rank": rows}


def point(hosts: tuple[str, ...], full: tuple[str, ...] = (), **figures: Any) -> Any:
    def change(_: int, entry: Json) -> None:
        entry.update(figures, ranks=ranks_of(*hosts, full=full))
        entry["notes"] = FULL if full else []

    return change


TWO = ("a", "a", "b", "b")


@pytest.mark.parametrize(
    ("hosts", "full", "says"),
    [
        (
            TWO,
            ("a",),
            "but not because of the connection: the CPUs of one of the client machines are saturated, not of all",
        ),
        (TWO, ("a", "b"), "but not because of the connection: the CPUs of all client machines are saturated"),
        (("a", "a"), ("a",), "but not because of the connection: the client's CPUs are saturated"),
    ],
)
def test_whose_cpus_are_full(hosts: tuple[str, ...], full: tuple[str, ...], says: str, tmp_path: Path) -> None:
    change = point(hosts, full)
    for name, policy, rates in (("shared", "per-slot", SHARED), ("separate", "local-pool", SIXFOLD)):
        configuration(tmp_path, name, policy, rates=rates, change=change)
    (case,) = judged(tmp_path).scenarios
    assert any(says in cause for cause in causes([case])), causes([case])


@pytest.mark.parametrize(
    ("full", "figures", "says"),
    [
        (("b",), ROOM, "they would show more, as at 32 in flight the CPUs of one of the client machines are saturated"),
        (("a", "b"), ROOM, "they would show more, as at 32 in flight the CPUs of all client machines are saturated"),
        ((), {**ROOM, "server_cores_used": 32.0}, "they would show no more, as at 32 in flight the server's CPUs"),
        ((), ROOM, "more in flight before more client machines"),
        ((), {"client_cores_used": None}, "it is not known whether more client machines would show more"),
    ],
)
def test_whether_more_client_machines_would_show_more(
    full: tuple[str, ...], figures: Json, says: str, tmp_path: Path
) -> None:
    configuration(tmp_path, "shared", "per-slot", rates=SHARED, change=point(TWO, full, **figures))
    told = said(tmp_path).measure
    assert len([text for text in told if says in text]) == 1, told


def test_nothing_is_said_of_machines_where_one_process_measured(tmp_path: Path) -> None:
    found(tmp_path)
    assert not [code for code in codes(judged(tmp_path).measure) if "clients" in code]


def test_other_ranks_are_another_setting(tmp_path: Path) -> None:
    """They are no repetitions of each other, inside of experiments by what was asked for."""
    paths = [write(tmp_path / f"{n}.json", "shared", SHARED, change=point(("a",) * n)) for n in (2, 3)]
    assert [setting.of(read(path)).get("ranks") for path in paths] == ["2 on 1 machine", "3 on 1 machine"]
    folder = tmp_path / "experiment"
    configuration(folder, "one", "shared", rates=SHARED, change=point(("a",)))
    manifest(folder, lambda _: {"ranks": "8 on a, b"})
    assert {setting.of(run).get("ranks") for run in read_all([folder])} == {"8 on a, b"}


def merged(folder: Path, change: Any = lambda *_: None) -> Path:
    hosts = ("a", "a", "b")
    paths = [rank_file(folder, i, 4, drawn(i, 5000 - 500 * i), host=h, change=change) for i, h in enumerate(hosts)]
    path = folder / "point.json"
    assert merge.merge(programs() / merge.PROGRAM, paths, path) == ""
    for old in paths:
        old.unlink()
    return path


def test_the_report_shows_each_rank_and_their_spread(tmp_path: Path) -> None:
    report = data.make([merged(tmp_path)])
    ((_, load_words, there, rate, p99, _, connections, apart, doubtful),) = report.spreads.texts
    assert (load_words, there, connections, apart) == ("6 in flight", "3 on 2, 1 missing", "2", "0")
    assert rate == "2,000 – 2,250 – 2,500 (22 %)"
    assert p99.count("–") == 2 and doubtful == "0"
    assert [row[2:5] for row in report.ranks.texts] == [("0", "a", "0-1"), ("1", "a", "0-1"), ("2", "b", "0-1")]
    assert [row[5] for row in report.ranks.texts] == ["2,500", "2,250", "2,000"]
    html = page.render(report)
    assert "The client processes" in html and "Each client process" in html


def test_a_rank_with_a_doubt_is_marked(tmp_path: Path) -> None:
    def steal(_: Json, report: Json) -> None:
        if report["rank"]["index"] == 1:
            report["warnings"] = [{"code": "steal", "text": "the hypervisor took 3 %"}]

    path = merged(tmp_path, steal)
    report = data.make([path])
    assert [row[-1] for row in report.ranks.texts] == ["-", "steal", "-"]
    assert report.spreads.texts[0][-1] == "1"
    texts = [reason.text for reason in load(path).points[0].warnings]
    assert "the hypervisor took 3 % (rank 1)" in texts


def test_a_page_of_one_process_has_no_such_section(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", "shared", SHARED)
    assert "The client processes" not in page.render(data.make([path]))


def test_the_counts_of_the_other_tests_hold(tmp_path: Path) -> None:
    assert at(found(tmp_path), COUNTS[-1]).saturated == ""
