"""Client processes that measured together: how far they are apart, and what each did by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from cqbench.formats.offered import Load
from cqbench.formats.ranks import OneRank, Ranks
from cqbench.render.report.model import Table
from cqbench.render.report.series import Group
from cqbench.render.report.values import number

MAX_ROWS = 500  # beyond, the spread has to do

Figure = Callable[[OneRank], float | None]
FIGURES: tuple[tuple[str, Figure], ...] = (
    ("Throughput, calls/s", lambda one: one.throughput_per_second),
    ("P99, µs", lambda one: None if one.p99_ns is None else one.p99_ns / 1000),
    ("CPU cores used", lambda one: one.cores_used),
    ("Connections", lambda one: one.connections),
)


def spreads(groups: Sequence[Group]) -> Table:
    """A row for each point of several processes; none where all points were measured by one."""
    rows = []
    for title, load, found in _points(groups):
        by_rank = _by_rank(found)
        cells = [_spread([_middle(of, figure) for of in by_rank.values()]) for _, figure in FIGURES]
        missing = sorted({rank for ranks in found for rank in ranks.missing})
        there = f"{len(by_rank)} on {len({one.host for of in by_rank.values() for one in of})}"
        lost = f", {len(missing)} missing" if missing else ""
        skews = [max(ranks.skew_open_ns, ranks.skew_close_ns) / 1e6 for ranks in found]
        unreliable = sum(any(one.warnings for one in of) for of in by_rank.values())
        rows.append((title, load.words, there + lost, *cells, number(max(skews)), str(unreliable)))
    head = (
        "Series",
        "Load",
        "Processes on machines",
        *(name for name, _ in FIGURES),
        "Windows apart, ms",
        "Unreliable",
    )
    return Table(head, tuple(rows))


def each(groups: Sequence[Group]) -> Table:
    """A row for each process of a point. No rows where there would be more than MAX_ROWS."""
    rows = []
    for title, load, found in _points(groups):
        for rank, of in sorted(_by_rank(found).items()):
            middles = [_middle(of, figure) for _, figure in FIGURES]
            cells = ["-" if value is None else number(value) for value in middles]
            reasons = dict.fromkeys(reason.code for one in of for reason in (*one.warnings, *one.saturated))
            where = (str(rank), of[0].host, of[0].cpus_allowed or "-")
            rows.append((title, load.words, *where, *cells, ", ".join(reasons) or "-"))
    titles = ("Series", "Load", "Rank", "Machine", "CPUs", *(name for name, _ in FIGURES), "Warnings, saturated")
    return Table(titles, tuple(rows) if len(rows) <= MAX_ROWS else ())


def _points(groups: Sequence[Group]) -> Iterator[tuple[str, Load, list[Ranks]]]:
    """Series, load, and the ranks of each of its repetitions."""
    for of in groups:
        for load, repetitions in of.points().items():
            found = [r.measured.ranks for r in repetitions if r.measured.ranks]
            if found:
                yield of.title, load, found


def _by_rank(found: Sequence[Ranks]) -> dict[int, list[OneRank]]:
    ranks: dict[int, list[OneRank]] = {}
    for one in (one for of in found for one in of.per_rank):
        ranks.setdefault(one.rank, []).append(one)
    return ranks


def _middle(of: Sequence[OneRank], figure: Figure) -> float | None:
    values = [value for value in map(figure, of) if value is not None]
    return median(values) if values else None


def _spread(values: Sequence[float | None]) -> str:
    """'900 – 1,000 – 1,050 (15 %)': least, middle, greatest, and how far apart the ends are."""
    there = [value for value in values if value is not None]
    if not there:
        return "-"
    least, middle, greatest = min(there), median(there), max(there)
    if least == greatest:
        return number(least)
    apart = f" ({100 * (greatest - least) / middle:.0f} %)" if middle else ""
    return f"{number(least)} – {number(middle)} – {number(greatest)}{apart}"
