"""All that a report takes from the verdict, in the report's own words: nothing else here imports that room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cqbench.analysis.verdict.model import Case, Row
from cqbench.analysis.verdict.whole import judge_runs
from cqbench.analysis.verdict.words import times
from cqbench.report.model import Card, Table
from cqbench.samples.runs import Run
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
    """Of one experiment, or of files without one."""
    found = judge_runs(runs)
    advice = tuple((title, tuple(getattr(found, key))) for key, title in ADVICE.items() if getattr(found, key))
    return Judged(found.answer, tuple(map(_card, found.cases)), advice)


def _card(case: Case) -> Card:
    """A table of ratios to the baseline."""
    of = f"{case.variants[0]} ÷ {case.baseline}" if len(case.variants) == 1 else f"÷ {case.baseline}"
    table = Table((of, *HEAD), tuple(_row(case, row) for row in case.rows))
    return Card(case.name or case.axis, case.decision.value, case.answer, table, case.reasons)


def _row(case: Case, row: Row) -> tuple[str, ...]:
    which = row.load.words if len(case.variants) == 1 else f"{row.variant}, {row.load.words}"
    others = (_short(ratio) for ratio in (row.p99, row.client_cpu, row.server_cpu))
    return (which, times(row.throughput) if row.throughput else "-", *others, row.decision.value.replace("-", " "))


def _short(ratio: Ratio | None) -> str:
    return "-" if ratio is None else f"{ratio.value:.2f}"
