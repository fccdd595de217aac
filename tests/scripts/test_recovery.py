"""Figures of a fault, from known series: when the first call succeeded again, and when the rate was back."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from cqbench.formats.manifest import Fault
from cqbench.formats.offered import open_loop
from cqbench.formats.point import Measured
from cqbench.formats.result import Document
from cqbench.formats.runs import Run
from cqbench.formats.surroundings import Surroundings
from cqbench.model.recovery import Course, first_success, outcome, rate_before, recovery
from cqbench.render.experiment import faults
from cqbench.render.table import Line, Table

SLICE_S = 0.01
EACH = 20.0  # calls of a slice when all is well
BEGAN_S = 1.004  # within slice 100


def course(*parts: tuple[float, float]) -> Course:
    """(seconds, calls a slice) one after the other; before them a second as it should be."""
    counts = [EACH] * 100
    for seconds, each in parts:
        counts += [each] * round(seconds / SLICE_S)
    return Course(SLICE_S, counts)


def back(*parts: tuple[float, float]) -> float:
    return recovery(course(*parts), BEGAN_S, EACH)


def test_the_rate_before_is_that_of_whole_slices() -> None:
    assert rate_before(course((1, 0)), BEGAN_S) == EACH
    assert rate_before(course((1, 0)), 1.019) == pytest.approx(EACH * 100 / 101)
    assert rate_before(course(), 0.29) is None, "too little was seen"
    assert rate_before(Course(SLICE_S, [0.0] * 100), 0.5) is None, "nothing was going on"


def test_the_first_success_is_at_most_at_the_end_of_its_slice() -> None:
    assert first_success(course((1, EACH)), BEGAN_S) == pytest.approx(1.02 - BEGAN_S)
    assert first_success(course((0.5, 0), (0.5, 1)), BEGAN_S) == pytest.approx(1.51 - BEGAN_S)
    # A success in the fault's own time bucket may have been before the fault.
    assert first_success(course((0.01, 3), (0.99, 0)), BEGAN_S) == math.inf


@pytest.mark.parametrize(
    ("parts", "at"),
    [
        ([(2, EACH)], 1.01 - BEGAN_S),  # never interrupted: the first slice after it
        ([(0.5, 0), (2, EACH)], 1.5 - BEGAN_S),
        ([(0.5, 15), (2, EACH)], 1.5 - BEGAN_S),  # a fourth of the calls was gone
        ([(0.5, 0), (0.01, 900), (2, EACH)], 1.5 - BEGAN_S),  # what had waited came at once: not sooner for that
        ([(0.5, 0), (0.6, 18), (2, EACH)], 2.1 - BEGAN_S),  # 90 % is not enough
        ([(0.5, 0), (0.6, 19), (2, EACH)], 1.5 - BEGAN_S),  # 95 % is
        ([(0.5, 0), (0.3, EACH), (0.1, 0), (2, EACH)], 1.9 - BEGAN_S),  # it did not stay
        ([(0.5, 0), (0.3, EACH), (0.01, 0), (2, EACH)], 1.5 - BEGAN_S),  # a stall of 10 ms is no dip
        ([(0.5, 0), (0.73, EACH)], math.inf),  # too late to see whether it stays
        ([(2, 0)], math.inf),
        ([(2, 15)], math.inf),
        ([], math.inf),
    ],
)
def test_the_rate_is_back_when_it_stays(parts: list[tuple[float, float]], at: float) -> None:
    assert back(*parts) == pytest.approx(at, abs=1e-9)


def test_coarse_slices_are_taken_as_they_are() -> None:
    coarse = Course(0.4, [800.0, 800.0, 0.0, 800.0, 800.0, 800.0])
    assert recovery(coarse, 0.8, 800) == pytest.approx(0.4)


def point(counts: list[float], **more: object) -> Measured:
    told = {
        "inflight": 8, "target_rate_per_second": 2000, "repetition_index": 0, "throughput_per_second": 1.0,
        "expected_connections": 1, "completed": 1, "failed": 7, "partial": False, "warnings": [],
        "errors": [{"code": "UNAVAILABLE", "count": 7, "first_message": ""}],
        "bucket_ns": SLICE_S * 1e9, "bucket_completed": counts, "bucket_failed": [0.0] * len(counts),
        "latency_p99_ns": 3e6, "latency_max_ns": 4e6,
        "calls_due": 1000, "calls_ok": 990, "unfinished": 3, "calls_unsent": 0, "run_type": "iteration",
        **more,
    }  # fmt: skip
    return Measured.model_validate(told)


def run_of(measured: Measured, configuration: str, fault: Fault | None) -> Run:
    document = Document.model_construct(points=[measured])
    return Run(Path(f"raw/{configuration}/01-x.json"), configuration, document, Surroundings(fault=fault))


RESET = Fault(words="reset", began_s=BEGAN_S, ended_s=BEGAN_S)


def test_what_a_repetition_says() -> None:
    measured = point(list(course((0.5, 0), (2, EACH)).completed))
    found = outcome(run_of(measured, "a", RESET), measured)
    assert found is not None and found.failed == {"UNAVAILABLE": 7, "unfinished": 3}
    assert found.lost == pytest.approx(0.01) and (found.p99_ns, found.max_ns) == (3e6, 4e6)
    assert found.first_success_s == pytest.approx(0.506) and found.recovery_s == pytest.approx(0.496)
    assert outcome(run_of(measured, "a", None), measured) is None


@pytest.mark.parametrize(
    ("fault", "more", "why"),
    [
        (Fault(words="reset"), {}, "the fault did not happen"),
        (Fault(words="reset", began_s=0.1), {}, "nothing is known of the 0.3 s before it"),
        (Fault(words="reset", began_s=3.0), {}, "the fault came when the window had closed"),
        (RESET, {"bucket_ns": None, "bucket_completed": [], "bucket_failed": []}, "there is no time series"),
    ],
)
def test_what_cannot_be_told_is_absent_and_says_why(fault: Fault, more: dict[str, object], why: str) -> None:
    measured = point(list(course((2, EACH)).completed), **more)
    found = outcome(run_of(measured, "a", fault), measured)
    assert found is not None and (found.first_success_s, found.recovery_s, found.why) == (None, None, why)


def test_the_table_has_medians_and_what_never_came() -> None:
    series = 2 * [[(0.5, 0.0), (2.0, EACH)], [(0.7, 0.0), (2.0, EACH)], [(2.5, 0.0)]]
    measured = [
        (n, run_of(point(list(course(*parts).completed)), "reset.shared", RESET)) for n, parts in enumerate(series, 1)
    ]
    measured.append((1, run_of(point([EACH] * 200), "reset.separate", Fault(words="reset"))))
    head, table, *rest = faults.blocks(measured, [open_loop(2000)], ["reset.shared", "reset.separate"])
    assert isinstance(head, Line) and head.text == "Faults, 2000/s asked" and isinstance(table, Table)
    assert [column.title for column in table.columns][1:3] == ["lost %", "first success s"]
    shared, separate = ([cell.text for cell in row[1:]] for row in table.rows if not isinstance(row, Line))
    assert shared == ["1.00", "0.71 (0.51-never)", "0.70 (0.50-never)", "3.0", "4.0", "UNAVAILABLE 7, unfinished 3"]
    assert separate[:5] == ["1.00", "-", "-", "3.0", "4.0"] and Line("reset.separate: the fault did not happen") in rest
    assert list(faults.blocks([(1, run_of(point([EACH] * 200), "a", None))], [open_loop(2000)], ["a"])) == []
