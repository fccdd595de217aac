"""A comparison as Markdown for a pull request, as CSV and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cqbench.analysis.compare.gates import Outcome
from cqbench.analysis.compare.points import METHODS, NO_DIFFERENCE, Comparison, Figure, Part
from cqbench.analysis.compare.sections import Lone, Point, required
from cqbench.analysis.compare.sides import Side, reasons, schedules
from cqbench.formats.escape import csv_of
from cqbench.formats.escape import markdown as escaped
from cqbench.formats.offered import Load
from cqbench.model.thresholds import ALPHA
from cqbench.render import markdown as as_markdown
from cqbench.render.compare import text
from cqbench.render.table import EMPTY, Block, Cell, Column, Line, Table

VERSION = 4
COLUMNS = (
    *(
        "compared",
        "scenario",
        "point",
        "metric",
        "unit",
        "before",
        "after",
        "change_percent",
        "low_percent",
        "high_percent",
    ),
    *("p_holm", "repetitions_before", "repetitions_after", "sessions_before", "sessions_after", "between_sessions"),
    *("paired", "verdict", "repetitions_to_find", "sessions_to_find"),
)

MARKDOWN = ("Before", "After", "Percentage", "95 % interval")


class Row(NamedTuple):
    """point: None in total."""

    part: Part
    point: Point | None
    figure: Figure

    @property
    def title(self) -> str:
        """The title of the figure in its table."""
        if self.point is None:
            return text.in_total(self.part, self.figure)
        return f"{text.titled(self.figure.metric)}, {text.marks(self.point)}{self.point.place.words}"

    @property
    def compared(self) -> str:
        section = self.part.section
        return f"{section.after} against {section.before}"


def rows(comparison: Comparison) -> Iterator[Row]:
    """Totals first; then scenario by scenario, metric by metric."""
    for part in comparison.parts:
        for metric in comparison.metrics:
            if metric.name in part.totals:
                yield Row(part, None, part.totals[metric.name])
        for pair in part.section.pairs:
            for metric in comparison.detailed:
                for point in part.section.points:
                    figure = part.figures.get((point, metric.name))
                    if point.scenario == pair.title and figure:
                        yield Row(part, point, figure)


def markdown(comparison: Comparison, sides: Sequence[Side]) -> str:
    """Tables of title, before, after and percentage; bold is what is more than noise."""
    heading = "".join(f"{escaped(line)}  \n" for line in text.heading(comparison, sides))
    head = (Column("Title"), *(Column(title, True) for title in MARKDOWN), Column())
    blocks: list[Block] = []
    table, title = Table(head), ""
    for row in rows(comparison):
        where = row.point.scenario if row.point else "total"
        wanted = f"{row.compared if len(comparison.parts) > 1 else ''} {where}"
        if wanted != title:
            title, table = wanted, Table(head)
            blocks += [EMPTY, Line(wanted.strip() or "points", "bold"), EMPTY, table]
        figure = row.figure
        change = Cell(text.change(figure), "bold" if figure.direction else "")
        verdict = "" if figure.verdict == NO_DIFFERENCE else figure.explained
        both = (text.shown(value, figure.metric) for value in (figure.before, figure.after))
        table.add(row.title, *both, change, text.interval(figure), verdict)
    notes = text.notes(comparison, sides)
    rule = "In bold: more than noise (Holm-corrected p of at most 0.05, and an interval without 0)."
    shown = as_markdown.bullets(notes) + "\n" * bool(notes)
    return f"{heading}{as_markdown.render([*blocks, EMPTY])}{shown}{rule}\n"


def to_csv(comparison: Comparison) -> str:
    """A line per figure, in the unit that it names; the point is empty in total."""
    return csv_of([COLUMNS, *map(_csv_row, rows(comparison))])


def _csv_row(row: Row) -> list[object]:
    figure, metric = row.figure, row.figure.metric
    low, high = figure.interval_percent or (None, None)
    scaled = [figure.before * metric.scale, figure.after * metric.scale]
    numbers = [*scaled, figure.change_percent, low, high, figure.p_holm]
    return [
        *(row.compared, row.point.scenario if row.point else "", row.point.place.label if row.point else ""),
        *(metric.name, metric.unit),
        *("" if n is None else f"{n:.6g}" for n in numbers),
        *figure.counts,
        *figure.sessions,
        figure.basis.value,
        "" if figure.ratio is None else str(figure.ratio.paired).lower(),
        figure.verdict,
        *("" if n is None else n for n in _to_find(figure).values()),
    ]


def to_json(comparison: Comparison, sides: Sequence[Side], outcomes: Sequence[Outcome]) -> str:
    """Figures are in the result files' units (per second, nanoseconds), under their keys."""
    told = {
        "comparison_version": VERSION,
        "sides": [{"path": s.path, "files": s.files, "partial_files": s.partial_files} for s in sides],
        "alpha": round(ALPHA, 12),
        "find_percent": round(abs(comparison.find - 1) * 100, 9),
        "methods": METHODS,
        "comparisons": [_part(comparison, part) for part in comparison.parts],
        "notes": text.notes(comparison, sides),
        "gates": [_gate(outcome) for outcome in outcomes],
    }
    return json.dumps(told, indent=2, allow_nan=False) + "\n"


