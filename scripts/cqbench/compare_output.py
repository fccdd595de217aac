"""Draws compare_points.Comparison for a terminal of 112 columns, plain ASCII."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from cqbench.compare_gates import Outcome
from cqbench.compare_inputs import Key, Metric, Series, Side, counted
from cqbench.compare_points import CANNOT_TELL, Comparison, Figure, Lone, percent
from cqbench.compare_settings import Difference
from cqbench.compare_statistics import METHODS
from cqbench.documents import one_line
from cqbench.reasons import Reason, kinds

WIDTH = 112
MAX_NOTES = 12  # of one kind
SIDES = ("before", "after")


def render(comparison: Comparison) -> str:
    """Everything as text. Ends with a newline."""
    parts = [_heading(comparison), *_tables(comparison), _means(comparison), _notes(comparison), _legend(comparison)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heading(comparison: Comparison) -> str:
    lines = [
        f"{name + ':':<8}{side.path} ({counted(side.files, 'file')}, {_repetitions(comparison, i)})"
        for i, (name, side) in enumerate(zip(SIDES, (comparison.before, comparison.after), strict=True))
    ]
    lines += [f"! compared all the same (--anyway): {text}" for text in describe(comparison.refused)]
    lines += [f"compared on purpose: {text}" for text in describe(comparison.on_purpose)]
    lines += _schedules(comparison)
    if comparison.unknown:
        lines.append(f"! not checked, a side says nothing about it: {', '.join(comparison.unknown)}")
    return "\n".join(_wrap(line, "  ") for line in lines)


def _schedules(comparison: Comparison) -> list[str]:
    """Whether the calls of an open loop were due at the same times on both sides; nothing in a closed loop."""
    known = [same for key in comparison.points if (same := comparison.same_schedule(key)) is not None]
    if not known:
        return []
    points = counted(len(known), "point")
    if all(known):
        return [f"schedules: calls were due at the same times on both sides, at {points}"]
    return [f"schedules: calls were due at other times before than after at {known.count(False)} of {points}"]


def _repetitions(comparison: Comparison, which: int) -> str:
    side = (comparison.before, comparison.after)[which]
    counts = [side.points[key].usable for key in comparison.points]
    low, high = min(counts), max(counts)
    return counted(low, "repetition") if low == high else f"{low} to {high} repetitions"


def describe(differences: Iterable[Difference]) -> list[str]:
    """A line each: key, before, after, and where when it is not everywhere."""
    lines = []
    for d in differences:
        more = f" and {len(d.series) - 1} more" if len(d.series) > 1 else ""
        where = f" (in {d.series[0]}{more})" if d.series else ""
        lines.append(f"{d.key}: {one_line(d.before)} before, {one_line(d.after)} after{where}")
    return lines


def _tables(comparison: Comparison) -> list[str]:
    """One per series; in it a block per metric."""
    tables = []
    for series in dict.fromkeys(key.series for key in comparison.points):
        blocks = [_block(comparison, metric, series) for metric in comparison.metrics]
        tables.append("\n".join([series.title, *(line for block in blocks for line in block)]))
    return tables


def _block(comparison: Comparison, metric: Metric, series: Series) -> list[str]:
    figures = comparison.of(metric)
    keys = [key for key in comparison.points if key.series == series]
    if metric.open_only and not keys[0].load.open:
        return []
    if not any(key in figures for key in keys):
        return [f"{metric.title}: no figures on both sides"]
    title = f"{metric.titled(keys[0].load.open)}, {metric.unit}"
    head = f"{title:<27} {'before':>11} {'after':>11} {'change':>9} {'95 % interval':<18} {'p (Holm)':>8}  verdict"
    return [head, *(_row(comparison, key, figures.get(key)) for key in keys)]


def _row(comparison: Comparison, key: Key, figure: Figure | None) -> str:
    name = f"{'! ' if comparison.suspect(key) else ''}{'^ ' if comparison.limited(key) else ''}{key.load.words}"
    if figure is None:
        return f"{name:>27} {'-':>11} {'-':>11} {'-':>9} {'-':<18} {'-':>8}  no figures on both sides"
    return (
        f"{name:>27} {_shown(figure.before, figure.metric):>11} {_shown(figure.after, figure.metric):>11} "
        f"{_percent(figure.change_percent):>9} {_interval(figure.interval_percent):<18} "
        f"{_p(figure.tested.p_holm):>8}  {figure.explained()}"
    )


def _shown(value: float, metric: Metric) -> str:
    return f"{value * metric.scale:.0f}" if metric.scale == 1 else f"{value * metric.scale:.2f}"


def _percent(value: float) -> str:
    return f"{value:+.1f} %"


def _interval(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"[{interval[0]:+.1f}, {interval[1]:+.1f}]"


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _means(comparison: Comparison) -> str:
    lines = []
    for metric in comparison.metrics:
        mean = comparison.means.get(metric.name)
        if mean is not None:
            change = f"{_percent((mean.value - 1) * 100):>9} {_interval(percent(mean.interval)):<18}"
            points = counted(len(comparison.of(metric)), "point")
            lines.append(f"{metric.title:>27} {change} ratio {mean.value:.4f} over {points}")
    return "\n".join(["geometric mean of the ratios after / before", *lines])


def _notes(comparison: Comparison) -> str:
    lines = [*_too_few(comparison), *_suspects(comparison)]
    for name, side, lone in (
        ("before", comparison.before, comparison.only_before),
        ("after", comparison.after, comparison.only_after),
    ):
        lines += _limited([_lone(name, one) for one in lone], "such points")
        lines += _side_notes(name, side, comparison.points)
    return "\n".join(_wrap(f"! {line}", "  ") for line in lines)


def _too_few(comparison: Comparison) -> list[str]:
    """Metrics of which the same is to be said share a line."""
    said: dict[str, list[str]] = {}
    for metric in comparison.metrics:
        figures = comparison.of(metric).values()
        few = [figure for figure in figures if figure.verdict == CANNOT_TELL]
        if few:
            text = (
                f"too few repetitions at {len(few)} of {counted(len(figures), 'point')}: {few[0].needed} on either "
                f"side are needed for {counted(len(figures), 'point')} at alpha {comparison.alpha:g}"
            )
            said.setdefault(text, []).append(metric.title)
    return [f"{', '.join(titles)}: {text}" for text, titles in said.items()]


def _suspects(comparison: Comparison) -> list[str]:
    points = counted(len(comparison.points), "point")
    suspect, limited = (sum(map(of, comparison.points)) for of in (comparison.suspect, comparison.limited))
    return [
        *([f"{suspect} of {points} suspect, marked with a !"] if suspect else []),
        *([f"{limited} of {points} at a limit, marked with a ^"] if limited else []),
    ]


def _lone(name: str, lone: Lone) -> str:
    return f"only {name}: {lone.key.title}" + (f" (the other side: {lone.why})" if lone.why else "")


def _side_notes(name: str, side: Side, points: Sequence[Key]) -> list[str]:
    lines = []
    if side.partial_files:
        files = f"{side.partial_files} of {counted(side.files, 'file')}"
        lines.append(f"{name}: {files} of interrupted runs; what they measured whole is used")
    shared = [side.points[key] for key in points]
    left_out = Counter(reason for repetitions in shared for reason in repetitions.left_out)
    lines += _limited([f"{name}: {counted(n, 'run')} not used: {reason}" for reason, n in left_out.items()], "reasons")
    failed = sum(repetitions.with_failed_calls for repetitions in shared)
    if failed:
        lines.append(f"{name}: {counted(failed, 'repetition')} with failed calls")
    lines += [f"{name}, all points of {counted(n, 'file')}: suspect: {r.text}" for r, n in side.suspect.items()]
    lines += _limited(_reasons(name, "suspect", (r for of in shared for r in of.suspect)), "kinds of doubt")
    return lines + _limited(_reasons(name, "limit", (r for of in shared for r in of.limits)), "kinds of limit")


def _reasons(name: str, what: str, said: Iterable[Reason]) -> list[str]:
    """Those that differ in their figures only are one kind, shown by its first."""
    return [f"{name}, {counted(len(of), 'repetition')}: {what}: {of[0].text}" for of in kinds(said).values()]


def _limited(lines: list[str], what: str) -> list[str]:
    more = [f"... and {len(lines) - MAX_NOTES} more {what}"] if len(lines) > MAX_NOTES else []
    return lines[:MAX_NOTES] + more


def _legend(comparison: Comparison) -> str:
    lines = [f"{name.replace('_', ' ')}: {text}." for name, text in METHODS.items()]
    lines.append(f"different: p after the correction <= {comparison.alpha:g}.")
    return "\n".join(_wrap(line, "  ") for line in lines)


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def gate_lines(outcome: Outcome) -> list[str]:
    """What a gate says, a line each."""
    head = f"gate {outcome.gate.title}"
    if not outcome.closed:
        return [f"{head}: open"]
    found = [
        f"{head}: closed: {key.title}: {_percent(figure.change_percent)} {_interval(figure.interval_percent)}, "
        f"p {_p(figure.tested.p_holm)}"
        for key, figure in outcome.found.items()
    ]
    return found + [f"{head}: closed, cannot decide: {text}" for text in outcome.undecided]
