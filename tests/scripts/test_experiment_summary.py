"""The table of medians, its marks and remarks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from cqbench.documents import Document, load
from cqbench.experiment_summary import MAX_NOTES, remarks, render, rows

DATA = Path(__file__).parent / "data"
DOCUMENT = load(DATA / "unary-sync-shared.json")
POINT = DOCUMENT.points[0]


def document(throughput: float | None, **changes: object) -> Document:
    point = replace(POINT, inflight=4, throughput=throughput, p50_ns=throughput, **changes)  # type: ignore[arg-type]
    return replace(DOCUMENT, points=(point,), suspect=())


def test_medians_over_the_repetitions() -> None:
    (row,) = rows([document(100), document(300), document(500)], [4])
    assert (row.throughput, row.p50_us, row.runs, row.connections) == (300, 0.3, 3, POINT.connections)
    assert not row.partial and not row.suspect


def test_what_was_cut_short_counts_only_when_there_is_nothing_else() -> None:
    (row,) = rows([document(100), document(9000, partial=True)], [4])
    assert (row.throughput, row.runs, row.partial) == (100, 1, False)
    (row,) = rows([document(9000, partial=True)], [4])
    assert (row.throughput, row.partial) == (9000, True)


def test_a_percentile_that_a_repetition_does_not_have_is_no_figure() -> None:
    (row,) = rows([document(100, p99_ns=5.0), document(300, p99_ns=None)], [4])
    assert (row.throughput, row.p99_us) == (200, None)


def test_every_point_that_was_asked_for_has_a_row() -> None:
    text = render({"some": [document(100, suspect=("odd",))], "none": []}, [4, 8], 2)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "variant | in-flight | conns req/s P50 us P99 us runs | marks"
    (line,) = [line for line in lines if line.startswith("some | 4 |")]
    assert line.startswith(f"some | 4 | {POINT.connections} 100 0.1 ") and line.endswith(" 1/2 | !?")
    assert "some | 8 | - - - - 0/2 | ?" in lines
    assert "none | 4 | - - - - 0/2 | ?" in lines
    assert "! some: suspect: odd" in lines


def test_nothing() -> None:
    assert render({"a": []}, [1], 1) == "Nothing was measured.\n"


def test_remarks_that_differ_in_figures_only_are_one() -> None:
    by_variant = {
        "a": [document(1, suspect=("busy 0.5",)), document(1, suspect=("busy 0.7",))],
        "b": [document(1, suspect=("busy 0.9",), errors=("UNAVAILABLE x 3",))],
        "c": [document(None, failure="no luck")],
    }
    assert remarks(by_variant) == [
        "a, b: suspect: busy 0.5 (3 times; figures of the first)",
        "b: failed calls: UNAVAILABLE x 3",
        "c: not measured: no luck",
    ]


def test_remarks_are_limited() -> None:
    reasons = tuple("odd " + chr(ord("a") + i) for i in range(MAX_NOTES + 3))
    text = render({"a": [document(1, suspect=reasons)]}, [4], 1)
    assert text.count("\n! a: suspect") == MAX_NOTES
    assert text.endswith("... and 3 more remarks in the JSON files\n")
