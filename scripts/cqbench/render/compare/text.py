"""Draws a comparison for people: tables in colour on a terminal, plain in a pipe."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cqbench.analysis.compare.gates import Outcome
from cqbench.analysis.compare.points import METHODS, Comparison, Figure, Part
from cqbench.analysis.compare.sections import Difference, Lone, Point, required
from cqbench.analysis.compare.sides import Side, counted, reasons, schedules
from cqbench.formats.reasons import kinds
from cqbench.formats.text import one_line
from cqbench.model.gate import INCONCLUSIVE, OPEN
from cqbench.model.metric import Metric
from cqbench.render import text
from cqbench.render.compare import sessions
from cqbench.render.table import EMPTY, WIDTH, Block, Cell, Column, Line, Table
from cqbench.stats.ratios import MAX_REPETITIONS

MAX_NOTES = 12  # of one kind
HEAD = ("before", "after", "change", "95 % interval", "p (Holm)")


def render(comparison: Comparison, sides: Sequence[Side], colour: bool) -> str:
    """Everything as text. sides: A and B, or the experiment. Ends with a newline."""
    blocks: list[Block] = [paragraph(line) for line in heading(comparison, sides)]
    for part in comparison.parts:
        blocks += _part(comparison, part)
    blocks += [paragraph(f"! {note}", "yellow") for note in notes(comparison, sides)]
    return text.render([*blocks, EMPTY, *(paragraph(line, "dim") for line in legend(comparison))], colour)


def paragraph(line: str, style: str = "") -> Line:
    return Line(line, style, WIDTH)


def heading(comparison: Comparison, sides: Sequence[Side]) -> list[str]:
    """Returns the head: both sides, and their differences."""
    if len(sides) == 2:
        lines = [f"{n}: {side.path} ({counted(side.files, 'file')})" for n, side in zip("AB", sides, strict=True)]
    else:
        lines = [f"inside {sides[0].path} ({counted(sides[0].files, 'file')})"]
    for part in comparison.parts:
        where = f" [{part.section.after}]" if len(comparison.parts) > 1 else ""
        for difference in part.differences:
            allowed = part.section.on_purpose or not required(difference.facet)
            word = "compared on purpose" if allowed else "! compared all the same (--anyway)"
            lines.append(f"{word}{where}: {described(difference)}")
        if part.unknown:
            lines.append(f"! not checked{where}, a side says nothing about it: {', '.join(part.unknown)}")
    return [*lines, *sessions.lines(comparison), *_schedules(comparison)]


def described(difference: Difference) -> str:
    more = f" and {len(difference.scenarios) - 1} more" if len(difference.scenarios) > 1 else ""
    where = f" (in {difference.scenarios[0]}{more})" if difference.scenarios else ""
    return f"{difference.facet.title}: {one_line(difference.before)} before, {one_line(difference.after)} after{where}"


def _schedules(comparison: Comparison) -> list[str]:
    """States whether the calls of an open loop were due at the same times on both sides; nothing in a closed loop."""
    both = [(schedules(p.before), schedules(p.after)) for part in comparison.parts for p in part.section.points]
    known = [one == other for one, other in both if one and other]
    if not known:
        return []
    points = counted(len(known), "point")
    if all(known):
        return [f"schedules: calls were due at the same times on both sides, at {points}"]
    return [f"schedules: calls were due at other times before than after at {known.count(False)} of {points}"]


def _part(comparison: Comparison, part: Part) -> Iterator[Block]:
    section = part.section
    named = (
        "" if (section.before, section.after) == ("before", "after") else f": {section.after} against {section.before}"
    )
    points = counted(len(section.points), "point")
    found = table(comparison)
    for metric in comparison.metrics:
        total = part.totals.get(metric.name)
        if total:
            add(found, in_total(part, total), total)
    yield from (EMPTY, Line(f"IN TOTAL, over {points}{named}", "bold"), found)
    for pair in section.pairs:
        points_of = [point for point in section.points if point.scenario == pair.title]
        if not points_of or not comparison.detailed:
            continue
        found = table(comparison)
        for metric in comparison.detailed:
            for i, (name, figure) in enumerate(_rows(part, points_of, metric)):
                if i == 0:
                    found.rows.append(Line(titled(metric), "italic"))
                add(found, f"  {name}", figure)
        yield from (EMPTY, Line(f"{pair.title or 'points'}{named}", "bold"), found)


def _rows(part: Part, points: Iterable[Point], metric: Metric) -> Iterator[tuple[str, Figure]]:
    for point in points:
        figure = part.figures.get((point, metric.name))
        if figure:
            yield f"{marks(point)}{point.place.words}", figure


def marks(point: Point) -> str:
    both = [*point.before, *point.after]
    return f"{'! ' if reasons(both) else ''}{'^ ' if reasons(both, limits=True) else ''}"


def table(comparison: Comparison) -> Table:
    figures = (Column(name, True) for name in (*HEAD, column(comparison)))
    return Table((Column(width=28), *figures, Column()))


def column(comparison: Comparison) -> str:
    """Returns the head of the column of repetitions that detect the minimum relevant change."""
    return f"for {abs(comparison.find - 1) * 100:.3g} %"


def titled(metric: Metric) -> str:
    return f"{metric.title}, {metric.unit}" if metric.unit else metric.title


def in_total(part: Part, figure: Figure) -> str:
    """Its metric, and of how many points where not all have it."""
    fewer = f" ({counted(figure.points, 'point')})" if figure.points < len(part.section.points) else ""
    return f"{titled(figure.metric)}{fewer}"


def add(to: Table, name: str, figure: Figure) -> None:
    """Green is better, red is worse, bold is another where no direction is better."""
    better = figure.metric.better * (figure.direction or 0)
    style = {1: "green", -1: "red"}.get(better, "bold" if figure.direction else "")
    cells = [
        shown(figure.before, figure.metric),
        shown(figure.after, figure.metric),
        change(figure),
        interval(figure),
        p_value(figure.p_holm),
        needed(figure),
    ]
    to.add(name, *cells, Cell(figure.explained, style))


def shown(value: float, metric: Metric) -> str:
    value *= metric.scale
    if value >= 1000 or math.isclose(value, round(value), rel_tol=1e-9):
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.3g}"


def change(figure: Figure) -> str:
    return "-" if figure.change_percent is None else f"{figure.change_percent:+.1f} %"


def interval(figure: Figure) -> str:
    found = figure.interval_percent
    return "-" if found is None else f"{found[0]:+.1f} to {found[1]:+.1f}"


def needed(figure: Figure) -> str:
    if figure.interval_percent is None:
        return "-"
    return f">{MAX_REPETITIONS}" if figure.needed is None else str(figure.needed)


def p_value(p: float | None) -> str:
    return "-" if p is None else "<0.0001" if p < 0.0001 else f"{p:.4f}"


def notes(comparison: Comparison, sides: Sequence[Side]) -> list[str]:
    """Returns notes about the figures."""
    points = [point for part in comparison.parts for point in part.section.points]
    missing = ", ".join(metric.title for metric in comparison.missing)
    lines = [f"no point has figures on both sides: {missing}"] if missing else []
    for what, limits, mark in (("unreliable", False, "!"), ("saturated", True, "^")):
        number = sum(bool(reasons([*p.before, *p.after], limits)) for p in points)
        if number:
            lines.append(f"{number} of {counted(len(points), 'point')} {what}, marked with a {mark}")
    for part in comparison.parts:
        for name, lone in (
            (part.section.before, part.section.only_before),
            (part.section.after, part.section.only_after),
        ):
            lines += limited([_lone(name, one) for one in lone], "such points")
    for name, side in zip(("before: ", "after: ") if len(sides) == 2 else ("",), sides, strict=True):
        if side.partial_files:
            files = f"{side.partial_files} of {counted(side.files, 'file')}"
            lines.append(f"{name}{files} of interrupted runs; what they measured whole is used")
        left_out = Counter(why for scenario in side.scenarios for of in scenario.left_out.values() for why in of)
        lines += limited([f"{name}{counted(n, 'run')} not used: {why}" for why, n in left_out.items()], "reasons")
        warnings = [of[0] for of in kinds(one for scenario in side.scenarios for one in scenario.warnings).values()]
        lines += limited(
            [f"{name}warning about all points: {warning.text}" for warning in warnings], "kinds of warning"
        )
    for what, limits in (("warning", False), ("saturated", True)):
        for name, which in (("before", 0), ("after", 1)):
            samples = [s for p in points for s in (p.before, p.after)[which]]
            found = [f"{name}: {what}: {reason.text}" for reason in reasons(samples, limits)]
            lines += limited(found, f"kinds of {what}")
    return lines


def _lone(name: str, lone: Lone) -> str:
    return f"only {name}: {lone.title}" + (f" (the other side: {lone.why})" if lone.why else "")


def limited(lines: list[str], what: str) -> list[str]:
    more = [f"... and {len(lines) - MAX_NOTES} more {what}"] if len(lines) > MAX_NOTES else []
    return lines[:MAX_NOTES] + more


def legend(comparison: Comparison) -> list[str]:
    paired = {f.ratio.paired for part in comparison.parts for f in part.figures.values() if f.ratio}
    how = "compared in pairs: " + ("both kinds" if len(paired) > 1 else "yes" if True in paired else "no")
    units = " or ".join(sorted({f"{f.unit}s" for part in comparison.parts for f in part.totals.values()}))
    find = f"{column(comparison)}: {units} that would find such a change four times of five, with this noise"
    loops = {getattr(point.place, "open", False) for part in comparison.parts for point in part.section.points}
    due = ["latency: from when a call was due; from sent: from when it was sent."] if True in loops else []
    return [*(f"{name}: {method}." for name, method in METHODS.items()), f"{find}; {how}.", *due]


def gate_lines(outcome: Outcome) -> list[str]:
    """Returns the outcome of a gate, a line each."""
    head = f"gate {outcome.gate.title}"
    if outcome.state == OPEN:
        return [f"{head}: open"]
    found = [
        f"{head}: closed: {title}: {change(figure)} ({interval(figure)}), p {p_value(figure.p_holm)}"
        for title, figure in outcome.found
    ]
    missing = [f"{head}: closed: {why}" for why in outcome.missing]
    return found + missing + [f"{head}: {INCONCLUSIVE}: {why}" for why in outcome.inconclusive]