def _part(comparison: Comparison, part: Part) -> dict[str, Any]:
    section = part.section
    return {
        "before": section.before,
        "after": section.after,
        "differences": [
            {
                "key": d.facet.key,
                "before": d.before,
                "after": d.after,
                "scenarios": list(d.scenarios) or None,
                "on_purpose": section.on_purpose or not required(d.facet),
            }
            for d in part.differences
        ],
        "not_checked": list(part.unknown),
        "only_before": [_lone(lone) for lone in section.only_before],
        "only_after": [_lone(lone) for lone in section.only_after],
        "total": {
            part.totals[m.name].metric.key: {"points": part.totals[m.name].points, **_figure(part.totals[m.name])}
            for m in comparison.metrics
            if m.name in part.totals
        },
        "points": [_point(comparison, part, point) for point in section.points],
    }


def _lone(lone: Lone) -> dict[str, str]:
    return {"point": lone.title, "why": lone.why}


def _point(comparison: Comparison, part: Part, point: Point) -> dict[str, Any]:
    load = point.place if isinstance(point.place, Load) else None
    both = [*point.before, *point.after]
    first, second = schedules(point.before), schedules(point.after)
    figures = {m.key: part.figures.get((point, m.name)) for m in comparison.metrics}
    return {
        "scenario": point.scenario,
        "name": point.place.label,
        "inflight": int(load.number) if load and not load.open else None,
        "target_rate_per_second": load.number if load and load.open else None,
        "unreliable": bool(reasons(both)),
        "saturated": bool(reasons(both, limits=True)),
        "same_schedule": first == second if first and second else None,
        "metrics": {key: _figure(figure) for key, figure in figures.items() if figure},
    }


def _figure(figure: Figure) -> dict[str, Any]:
    """Intervals and p are null with too few repetitions or sessions, the ratio where a side has a 0."""
    ratio = figure.ratio
    return {
        **{side: _side(figure, i) for i, side in enumerate(("before", "after"))},
        "between_sessions": figure.basis.value,
        "ratio": None if ratio is None else ratio.value,
        "change_percent": figure.change_percent,
        "change_percent_interval": list(figure.interval_percent) if figure.interval_percent else None,
        "p": None if ratio is None else ratio.p,
        "p_holm": figure.p_holm,
        "paired": bool(ratio and ratio.paired),
        "verdict": figure.verdict,
        **_to_find(figure),
    }


def _side(figure: Figure, side: int) -> dict[str, Any]:
    """history_percent: by how much the sessions of the history differ; null where that is not used."""
    mean = (figure.before, figure.after)[side]
    percent = figure.spreads[side].percent if figure.spreads else None
    return {
        "mean": mean,
        "repetitions": figure.counts[side],
        "sessions": figure.sessions[side],
        "history_percent": percent,
    }


def _to_find(figure: Figure) -> dict[str, int | None]:
    """Repetitions or sessions, whichever are the replicates; the other one is null."""
    return {f"{unit}s_to_find": figure.needed if figure.unit == unit else None for unit in ("repetition", "session")}


def _gate(outcome: Outcome) -> dict[str, Any]:
    return {
        "flag": outcome.gate.flag,
        "limit_percent": outcome.gate.limit_percent,
        "state": outcome.state,
        "points": [title for title, _ in outcome.found],
        "missing": list(outcome.missing),
        "inconclusive": list(outcome.inconclusive),
    }
