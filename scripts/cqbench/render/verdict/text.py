"""A judgement as text: paragraphs and a table with a style each, coloured on a terminal, plain elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cqbench.analysis.verdict.model import Decision, Judgement, Row, Scenario
from cqbench.render import text
from cqbench.render.table import EMPTY, Block, Column, Line, Table
from cqbench.render.verdict.statements import Said, say
from cqbench.render.verdict.words import loads, reasons_of, short, times

WIDTH = 80
NAME = 24  # characters of a name next to its figures
STYLES = {
    Decision.BOTTLENECK: "bold red",
    Decision.LIKELY: "red",
    Decision.OTHER: "yellow",
    Decision.FASTER: "green",
    Decision.SLOWER: "magenta",
    Decision.INCONCLUSIVE: "dim",
}
TITLES = {"settings": "WHAT TO SET", "measure": "WHAT TO MEASURE", "cannot_show": "WHAT THIS MACHINE CANNOT SHOW"}


def render(judgement: Judgement, everything: bool = False, colour: bool = False) -> str:
    """everything: every load of every scenario, instead of those that say something. Ends with a newline."""
    return text.render(_blocks(judgement, everything), colour)


def _blocks(judgement: Judgement, everything: bool) -> Iterator[Block]:
    said = say(judgement)
    yield from _head(said)
    if judgement.scenarios:
        yield from (EMPTY, _table(judgement.scenarios, everything))
    for key, title in TITLES.items():
        texts = getattr(said, key)
        if texts:
            yield Line(title, "bold")
            yield from (Line(text, "", WIDTH, "- ") for text in texts)


def _head(told: Said) -> Iterator[Line]:
    said = ((told.question, "bold"), (told.answer, "bold cyan"), (told.machine, "dim"))
    yield from (Line(words, style, WIDTH, later="") for words, style in said if words)
    yield from (Line(note, "yellow", WIDTH, "! ") for note in told.notes)


def _table(scenarios: Sequence[Scenario], everything: bool) -> Table:
    """In closed loops the ratio of throughput decides, in open ones that of P99."""
    simple = all(len(scenario.configurations) == 1 for scenario in scenarios)
    alike = {(scenario.baseline, scenario.configurations) for scenario in scenarios}
    configurations = f"{scenarios[0].configurations[0]} ÷ " if simple and len(alike) == 1 else "÷ "
    baseline = scenarios[0].baseline if len({scenario.baseline for scenario in scenarios}) == 1 else "baseline"
    head = f"{configurations}{baseline}".upper()
    table = Table(_columns(head if len(head) <= NAME else "RATIO TO THE FIRST", scenarios[0].open_loop), head="bold")
    for scenario in scenarios:
        if simple:
            name = scenario.name if len(alike) == 1 else f"{scenario.name}: {scenario.configurations[0]}"
            _configuration(table, scenario, scenario.configurations[0], name, everything)
        else:
            table.rows.append(Line(scenario.name, "", WIDTH, later=""))
            for configuration in scenario.configurations:
                _configuration(table, scenario, configuration, f"  {configuration}", everything)
        for reason in reasons_of(scenario):
            table.rows.append(Line(reason, "" if "inconclusive" not in reason else "dim", WIDTH, "   ", "     "))
    return table


def _columns(head: str, open_loop: bool) -> tuple[Column, ...]:
    first, second = ("P99 from due", "calls/s") if open_loop else ("calls/s", "P99")
    where = Column("rate" if open_loop else "in flight", True, 9)
    return (Column(head, width=NAME - 2), where, Column(first, width=17), Column(second, width=6), Column("client CPU"))


def _configuration(table: Table, scenario: Scenario, configuration: str, name: str, everything: bool) -> None:
    """The rows that say something, or all; at least one. A name that is too long has a line of its own."""
    rows = _chosen(scenario, configuration, everything)
    if len(name) >= NAME:
        table.rows.append(Line(name, "", WIDTH))
        name = ""
    for row in rows:
        table.add(name, *_row(row), style=STYLES.get(row.decision, ""))
        name = ""
    effect = next((e for e in scenario.effects if e.setting == configuration), None)
    if effect and not rows:
        where = "together" if len(effect.loads) > 1 else loads(effect.loads, effect.loads).removesuffix(" in flight")
        table.add(name, where, times(effect.ratio))
    elif not rows:
        table.add(name, "", "inconclusive")


def _chosen(scenario: Scenario, configuration: str, everything: bool) -> list[Row]:
    """Losses come last: no reader sets what loses anywhere."""
    mine = [row for row in scenario.rows if row.configuration == configuration]
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
