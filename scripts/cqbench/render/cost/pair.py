"""Two cost profiles for people and programs: the changes, and the answers of the gates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from cqbench.analysis.cost.changes import Change, Comparison
from cqbench.analysis.cost.counts import CPU, FUNCTION, LIBRARY, SYSCALL, THREAD, TOTAL
from cqbench.analysis.cost.gates import Judged
from cqbench.analysis.cost.names import number
from cqbench.render import markdown, text
from cqbench.render.cost.text import LABEL
from cqbench.render.table import EMPTY, Block, Column, Line, Table
from cqbench.stats.ratios import MIN_REPETITIONS

SHOWN = {TOTAL: 100, CPU: 15, SYSCALL: 15, THREAD: 15, LIBRARY: 15, FUNCTION: 20}
TITLES = {
    TOTAL: "per call",
    CPU: "CPU by library, sampled, ns, where it differs",
    SYSCALL: "system calls that differ",
    THREAD: "system calls by thread, where they differ",
    LIBRARY: "instructions by library",
    FUNCTION: "functions that differ, without what they call",
}
MUCH = 900.0  # percent
NEXT_TO_NOTHING = 0.0005  # per call


def _tables(comparison: Comparison) -> Iterator[Block]:
    for side in comparison.sides:
        for kind, maximum in SHOWN.items():
            every = comparison.of(side, kind)
            rows = every if kind in (TOTAL, LIBRARY) else [c for c in every if c.beyond]
            if not every:
                continue
            numbers = (("before", 13), ("after", 11), ("change", 11), ("interval", 22))
            head = (*(Column(name, True, width) for name, width in numbers), Column())
            table = Table((Column(f"{side}: {TITLES[kind]}", width=LABEL, most=LABEL), *head), indent=2)
            for change in rows[:maximum]:
                table.add(change.title, *map(number, change.values), _changed(change), _interval(change), change.word)
            if not rows or len(rows) > maximum:
                table.say(f"and {len(rows) - maximum} more" if rows else "none")
            yield from (table, EMPTY)


def _changed(change: Change) -> str:
    """'+0.52 %', '12 x'; 'new' where there was as good as nothing."""
    before, after = change.values
    if change.percent is None or before < NEXT_TO_NOTHING:
        return "new" if after > before else ""
    return f"{change.percent:+.2f} %" if change.percent < MUCH else f"{after / before:,.0f} x"


def _interval(change: Change) -> str:
    """'+0.40 to +0.64 %'; '' without one, or where there was nothing before."""
    if change.values[0] < NEXT_TO_NOTHING:
        return ""
    ends = [change.as_percent(end) for end in change.interval or ()]
    known = [end for end in ends if end is not None and abs(end) < MUCH]
    return f"{known[0]:+.2f} to {known[1]:+.2f} %" if len(known) == 2 else ""


def _remarks(comparison: Comparison) -> list[str]:
    before, after = comparison.before, comparison.after
    lines = [f"set otherwise: {line}" for line in comparison.differences()]
    lines += list(comparison.only_one())
    judged = [c for c in comparison.changes if not c.unsteady]
    if without := sum(c.interval is None for c in judged):
        lines.append(
            f"inconclusive: {without} of {len(judged)} figures have fewer than {MIN_REPETITIONS} repetitions in a "
            f"profile (cqbench cost --repetitions {MIN_REPETITIONS})"
        )
    lines += [f"note: {name} is partial" for name, profile in (("A", before), ("B", after)) if profile.partial]
    return [
        *lines,
        "more, less: the interval of the change is beyond the margin: 0.2 % of the total, for a function 0.05 % of all "
        "instructions; no change: it is within the margin; inconclusive: neither. The intervals of all figures hold "
        "together at 95 %. not judged: it follows the clock or the machine's other load",
    ]


def as_text(comparison: Comparison, judged: list[Judged]) -> str:
    profiles = (("A", comparison.before), ("B", comparison.after))
    lines = [Line(f"{name}: {profile.title}, {profile.date}") for name, profile in profiles]
    said = [*(f"{one.title}: {one.state}" for one in judged), *_remarks(comparison)]
    return text.render([*lines, EMPTY, *_tables(comparison), *map(Line, said)])


def as_markdown(comparison: Comparison, judged: list[Judged]) -> str:
    title = Line(f"What a call costs: {comparison.before.title} → {comparison.after.title}", first="### ")
    said = [*(f"{one.title}: {one.state}" for one in judged), *_remarks(comparison)]
    return markdown.render([title, EMPTY, *_tables(comparison)]) + markdown.bullets(said)


def as_json(comparison: Comparison, judged: list[Judged]) -> str:
    changes = [
        {
            "side": c.side,
            **c.key._asdict(),
            "before": c.values[0],
            "after": c.values[1],
            "low": c.interval[0] if c.interval else None,
            "high": c.interval[1] if c.interval else None,
            "margin": c.margin,
            "outcome": c.word,
        }
        for c in comparison.changes
    ]
    gated = [{"gate": one.title, "state": one.state, "lines": list(one.lines)} for one in judged]
    data: dict[str, Any] = {"changes": changes, "gates": gated, "notes": _remarks(comparison)}
    return json.dumps(data, indent=2) + "\n"
