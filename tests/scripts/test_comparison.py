"""The comparison: its arithmetic, its drawing, and what it says when something is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cqbench.comparison import Table, compare, divide, sentences, side
from cqbench.documents import Document, Measured, load
from cqbench.tables import WIDTH, render, render_table

DATA = Path(__file__).parent / "data"


def stored(*names: str) -> list[Document]:
    return [load(DATA / f"{name}.json") for name in names]


def point(inflight: int, throughput: float | None = 100.0, **more: object) -> Measured:
    measured = Measured(
        inflight=inflight, repetition=0, throughput=throughput, p50_ns=1000.0, p90_ns=2000.0, p99_ns=3000.0,
        p999_ns=4000.0, max_ns=5000.0, connections=1, expected_connections=1, completed=10, failed=0, partial=False,
        failure="", warnings=(), errors=(),
    )  # fmt: skip
    return replace(measured, **more)  # type: ignore[arg-type]


def document(policy: str, *points: Measured, mode: str = "unary", api: str = "sync") -> Document:
    return Document("x.json", mode, api, policy, "ping", "localhost:1", "1.51.1", "", False, points)


def table(*documents: Document) -> Table:
    (only,) = compare(documents)
    return only


def test_ratio_and_share_of_the_linear_ideal() -> None:
    only = table(
        document("per-worker", point(1, 100.0), point(4, 200.0)),
        document("local-pool", point(1, 110.0), point(4, 330.0, p99_ns=1500.0)),
    )
    one, four = only.rows
    assert four.ratio == pytest.approx(1.65)
    assert four.p99_ratio == pytest.approx(0.5)
    assert (one.shared.ideal, four.shared.ideal) == (1.0, 0.5)
    assert four.separate.ideal == pytest.approx(0.75)
    assert four.shared.p50_us == 1.0


def test_without_a_rate_at_one_there_is_no_ideal() -> None:
    assert table(document("shared", point(4))).rows[0].shared.ideal is None


def test_repetitions_become_their_median_and_cut_ones_do_not_count() -> None:
    points = (
        point(1, 10.0),
        point(1, 30.0),
        point(1, 20.0),
        point(1, 1.0, partial=True),
        point(1, None, failure="gone"),
    )
    cell = table(document("per-worker", *points)).rows[0].shared
    assert (cell.throughput, cell.partial) == (20.0, False)


def test_a_point_that_was_cut_short_is_shown_and_marked() -> None:
    only = table(document("per-worker", point(1, 7.0, partial=True)))
    assert only.rows[0].shared.throughput == 7.0
    assert "7*" in render_table(only)
    assert "cut short" in render_table(only)


def test_missing_and_failed_points_are_dashes_with_the_reason_below() -> None:
    documents = [document("per-worker", point(1), point(2, None, failure="no call succeeded: UNAVAILABLE"))]
    (only,) = compare(documents, inflight=(1, 2, 4))
    assert [r.inflight for r in only.rows] == [1, 2, 4]
    assert only.rows[1].shared.throughput is None and only.rows[1].ratio is None
    text = render_table(only)
    assert "! shared, in-flight 2: no call succeeded: UNAVAILABLE" in text
    assert "! shared, in-flight 4: not measured" in text
    assert "! separate, in-flight 1, 2, 4: not measured" in text
    assert [line for line in text.splitlines() if line.startswith("        4 |")][0].split() == (
        "4 | - - - - - | - - - - - | -".split()
    )


def test_warnings_and_errors_are_shown_once_with_their_counts() -> None:
    text = render_table(table(
        document("local-pool", *(point(n, warnings=("policy local-pool promises more",)) for n in (2, 4))),
        document("per-worker", point(2, errors=("UNAVAILABLE x 3 (reset)",)), point(4)),
    ))  # fmt: skip
    assert "! separate, in-flight 2, 4: policy local-pool promises more" in text
    assert "! shared, in-flight 2: failed calls: UNAVAILABLE x 3 (reset)" in text


def test_suspect_points_are_marked_and_each_kind_of_reason_is_said_once() -> None:
    slow = [point(n, suspect=(f"the client uses 1.9{n} of 2 CPU(s)",)) for n in (2, 4)]
    text = render_table(table(document("per-worker", point(1), *slow), document("local-pool", *map(point, (1, 2, 4)))))
    rows = [line.split()[0] for line in text.splitlines() if " | " in line]
    assert rows[2:] == ["1", "!2", "!4"]
    assert text.splitlines()[-1] == (
        "! shared, in-flight 2, 4: suspect: the client uses 1.92 of 2 CPU(s) (figures of the first)"
    )


def test_what_holds_for_all_points_is_said_once_and_marks_none() -> None:
    pair = [replace(document(p, point(1)), suspect=("no TSC",)) for p in ("per-worker", "local-pool")]
    lines = render_table(table(*pair)).splitlines()
    assert lines[-1] == "! shared and separate, all points: suspect: no TSC"
    assert lines[-2].split()[0] == "1"


def test_many_remarks_are_cut() -> None:
    text = render_table(table(document("per-worker", *(point(n, None, failure=f"reason {n}") for n in range(1, 49)))))
    assert "more remarks in the JSON files" in text
    assert text.count("! ") < 20


def test_tables_are_in_the_order_of_the_documents_and_fit_the_width() -> None:
    names = [
        f"{mode}-{policy}" for mode in ("unary-sync", "streaming-sync", "unary-cq") for policy in ("shared", "separate")
    ]
    tables = compare(stored(*names))
    assert [t.title for t in tables] == ["unary calls, sync client", "streaming, sync client", "unary calls, cq client"]
    text = render(tables)
    assert max(map(len, text.splitlines())) <= WIDTH <= 120
    assert text.isascii()
    assert all(r.ratio and r.shared.ideal and r.separate.ideal for t in tables for r in t.rows)
    assert [r.separate.connections for r in tables[0].rows] == [1, 4, 16]
    assert [r.shared.connections for r in tables[0].rows] == [1, 1, 1]


def test_large_figures_keep_the_columns() -> None:
    big = point(100_000, 99_999_999.0, p50_ns=9_999_999_000.0, p99_ns=99_999_999_000.0, connections=99_999)
    lines = render_table(table(document("per-worker", big), document("local-pool", big))).splitlines()
    assert len({line.rindex("|") for line in lines[1:] if "|" in line}) == 1


def test_stored_failures() -> None:
    text = render(compare(stored("killed", "partial")))
    assert "cannot connect to localhost" in text
    assert "UNAVAILABLE x 50" in text


def test_policies() -> None:
    assert [side(document(p)) for p in ("shared", "per-worker", "local-pool", "distinct-args", "pool:2")] == [
        "shared", "shared", "separate", "separate", None,
    ]  # fmt: skip
    assert compare(stored("pool")) == []
    assert render([]).startswith("Nothing to compare")


def test_sentences() -> None:
    pair = (
        document("per-worker", point(1, 100.0), point(48, 200.0)),
        document("local-pool", point(1, 95.0), point(48, 400.0, p99_ns=1500.0)),
    )
    assert sentences([table(*pair)]) == [
        "With the sync client, separate connections carry 2.00x the throughput of the shared one at 0.50x its P99 "
        "(unary, 48 in flight).",
        "At 1 in flight both are one call on one connection: the 0.95x seen there is this run's noise, and smaller "
        "differences elsewhere mean nothing.",
    ]


def test_sentences_without_figures() -> None:
    assert sentences([]) == []
    assert sentences([table(document("per-worker", point(4)))]) == []


def test_divide() -> None:
    assert divide(1.0, 0.0) is None and divide(None, 1.0) is None and divide(1.0, 4.0) == 0.25
