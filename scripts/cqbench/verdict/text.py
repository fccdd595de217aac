"""A judgement as text: lines with a style each, coloured on a terminal, plain elsewhere. At most WIDTH wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from cqbench.verdict.model import Case, Decision, Judgement, Row
from cqbench.verdict.words import loads, short, times

WIDTH = 80
NAME, WHERE, RATIO, SECOND = 24, 9, 19, 7
STYLES = {
    Decision.BOTTLENECK: "bold red",
    Decision.LIKELY: "red",
    Decision.OTHER: "yellow",
    Decision.FASTER: "green",
    Decision.SLOWER: "magenta",
    Decision.FULL: "dim",
    Decision.OPEN: "dim",
}
TITLES = {"settings": "WHAT TO SET", "measure": "WHAT TO MEASURE", "cannot_show": "WHAT THIS MACHINE CANNOT SHOW"}


class Line(NamedTuple):
    """style: rich's; '' for none."""

    text: str
    style: str = ""


def render(judgement: Judgement, everything: bool = False) -> str:
    """Plain. everything: every load of every case, instead of those that say something. Ends with a newline."""
    return "".join(f"{line.text}\n" for line in lines(judgement, everything))


def show(judgement: Judgement, everything: bool, console: Console) -> None:
    for line in lines(judgement, everything):
        console.print(Text(line.text, style=line.style), soft_wrap=True)


def lines(judgement: Judgement, everything: bool = False) -> list[Line]:
    found = [*_head(judgement)]
    if judgement.cases:
        found += [Line(""), *_table(judgement.cases, everything)]
    for key, title in TITLES.items():
        texts = getattr(judgement, key)
        if texts:
            found += [Line(title, "bold"), *(line for text in texts for line in _wrapped(text, "- ", "  "))]
    return found


def _head(judgement: Judgement) -> Iterator[Line]:
    yield from _wrapped(judgement.question, "", "", "bold")
    yield from _wrapped(judgement.answer, "", "", "bold cyan")
    yield from _wrapped(judgement.machine, "", "", "dim")
    for note in judgement.notes:
        yield from _wrapped(note, "! ", "  ", "yellow")


def _wrapped(text: str, first: str, rest: str, style: str = "") -> Iterator[Line]:
    wrapped = textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False
    )
    return (Line(line, style) for line in wrapped)


def _table(cases: Sequence[Case], everything: bool) -> Iterator[Line]:
    """Of closed loops the ratio of throughput decides, of open ones that of P99."""
    simple = all(len(case.variants) == 1 for case in cases)
    alike = {(case.baseline, case.variants) for case in cases}
    variants = f"{cases[0].variants[0]} ÷ " if simple and len(alike) == 1 else "÷ "
    baseline = cases[0].baseline if len({case.baseline for case in cases}) == 1 else "baseline"
    head, where = f"{variants}{baseline}".upper(), "rate" if cases[0].open_loop else "in flight"
    head = head if len(head) <= NAME else "RATIO TO THE FIRST"
    yield Line(f"{head:<{NAME}}{where:>{WHERE}}  {_columns(cases[0].open_loop)}", "bold")
    for case in cases:
        if simple:
            name = case.name if len(alike) == 1 else f"{case.name}: {case.variants[0]}"
            yield from _variant(case, case.variants[0], name, everything)
        else:
            yield from _wrapped(case.name, "", "")
            for variant in case.variants:
                yield from _variant(case, variant, f"  {variant}", everything)
        for reason in case.reasons:
            yield from _wrapped(reason, "   ", "     ", "" if "undecided" not in reason else "dim")


def _variant(case: Case, variant: str, name: str, everything: bool) -> Iterator[Line]:
    """The rows that say something, or all; at least one. A name that is too long has a line of its own."""
    rows = _chosen(case, variant, everything)
    if len(name) >= NAME:
        yield from _wrapped(name, "", "  ")
        name = ""
    for row in rows:
        yield Line(f"{name:<{NAME}}{_row(row)}".rstrip(), STYLES.get(row.decision, ""))
        name = ""
    effect = next((e for e in case.effects if e.setting == variant), None)
    if effect and not rows:
        where = "together" if len(effect.loads) > 1 else loads(effect.loads, effect.loads).removesuffix(" in flight")
        yield Line(f"{name:<{NAME}}{where:>{WHERE}}  {times(effect.ratio)}")
    elif not rows:
        yield Line(f"{name:<{NAME}}{'':>{WHERE}}  undecided")


def _chosen(case: Case, variant: str, everything: bool) -> list[Row]:
    """Of losses the last: nobody sets what loses anywhere."""
    mine = [row for row in case.rows if row.variant == variant]
    if everything or len(mine) <= 1:
        return mine
    last = next((row for row in reversed(mine) if row.decision is Decision.SLOWER), None)
    return [
        row for row in mine if row.decision.gain or row is last or (row.costs and row.decision is not Decision.SLOWER)
    ]


def _row(row: Row) -> str:
    number = loads([row.load], [row.load]).removesuffix(" in flight")
    first, second = (row.p99, row.throughput) if row.load.open else (row.throughput, row.p99)
    others = [short(r.value) if r else "-" for r in (second, row.client_cpu)]
    return f"{number:>{WHERE}}  {times(first):<{RATIO}}{others[0]:<{SECOND}} {others[1]}"


def _columns(open_loop: bool) -> str:
    first, second = ("P99 from due", "calls/s") if open_loop else ("calls/s", "P99")
    return f"{first:<{RATIO}}{second:<{SECOND}} client CPU"
