"""The table that ends an experiment of one load: what each variant reaches and what it costs, with a bar to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cqbench.files.point import Measured
from cqbench.files.result import Document
from cqbench.model.ratio import values
from cqbench.model.series import Repetition
from cqbench.model.usable import unusable
from cqbench.samples.metric import BY_NAME
from cqbench.stats.medians import describe, median

BAR = 28  # characters of the longest
COSTS = ("p50", "p99", "server-cpu", "client-cpu", "server-allocations")
HEAD = ("P50 us", "P99 us", "srv us", "clt us", "allocs")
LEGEND = (
    "Medians, of req/s with the 95 % interval in brackets (six repetitions on); srv us, clt us: CPU time per call\n"
    "of the server and the client; allocs: the server's per call, with the counting programs; -: not measured.\n"
)


@dataclass(frozen=True)
class Row:
    """throughput: of every repetition that counts. costs: those of COSTS, None where not measured."""

    name: str
    throughput: tuple[float, ...]
    costs: tuple[float | None, ...]


def row(name: str, points: Sequence[Measured]) -> Row:
    whole = [Repetition(p, None) for p in points if not unusable(p)]
    found = (BY_NAME[cost] for cost in COSTS)
    costs = tuple(_scaled(median(values(whole, metric.key)), metric.scale) for metric in found)
    return Row(name, tuple(values(whole, BY_NAME["throughput"].key)), costs)


def rows(documents: Mapping[str, Sequence[Document]]) -> list[Row]:
    """documents: by variant, of one load."""
    return [row(name, [p for d in of for p in d.points]) for name, of in documents.items()]


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def render(shown: Sequence[Row]) -> str:
    """A part for each setting of all axes but the last, whose values are its rows. Ends with a newline, or is empty."""
    best = max((describe(r.throughput).value for r in shown if r.throughput), default=0.0)
    if len(shown) < 2 or not best:
        return ""
    split = [r.name.rpartition(".") for r in shown]
    width = max(len("variant"), *(len(last) for *_, last in split), *(len(first) for first, *_ in split))
    lines: list[str] = []
    before = None
    for (group, _, name), of in zip(split, shown, strict=True):
        if group != before:
            costs = " ".join(f"{word:>7}" for word in HEAD)
            lines += ["", f"{group or 'variant':<{width}} | {'req/s':>8} {'':<17} {costs} |"]
            before = group
        lines.append(f"{name:<{width}} | {_line(of, best)}".rstrip())
    return "\n".join([*lines[1:], "", LEGEND])


def _line(of: Row, best: float) -> str:
    costs = " ".join(f"{'-' if cost is None else format(cost, '.1f'):>7}" for cost in of.costs)
    if not of.throughput:
        return f"{'-':>8} {'':<17} {costs} |"
    found = describe(of.throughput)
    interval = "" if found.low is None or found.high is None else f"[{found.low:.0f}, {found.high:.0f}]"
    return f"{found.value:>8.0f} {interval:<17} {costs} | {'#' * round(BAR * found.value / best)}"
