"""A judgement as text: paragraphs and a table with a style each, coloured on a terminal, plain elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cqbench.analysis.verdict.model import Case, Decision, Judgement, Row
from cqbench.analysis.verdict.words import loads, short, times
from cqbench.render import text
from cqbench.render.table import EMPTY, Block, Column, Line, Table

WIDTH = 80
NAME = 24  # characters of a name beside its figures
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


def render(judgement: Judgement, everything: bool = False, colour: bool = False) -> str:
    """everything: every load of every case, instead of those that say something. Ends with a newline."""
    return text.render(_blocks(judgement, everything), colour)


def _blocks(judgement: Judgement, everything: bool) -> Iterator[Block]:
    yield from _head(judgement)
    if judgement.cases:
        yield from (EMPTY, _table(judgement.cases, everything))
    for key, title in TITLES.items():
        texts = getattr(judgement, key)
        if texts:
            yield Line(title, "bold")
            yield from (Line(said, "", WIDTH, "- ") for said in texts)


def _head(judgement: Judgement) -> Iterator[Line]:
    said = ((judgement.question, "bold"), (judgement.answer, "bold cyan"), (judgement.machine, "dim"))
    yield from (Line(words, style, WIDTH, later="") for words, style in said if words)
    yield from (Line(note, "yellow", WIDTH, "! ") for note in judgement.notes)


def _table(cases: Sequence[Case], everything: bool) -> Table:
    """Of closed loops the ratio of throughput decides, of open ones that of P99."""
    simple = all(len(case.variants) == 1 for case in cases)
    alike = {(case.baseline, case.variants) for case in cases}
    variants = f"{cases[0].variants[0]} ÷ " if simple and len(alike) == 1 else "÷ "
    baseline = cases[0].baseline if len({case.baseline for case in cases}) == 1 else "baseline"
    head = f"{variants}{baseline}".upper()
    table = Table(_columns(head if len(head) <= NAME else "RATIO TO THE FIRST", cases[0].open_loop), head="bold")
    for case in cases:
        if simple:
            name = case.name if len(alike) == 1 else f"{case.name}: {case.variants[0]}"
            _variant(table, case, case.variants[0], name, everything)
        else:
            table.rows.append(Line(case.name, "", WIDTH, later=""))
            for variant in case.variants:
                _variant(table, case, variant, f"  {variant}", everything)
        for reason in case.reasons:
            table.rows.append(Line(reason, "" if "undecided" not in reason else "dim", WIDTH, "   ", "     "))
    return table


def _columns(head: str, open_loop: bool) -> tuple[Column, ...]:
    first, second = ("P99 from due", "calls/s") if open_loop else ("calls/s", "P99")
    where = Column("rate" if open_loop else "in flight", True, 9)
    return (Column(head, width=NAME - 2), where, Column(first, width=17), Column(second, width=6), Column("client CPU"))


def _variant(table: Table, case: Case, variant: str, name: str, everything: bool) -> None:
    """The rows that say something, or all; at least one. A name that is too long has a line of its own."""
    rows = _chosen(case, variant, everything)
    if len(name) >= NAME:
        table.rows.append(Line(name, "", WIDTH))
        name = ""
    for row in rows:
        table.add(name, *_row(row), style=STYLES.get(row.decision, ""))
        name = ""
    effect = next((e for e in case.effects if e.setting == variant), None)
    if effect and not rows:
        where = "together" if len(effect.loads) > 1 else loads(effect.loads, effect.loads).removesuffix(" in flight")
        table.add(name, where, times(effect.ratio))
    elif not rows:
        table.add(name, "", "undecided")


def _chosen(case: Case, variant: str, everything: bool) -> list[Row]:
    """Of losses the last: nobody sets what loses anywhere."""
    mine = [row for row in case.rows if row.variant == variant]
    if everything or len(mine) <= 1:
        return mine
    last = next((row for row in reversed(mine) if row.decision is Decision.SLOWER), None)
    return [
        row for row in mine if row.decision.gain or row is last or (row.costs and row.decision is not Decision.SLOWER)
    ]


def _row(row: Row) -> tuple[str, ...]:
    first, second = (row.p99, row.throughput) if row.load.open else (row.throughput, row.p99)
    others = (short(r.value) if r else "-" for r in (second, row.client_cpu))
    return (loads([row.load], [row.load]).removesuffix(" in flight"), times(first), *others)
