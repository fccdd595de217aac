"""A finding as a block of lines that fits a terminal screen with its legend: the answer, a table, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from cqbench import verdict_advice as advice
from cqbench import verdict_rules as rules
from cqbench.verdict_judge import Finding, Row, Side
from cqbench.verdict_words import (
    INDENT,
    LABELS,
    compact,
    cores,
    fill,
    fit_words,
    gain,
    number,
    title,
    verdict_words,
    wrap,
)

MAX_LINES = 24  # with the legend
LEGEND = fill(
    "ideal: of n x the rate at 1. limit: conn(ection), CPU-/queue- of cli(ent) or srv, network, latency (nothing "
    "full), ? not known. Ratios: separate / shared (95 % interval). CPU: per RPC, client/server.",
    2,
)


def block(finding: Finding) -> list[str]:
    """The lines of one block, without the legend. The table gets the lines that the words leave."""
    above = flat([fill(title(finding), 2, " " * INDENT), wrap("VERDICT", verdict_words(finding), 3)])
    todo = advice.to_do(finding)
    below = flat(
        [
            wrap("GAIN", gain(finding), 3),
            *_usl(finding),
            wrap("CORES", cores(finding), 2),
            wrap("SET", advice.policy(finding), 3),
            wrap("MEASURE", "; ".join(todo) + "." if todo else "", 2),
        ]
    )
    legend_and_head = 4
    return above + _table(finding, MAX_LINES - legend_and_head - len(above) - len(below)) + below


def flat(parts: Sequence[str]) -> list[str]:
    return [line for part in parts if part for line in part.split("\n")]


def _table(finding: Finding, rows: int) -> list[str]:
    head = f"{'req/s':>9} {'ideal':>5} {'limit':<7}"
    return [
        f"{'':>9} | {'shared connection':<{len(head)}} | {'separate connections':<{len(head)}} | {'separate / shared'}",
        f"{'in-flight':>9} | {head} | {head} | {'throughput':<17} {'P99':>5} {'CPU c/s':>9}",
        *(_row(r) for r in _chosen(finding, rows)),
    ]


def _chosen(finding: Finding, most: int) -> list[Row]:
    """At most so many (five at least): the ends, the turning points, and others evenly."""
    rows = list(finding.rows)
    if len(rows) <= most:
        return rows
    turning = [finding.best.inflight if finding.best else None, *finding.present[:1], finding.loses_from]
    wanted = {0, len(rows) - 1, *(i for i, r in enumerate(rows) if r.inflight in turning)}
    step = (len(rows) - 1) / (most - 1)
    for i in (round(step * k) for k in range(most)):
        if len(wanted) < most:
            wanted.add(i)
    return [rows[i] for i in sorted(wanted)]


def _row(row: Row) -> str:
    doubt = any(s and rules.mostly_suspect(s.suspect, s.repetitions) for s in (row.shared, row.separate))
    cost = "/".join(number(c.value if c else None, "{:.2f}") for c in (row.client_cost, row.server_cost))
    line = (
        f"{'!' if doubt else ''}{row.inflight}".rjust(9)
        + f" | {_side(row.shared)} | {_side(row.separate)} | {compact(row.throughput):<17} "
        + f"{number(row.p99.value if row.p99 else None, '{:.2f}'):>5} {cost:>9}"
    )
    return line.rstrip()


def _side(side: Side | None) -> str:
    if side is None:
        return f"{'-':>9} {'-':>5} {'-':<7}"
    share = number(side.evidence.ideal, "{:.0%}")
    return f"{number(side.throughput, '{:.0f}'):>9} {share:>5} {LABELS[side.regime]:<7}"


def _usl(finding: Finding) -> list[str]:
    names = [(name, fit) for name, fit in finding.fits.items() if fit]
    return [wrap("USL" if i == 0 else "", fit_words(n, f), 1) for i, (n, f) in enumerate(names)]
