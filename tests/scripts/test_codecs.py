"""The table of codecs that ends an experiment with --breakdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from cqbench.files.offered import closed
from cqbench.files.result import Document
from cqbench.run import codecs
from cqbench.run.cells import Numbered

LOADS = [closed(1), closed(48)]


@dataclass
class Point:
    figures: dict[str, float]
    throughput: float
    load: Any
    partial: bool = False
    failure: str = ""
    failed: int = 0
    error_codes: tuple[str, ...] = ()


@dataclass
class Result:
    points: list[Point] = field(default_factory=list)


def numbered(throughput: list[float], step_ns: float | None, share: float = 0.04) -> list[Numbered]:
    found = []
    for repetition, rate in enumerate(throughput, 1):
        figures = {f"{end}_cpu_per_rpc_ns": 1e9 / rate for end in codecs.ENDS}
        if step_ns is not None:
            figures |= dict.fromkeys(codecs.STEPS, step_ns) | {codecs.SHARE.format(end): share for end in codecs.ENDS}
        found.append((repetition, cast(Document, Result([Point(figures, rate, load) for load in LOADS]))))
    return found


NOISE = [1000.0, 1100.0, 900.0, 1050.0, 950.0, 1000.0]


def test_shares_and_ratios_to_the_first() -> None:
    twice = [2 * rate for rate in NOISE]
    lines = codecs.render({"fresh": numbered(NOISE, 250), "bytes": numbered(twice, None)}, LOADS).splitlines()
    fresh, nothing = (next(line for line in lines if line.startswith(name)) for name in ("fresh", "bytes"))
    assert fresh.split("|")[1].split() == ["1", "in", "flight", "1000", "4.0", "4.0"]
    ratio, half = "2.00 (2.00-2.00)", "0.50 (0.50-0.50)"
    assert nothing.split("|")[1].split(maxsplit=3)[3].split() == ["-", "-", "-", *f"{ratio} {half} {half}".split()]
    assert sum("48 in flight" in line for line in lines) == 2


def test_a_repetition_that_failed_costs_its_neighbour_too() -> None:
    broken = numbered([2 * rate for rate in NOISE] + [1.0], 250)
    cast(Any, broken[-1][1]).points[0].failed = 3
    lines = codecs.render({"a": numbered([*NOISE, 5000.0], 250), "b": broken}, LOADS[:1]).splitlines()
    assert "2.00 (2.00-2.00)" in next(line for line in lines if line.startswith("b"))


def test_without_the_breakdown_there_is_no_table() -> None:
    assert codecs.render({"fresh": numbered(NOISE, None)}, LOADS) == ""
