"""All that a report takes from the verdict, in the report's own words: nothing else here imports that room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cqbench.analysis.verdict.model import Row, Scenario
from cqbench.analysis.verdict.whole import judge_runs
from cqbench.formats.runs import Run
from cqbench.render.report.model import Card, Table
from cqbench.render.verdict.statements import say
from cqbench.render.verdict.words import answer, reasons_of, times
from cqbench.stats.ratios import Ratio

ADVICE = {"settings": "What to set", "measure": "What to measure", "cannot_show": "What this machine cannot show"}
HEAD = ("Calls/s", "P99", "Client CPU/call", "Server CPU/call", "So")


@dataclass(frozen=True)
class Judged:
    """answer: to the question. cards: the most important first. advice: title, texts."""

    answer: str
    cards: tuple[Card, ...] = ()
    advice: tuple[tuple[str, tuple[str, ...]], ...] = ()


def judge(runs: Sequence[Run]) -> Judged:
    """Judges one experiment, or files without one."""
    found = judge_runs(runs)
    said = say(found)
    advice = tuple((title, getattr(said, key)) for key, title in ADVICE.items() if getattr(said, key))
    return Judged(said.answer, tuple(map(_card, found.scenarios)), advice)


def _card(scenario: Scenario) -> Card:
    """A table of ratios to the baseline."""
    of = (
        f"{scenario.configurations[0]} ÷ {scenario.baseline}"
        if len(scenario.configurations) == 1
        else f"÷ {scenario.baseline}"
    )
    table = Table((of, *HEAD), tuple(_row(scenario, row) for row in scenario.rows))
    return Card(
        scenario.name or scenario.axis, scenario.decision.value, answer(scenario), table, tuple(reasons_of(scenario))
    )


def _row(scenario: Scenario, row: Row) -> tuple[str, ...]:
    which = row.load.words if len(scenario.configurations) == 1 else f"{row.configuration}, {row.load.words}"
    others = (_short(ratio) for ratio in (row.p99, row.client_cpu, row.server_cpu))
    return (which, times(row.throughput) if row.throughput else "-", *others, row.decision.value.replace("-", " "))


def _short(ratio: Ratio | None) -> str:
    return "-" if ratio is None else f"{ratio.value:.2f}"
