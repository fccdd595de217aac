"""The table of medians, its marks and remarks."""

from __future__ import annotations

from pathlib import Path

from cqbench.formats.figures import THROUGHPUT
from cqbench.formats.offered import closed, open_loop
from cqbench.formats.point import CallError
from cqbench.formats.reasons import Reason
from cqbench.formats.result import Document, load
from cqbench.model.figures import P50, P99
from cqbench.render.experiment.summary import MAX_NOTES, blocks, remarks, rows
from cqbench.render.text import render

DATA = Path(__file__).parent / "data"
DOCUMENT = load(DATA / "unary-sync-shared.json")
POINT = DOCUMENT.points[0]


def document(throughput: float | None, **changes: object) -> Document:
    """With one point, at 4 in flight; throughput None: it measured nothing."""
    figures = {"completed": int(throughput is not None), "throughput_per_second": throughput or 0, "p50_ns": throughput}
    point = POINT.model_copy(update={"inflight": 4, **figures, **changes})
    return DOCUMENT.model_copy(update={"points": [point], "warnings": []})


def test_medians_over_the_repetitions() -> None:
    (row,) = rows([document(100), document(300), document(500)], [closed(4)])
    assert (row.medians[THROUGHPUT], row.medians[P50], row.runs, row.connections) == (300, 300, 3, POINT.connections)
    assert not row.partial and not row.unreliable


def test_what_was_cut_short_counts_only_when_there_is_nothing_else() -> None:
    (row,) = rows([document(100), document(9000, partial=True)], [closed(4)])
    assert (row.medians[THROUGHPUT], row.runs, row.partial) == (100, 1, False)
    (row,) = rows([document(9000, partial=True)], [closed(4)])
    assert (row.medians[THROUGHPUT], row.partial) == (9000, True)


def test_a_percentile_that_a_repetition_does_not_have_is_no_figure() -> None:
    (row,) = rows([document(100, p99_ns=5.0), document(300, p99_ns=None)], [closed(4)])
    assert (row.medians[THROUGHPUT], row.medians[P99]) == (200, None)


def test_every_point_that_was_asked_for_has_a_row() -> None:
    some = document(100, warnings=[Reason("drift", "odd")], notes=[Reason("client-cpu-saturated", "full")])
    text = render(blocks({"some": [some], "none": []}, [closed(4), closed(8)], 2))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "configuration in-flight conns calls/s P50 µs P99 µs runs marks"
    (line,) = [line for line in lines if line.startswith("some 4 ")]
    assert line.startswith(f"some 4 {POINT.connections} 100 0.1 ") and line.endswith(" 1/2 !^?")
    assert "some 8 - - - - 0/2 ?" in lines
    assert "none 4 - - - - 0/2 ?" in lines
    assert "! some: warning: odd" in lines and "! some: saturated: full" in lines


def test_an_open_loop() -> None:
    """By rate, whatever the most that may be outstanding; calls in flight of the same number are another load."""
    due = {"target_rate": 2000.0, "sent_p99_ns": 7_000.0, "p99_ns": 9_000.0}
    both = [document(1990, **due), document(3, inflight=2000)]
    lines = [" ".join(line.split()) for line in render(blocks({"a": both}, [open_loop(2000)], 1)).splitlines()]
    assert lines[0] == "configuration target/s conns calls/s P50 µs P99 µs P99 sent runs marks"
    assert f"a 2000 {POINT.connections} 1990 2.0 9.0 7.0 1" in lines
    assert "P99 sent: from when it was sent." in " ".join(lines)


def test_cpu_of_both_ends_where_it_is_known() -> None:
    some = document(100, figures={"client_cpu_per_rpc_ns": 21_340.0})
    lines = [" ".join(line.split()) for line in render(blocks({"a": [some, some]}, [closed(4)], 2)).splitlines()]
    assert lines[0] == "configuration in-flight conns calls/s P50 µs P99 µs client µs server µs runs marks"
    assert any(line.endswith(" 21.3 - 2") for line in lines)


def test_nothing() -> None:
    assert render(blocks({"a": []}, [closed(1)], 1)) == "Nothing was measured.\n"


def test_remarks_that_differ_in_figures_only_are_one() -> None:
    gone = CallError(code="UNAVAILABLE", count=3, first_message="gone")
    busy = [[Reason("other-processes", f"busy {share}")] for share in (0.5, 0.7, 0.9)]
    by_configuration = {
        "a": [document(1, warnings=busy[0]), document(1, warnings=busy[1])],
        "b": [document(1, warnings=busy[2], failed_calls=[gone])],
        "c": [document(None, failure="no luck")],
    }
    assert remarks(by_configuration) == [
        "a, b: warning: busy 0.5 (3 times; figures of the first)",
        "b: failed calls: UNAVAILABLE x 3 (gone)",
        "c: not measured: no luck",
    ]


def test_remarks_are_limited() -> None:
    reasons = [Reason("other", "odd " + chr(ord("a") + i)) for i in range(MAX_NOTES + 3)]
    text = render(blocks({"a": [document(1, warnings=reasons)]}, [closed(4)], 1))
    assert text.count("\n! a: warning") == MAX_NOTES
    assert text.endswith("... and 3 more remarks in the JSON files\n")
