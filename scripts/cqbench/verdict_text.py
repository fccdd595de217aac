"""Findings -> text for a terminal: one block per workload, mode, API and setting, a screen at most. Plain ASCII."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from cqbench import verdict_advice as advice
from cqbench import verdict_rules as rules
from cqbench.usl import Coefficient, Fit
from cqbench.verdict_advice import counts, interval
from cqbench.verdict_judge import Finding, Row, Side
from cqbench.verdict_rules import Regime, Verdict
from cqbench.verdict_stats import Ratio

WIDTH = 100
MAX_LINES = 24  # of a block with the legend
INDENT = 9
LABELS = {
    Regime.CONNECTION: "conn",
    Regime.CLIENT_CPU: "CPU-cli",
    Regime.SERVER_CPU: "CPU-srv",
    Regime.NETWORK: "network",
    Regime.SERVER_QUEUE: "queue-s",
    Regime.CLIENT_QUEUE: "queue-c",
    Regime.IDLE: "latency",
    Regime.UNKNOWN: "?",
}
LEGEND = (
    "ideal: of n x the rate at 1. limit: conn(ection), CPU-/queue- of cli(ent) or srv, network, latency (nothing "
    "full), ? not known. Ratios: separate / shared (95 % interval). CPU: per RPC, client/server."
)


def render(findings: Sequence[Finding], choices: Sequence[advice.Choice]) -> str:
    """The blocks in the order given, what else to set, and the legend. Ends with a newline."""
    if not findings:
        return "Nothing to judge: no series was measured.\n"
    parts = ["\n".join(block(f)) for f in findings]
    if choices:
        parts.append("\n".join(_wrap("ALSO", advice.choice_words(c), 2) for c in choices[:3]))
    return "\n\n".join(parts) + "\n" + _fill(LEGEND, 2) + "\n"


def block(finding: Finding) -> list[str]:
    """The lines of one block, without the legend. The table gets the lines that the words leave."""
    above = _lines([_title(finding), _wrap("VERDICT", verdict_words(finding), 3)])
    todo = advice.to_do(finding)
    below = _lines(
        [
            _wrap("GAIN", _gain(finding), 2),
            *_usl(finding),
            _wrap("CORES", cores(finding), 2),
            _wrap("SET", advice.policy(finding), 3),
            _wrap("MEASURE", "; ".join(todo) + "." if todo else "", 2),
        ]
    )
    legend_and_head = 4
    return above + _table(finding, MAX_LINES - legend_and_head - len(above) - len(below)) + below


def _lines(parts: Sequence[str]) -> list[str]:
    return [line for part in parts if part for line in part.split("\n")]


def _title(finding: Finding) -> str:
    series = finding.pair.any
    s = series.setting
    repetitions = f"{finding.repetitions} repetition{'' if finding.repetitions == 1 else 's'}"
    words = [f"{series.mode} {series.workload}", f"{s.api} client", s.client, repetitions, f"CPUs: {s.cpus}"]
    words += [f"server {s.server}" if s.server else "", s.payload, s.extra, f"gRPC {s.grpc}"]
    return textwrap.shorten(", ".join(w for w in words if w), WIDTH, placeholder=" ...")


def verdict_words(finding: Finding) -> str:
    """The answer to: is the shared connection the bottleneck here, and from where on?"""
    measured = [r.inflight for r in finding.rows]
    best = finding.best
    if finding.verdict is Verdict.PRESENT:
        text = f"The shared connection IS the bottleneck {_where_present(finding)}"
        return f"{text}: separate ones are faster while neither end's CPUs are full.{_above(finding)}"
    if finding.verdict is Verdict.FASTER:
        where = counts(finding.gains, measured)
        return (
            f"Separate connections are faster at {where} in flight, but not because the shared connection is full: "
            f"{_what_was_full(finding)}. It is not shown to be the bottleneck.{_above(finding)}"
        )
    if finding.verdict is Verdict.CPU_LIMITED:
        since = f" from {finding.cpu_limited_from} in flight on" if finding.cpu_limited_from else ""
        return f"The shared connection is not the bottleneck here: the CPUs are the limit{since}."
    if finding.verdict is Verdict.ABSENT:
        return (
            f"The shared connection is NOT the bottleneck: up to {measured[-1]} in flight separate ones are not "
            f"faster by {rules.GAIN - 1:.0%} or more."
        )
    return f"NOT ENOUGH EVIDENCE: {_why_not(finding)}" + (
        f" Best ratio seen: {interval(best.throughput)} at {best.inflight}." if best else ""
    )


def _where_present(finding: Finding) -> str:
    """'from 4 in flight on', or the counts where it is not seen at every count above."""
    measured = [r.inflight for r in finding.rows]
    if finding.present == tuple(n for n in measured if n >= finding.present[0]):
        return f"from {finding.present[0]} in flight on"
    return f"at {counts(finding.present, measured)} in flight only"


def _above(finding: Finding) -> str:
    """What follows where the CPUs take over."""
    if finding.cpu_limited_from is None:
        return ""
    return f" From {finding.cpu_limited_from} on the CPUs are the limit."


def _what_was_full(finding: Finding) -> str:
    words = {
        Regime.CLIENT_CPU: "the client's CPUs are full",
        Regime.SERVER_CPU: "the server's CPUs are full",
        Regime.SERVER_QUEUE: "the server's workers are full",
    }
    held = [r.shared.regime for r in finding.rows if r.inflight in finding.gains and r.shared]
    said = dict.fromkeys(words.get(h, "what limits is not known") for h in held)
    return " and ".join(said)


def _why_not(finding: Finding) -> str:
    undecided = counts(finding.undecided, [r.inflight for r in finding.rows])
    return {
        "one-side-not-measured": "only one way of connecting was measured.",
        "no-common-count-above-1": "no count above 1 in flight was measured on both sides.",
        "contradiction-at-1-in-flight": "the series differ at 1 in flight already, where both are the same.",
        "faster-but-limit-not-known": "separate connections are faster, but figures to say why are missing.",
    }.get(finding.fired[0], f"open at {undecided} in flight ({_open_because(finding)}).")


def _open_because(finding: Finding) -> str:
    """Why the undecided counts are: repetitions, suspect ones, connections, or wide intervals."""
    rows = [r for r in finding.rows if r.undecided]
    sides = [s for r in rows for s in (r.shared, r.separate) if s]
    reasons = {
        "client and server share CPUs": any(
            rules.disqualifies(d) for p in (finding.pair.shared, finding.pair.separate) if p for d in p.general_doubts
        ),
        "a side is missing": any(r.shared is None or r.separate is None for r in rows),
        "too few repetitions": any(s.repetitions < rules.MIN_FOR_INTERVAL for s in sides),
        "suspect repetitions": any(rules.mostly_suspect(s.suspect, s.repetitions) for s in sides),
        "other connections than promised": any(not s.policy_held for s in sides),
    }
    return ", ".join(name for name, holds in reasons.items() if holds) or "wide intervals"


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
    cost = "/".join(_number(c.value if c else None, "{:.2f}") for c in (row.client_cost, row.server_cost))
    line = (
        f"{'!' if doubt else ''}{row.inflight}".rjust(9)
        + f" | {_side(row.shared)} | {_side(row.separate)} | {_compact(row.throughput):<17} "
        + f"{_number(row.p99.value if row.p99 else None, '{:.2f}'):>5} {cost:>9}"
    )
    return line.rstrip()


def _side(side: Side | None) -> str:
    if side is None:
        return f"{'-':>9} {'-':>5} {'-':<7}"
    share = _number(side.evidence.ideal, "{:.0%}")
    return f"{_number(side.throughput, '{:.0f}'):>9} {share:>5} {LABELS[side.regime]:<7}"


def _compact(ratio: Ratio | None) -> str:
    if ratio is None:
        return "-"
    digits = 2 if ratio.value < 10 else 1
    text = f"{ratio.value:.{digits}f}x"
    return text if ratio.low is None else f"{text} {ratio.low:.{digits}f}-{ratio.high:.{digits}f}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _gain(finding: Finding) -> str:
    """Gain and cost at the best count."""
    best = finding.best
    if best is None:
        return ""
    return (
        f"best at {best.inflight} in flight: throughput {interval(best.throughput)}, P99 {interval(best.p99)}; CPU per "
        f"RPC: client {interval(best.client_cost)}, server {interval(best.server_cost)}."
    )


def _usl(finding: Finding) -> list[str]:
    names = [(name, fit) for name, fit in finding.fits.items() if fit]
    return [_wrap("USL" if i == 0 else "", fit_words(n, f), 1) for i, (n, f) in enumerate(names)]


def fit_words(name: str, fit: Fit) -> str:
    """One line per series; a poor fit gives no coefficients, since they would be read as facts."""
    if fit.poor:
        return f"{name:<8} not to be relied on: {'; '.join(fit.complaints)}."
    peak = "no peak" if fit.peak is None else f"peak {fit.peak:.0f}"
    text = (
        f"{name:<8} R2 {fit.r2:.2f}, {peak}, lambda {fit.rate.value:.0f}, sigma {_coefficient(fit.sigma, 2)}, "
        f"kappa {_coefficient(fit.kappa, 4)}"
    )
    with_caution = f"{text}; {fit.caution}" if fit.caution else text
    return with_caution if len(with_caution) <= WIDTH - INDENT else text


def _coefficient(c: Coefficient, digits: int) -> str:
    """'0.12 (.10-.14)': all of it in the JSON."""
    text = f"{c.value:.{digits}f}"
    if c.low is None or c.high is None:
        return text
    low, high = (f"{v:.{digits}f}".removeprefix("0") for v in (c.low, c.high))
    return f"{text} ({low}-{high})"


def cores(finding: Finding) -> str:
    """On few cores, or where only CPUs limit: what cannot be seen here, and what it would take. '' otherwise."""
    limited = finding.cpu_limited_from or finding.gain_capped_from
    if not finding.few_cores and not limited:
        return ""
    ends = (("client", finding.client_cpus), ("server", finding.server_cpus))
    have = ", ".join(f"{name} {value:.0f}" for name, value in ends if value)
    text = f"{have} CPU(s) are few"
    if limited:
        who = "" if finding.cpu_limited_from else " of separate connections"
        text = f"{have} CPU(s) are the limit{who} from {limited} in flight on"
    if not _sixfold(finding):
        text += "; the post's sixfold cannot appear here"
    text += f". For more: {rules.FEW_CPUS}+ CPUs a side" if finding.few_cores else ". For more: more CPUs"
    needed = [(name, v, there) for (name, there), v in zip(ends, finding.cores_needed, strict=True) if v is not None]
    if any(v > (there or 0) for _, v, there in needed):
        words = ", ".join(f"{_up(v)} {name}" for name, v, _ in needed)
        text += f"; about {words} for {rules.POST_RATIO:.0f}x the shared rate"
    return text + "."


def _sixfold(finding: Finding) -> bool:
    best = finding.best.throughput if finding.best else None
    return best is not None and best.value >= rules.POST_RATIO


def _up(value: float) -> int:
    return int(-(-value // 1))


def _wrap(label: str, text: str, lines: int) -> str:
    """A label and text beside it, at most so many lines; '' for no text."""
    if not text:
        return ""
    return _fill(f"{label:<{INDENT}}{text}" if label else f"{'':<{INDENT}}{text}", lines, " " * INDENT)


def _fill(text: str, lines: int, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, max_lines=lines, placeholder=" ..."
    )
