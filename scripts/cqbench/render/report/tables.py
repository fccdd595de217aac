"""The tables of a report: failed calls, faults, lower bounds of a call, saturation rates, processes that measured
together, cost profiles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from cqbench.analysis.cost import profile as profiles_of
from cqbench.analysis.cost.profile import Profile
from cqbench.formats.figures import THROUGHPUT, Figure
from cqbench.formats.offered import Load, rate
from cqbench.formats.ranks import OneRank, Ranks
from cqbench.model.figures import FIGURES, P50, P99, REACHED
from cqbench.model.recovery import outcome
from cqbench.render.cost import text
from cqbench.render.experiment import faults as faults_of
from cqbench.render.report.groups import Group
from cqbench.render.report.model import Point, Series
from cqbench.render.report.values import number, texts
from cqbench.render.table import Table, plain

MAX_ROWS = 500  # of processes; beyond, their range has to do

FLOORS = {
    "grpc": "gRPC",
    "grpc-unix": "gRPC, Unix socket",
    "grpc-inproc": "gRPC, in one process",
    "tcp-block": "TCP, sleeping",
    "tcp-spin": "TCP, spinning",
}
OfRank = Callable[[OneRank], float | None]
OF_RANKS: tuple[tuple[Figure, OfRank], ...] = (
    (FIGURES[THROUGHPUT], lambda one: one.throughput_per_second),
    (FIGURES[P99], lambda one: one.p99_ns),
    (FIGURES["client_cores_used"], lambda one: one.cores_used),
    (FIGURES["connections"], lambda one: one.connections),
)


def errors(groups: Sequence[Group]) -> Table:
    """A row for each status code of a point, all repetitions together; no rows when no call failed."""
    calls: Counter[tuple[str, str]] = Counter()
    codes: Counter[tuple[str, str, str]] = Counter()
    first: dict[tuple[str, str, str], str] = {}
    for of in groups:
        for measured in (point for run in of.runs for point in run.points()):
            where = (of.title, measured.load.words)
            calls[where] += measured.completed + measured.failed
            for error in measured.failed_calls:
                key = (*where, error.code)
                codes[key] += error.count
                first.setdefault(key, error.first_message)
    rows = (
        (*k, number(n), f"{number(100 * n / calls[k[:2]])} %" if calls[k[:2]] else "-", first[k])
        for k, n in codes.items()
    )
    return plain(("Series", "Load", "Status", "Calls", "Of all calls", "First message"), rows)


def faults(groups: Sequence[Group]) -> Table:
    """A row for each series in which something was made to go wrong."""
    rows: list[tuple[str, ...]] = []
    for of in groups:
        whole = [(run, point) for run in of.runs for point in run.points() if not point.partial]
        told = [found for run, point in whole if (found := outcome(run, point)) is not None]
        if told:
            rows.append((of.title, of.setting.get("fault"), *(text or "-" for text in faults_of.cells(told))))
    rows.sort(key=lambda row: row[0].rpartition(".")[0])  # what is compared stands together
    return plain(("Series", "Fault", *(figure.title for figure in faults_of.FIGURES)), rows)


def floors(groups: Sequence[Group]) -> Table:
    """P50 of a call at 1 in flight with less and less of gRPC, and how many times the floor gRPC is."""
    rows = []
    for of in groups:
        lower_bounds = [b for run in of.runs for b in run.document.lower_bounds]
        found = {name: [b.p50_ns for b in lower_bounds if b.name == name and b.p50_ns is not None] for name in FLOORS}
        middle = {name: median(values) * FIGURES[P50].scale for name, values in found.items() if values}
        if middle:
            cells = [number(middle[name]) if name in middle else "-" for name in FLOORS]
            ratio = middle["grpc"] / middle["tcp-block"] if middle.keys() >= {"grpc", "tcp-block"} else None
            rows.append((of.title, *cells, "-" if ratio is None else number(ratio)))
    heads = (f"{name}, {FIGURES[P50].shown_unit}" for name in FLOORS.values())
    return plain(("Series", *heads, "gRPC ÷ TCP, sleeping"), rows)


def knees(series: Sequence[Series]) -> Table:
    """For open loops: the highest rate that is reached, and the next."""
    rows = []
    for one in (s for s in series if s.open and s.points):
        beyond = next((p for p in one.points if p.load.number > (one.knee or 0)), None)
        kept = next((p for p in one.points if p.load.number == one.knee), None)
        asked, waits = ([cell(p) for p in (kept, beyond)] for cell in (_asked, _p99))
        reached = texts(beyond.values, FIGURES[REACHED])[0] if beyond else "-"
        of_it = f"{reached} {FIGURES[REACHED].shown_unit}" if reached != "-" else reached
        rows.append((f"{one.title} ({one.method})", asked[0], waits[0], asked[1], of_it, waits[1]))
    wait = f"{FIGURES[P99].label} there, {FIGURES[P99].shown_unit}"
    return plain(("Series", "Keeps up to", wait, "Next rate", "Reached of it", wait), rows)


def _asked(point: Point | None) -> str:
    return rate(point.load.number) if point else "-"


def _p99(point: Point | None) -> str:
    return texts(point.values, FIGURES[P99])[0] if point else "-"


# Client processes that measured together.


def spreads(groups: Sequence[Group]) -> Table:
    """A row for each point of several processes; none where all points were measured by one."""
    rows = []
    for title, load, found in _points(groups):
        by_rank = _by_rank(found)
        cells = [_spread([_middle(of, *figure) for of in by_rank.values()]) for figure in OF_RANKS]
        missing = sorted({rank for one in found for rank in one.missing})
        there = f"{len(by_rank)} on {len({one.host for of in by_rank.values() for one in of})}"
        lost = f", {len(missing)} missing" if missing else ""
        skews = [max(one.skew_open_ns, one.skew_close_ns) / 1e6 for one in found]
        unreliable = sum(any(one.warnings for one in of) for of in by_rank.values())
        rows.append((title, load.words, there + lost, *cells, number(max(skews)), str(unreliable)))
    head = (
        "Series",
        "Load",
        "Processes on machines",
        *(figure.heading for figure, _ in OF_RANKS),
        "Windows apart, ms",
        "Unreliable",
    )
    return plain(head, rows)


def ranks(groups: Sequence[Group]) -> Table:
    """A row for each process of a point. No rows where there would be more than MAX_ROWS."""
    rows = []
    for title, load, found in _points(groups):
        for rank, of in sorted(_by_rank(found).items()):
            middles = [_middle(of, figure, of_rank) for figure, of_rank in OF_RANKS]
            cells = ["-" if value is None else number(value) for value in middles]
            reasons = dict.fromkeys(reason.code for one in of for reason in (*one.warnings, *one.saturated))
            where = (str(rank), of[0].host, of[0].cpus_allowed or "-")
            rows.append((title, load.words, *where, *cells, ", ".join(reasons) or "-"))
    figures = (figure.heading for figure, _ in OF_RANKS)
    titles = ("Series", "Load", "Rank", "Machine", "CPUs", *figures, "Warnings, saturated")
    return plain(titles, rows if len(rows) <= MAX_ROWS else ())


def _points(groups: Sequence[Group]) -> Iterator[tuple[str, Load, list[Ranks]]]:
    """Series, load, and the ranks of each of its repetitions."""
    for of in groups:
        for load, repetitions in of.points().items():
            found = [r.measured.ranks for r in repetitions if r.measured.ranks]
            if found:
                yield of.title, load, found


def _by_rank(found: Sequence[Ranks]) -> dict[int, list[OneRank]]:
    by_rank: dict[int, list[OneRank]] = {}
    for one in (one for of in found for one in of.per_rank):
        by_rank.setdefault(one.rank, []).append(one)
    return by_rank


def _middle(of: Sequence[OneRank], figure: Figure, of_rank: OfRank) -> float | None:
    """In the unit for people."""
    values = [value * figure.scale for value in map(of_rank, of) if value is not None]
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


# Cost profiles of cqbench cost.


def profiles(paths: Sequence[Path]) -> tuple[tuple[str, tuple[Table, ...]], ...]:
    """Returns the title and tables of each profile. Raises BadDocument."""
    return tuple((profile.title, _profile(profile)) for profile in map(profiles_of.load, paths))


def _profile(profile: Profile) -> tuple[Table, ...]:
    found = (table for side in profile.sides for table in text.tables(profile, side))
    return (*found, plain(("Remarks",), ((line,) for line in text.remarks(profile))))
