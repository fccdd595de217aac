"""A finding in words: its title, the answer, the gain, the fits, the cores. Plain ASCII, a terminal's width."""

from __future__ import annotations

import textwrap

from cqbench import verdict_rules as rules
from cqbench.medians import Ratio
from cqbench.usl import Coefficient, Fit
from cqbench.verdict_advice import counts, interval
from cqbench.verdict_judge import Finding, Row
from cqbench.verdict_rules import Regime, Verdict

WIDTH = 100
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
LIMITS = {  # where something is full
    Regime.CLIENT_CPU: "the client's CPUs",
    Regime.SERVER_CPU: "the server's CPUs",
    Regime.NETWORK: "the network's round trip",
    Regime.SERVER_QUEUE: "the server's threads",
    Regime.CLIENT_QUEUE: "the client's threads",
}


def title(finding: Finding) -> str:
    """What was measured, how and where: the most telling first, cut where two lines end."""
    series = finding.pair.any
    s = series.setting
    repetitions = f"{finding.repetitions} repetition{'' if finding.repetitions == 1 else 's'}"
    words = [f"{series.method} {series.workload}", f"{s.api} client", s.client, s.extra, s.payload]
    words += [f"server {s.server}" if s.server else "", repetitions, f"CPUs: {s.cpus}", f"gRPC {s.grpc}"]
    return textwrap.shorten(", ".join(w for w in words if w), 2 * WIDTH - INDENT, placeholder=" ...")


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
            f"Separate connections are faster at {where} in flight, but {_what_was_full(finding)}: the shared "
            f"connection is not shown to be the bottleneck.{_above(finding)}"
        )
    if finding.verdict is Verdict.CPU_LIMITED:
        since = f" from {finding.cpu_limited_from} in flight on" if finding.cpu_limited_from else ""
        return f"The shared connection is not the bottleneck here: the CPUs are the limit{since}."
    if finding.verdict is Verdict.ABSENT:
        return (
            f"The shared connection is NOT the bottleneck: up to {measured[-1]} in flight separate ones are not "
            f"faster by {rules.GAIN - 1:.0%} or more.{_limit_instead(finding)}"
        )
    return f"NOT ENOUGH EVIDENCE: {why_not(finding)}" + (
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
        Regime.SERVER_QUEUE: "the server's threads are full or asleep",
        Regime.NETWORK: "most of a call is the network's round trip",
        Regime.IDLE: "the shared one keeps up there with the calls in flight",
    }
    proxy = "each connection has a queue of its own in the proxy, which may be what is full"
    held = [r.shared for r in finding.rows if r.inflight in finding.gains and r.shared]
    unknown = {"faster-through-a-proxy": proxy}
    said = dict.fromkeys(words.get(s.regime) or unknown.get(s.rule, "what limits is not known") for s in held)
    return " and ".join(said)


def limit(finding: Finding) -> Regime | None:
    """What holds both back at the highest count: of separate connections where it is known, as they can do the most."""
    last = finding.rows[-1] if finding.rows else None
    held = [s.regime for s in (last.separate, last.shared) if s] if last else []
    return next((r for r in held if r in LIMITS), None)


def _limit_instead(finding: Finding) -> str:
    held = limit(finding)
    return f" With {finding.rows[-1].inflight} in flight the limit is {LIMITS[held]}." if held else ""


def why_not(finding: Finding) -> str:
    undecided = counts(finding.undecided, [r.inflight for r in finding.rows])
    missing = "the shared connection" if finding.pair.shared is None else "separate connections"
    failed = any(s.failed() for s in (finding.pair.shared, finding.pair.separate) if s)
    return {
        "one-side-not-measured": f"{missing} {'was' if finding.pair.shared is None else 'were'} not measured.",
        "no-common-count-above-1": "no count above 1 in flight was measured on both sides"
        + (" without failed calls." if failed else "."),
        "contradiction-at-1-in-flight": "the series differ at 1 in flight already, where both are the same.",
        "faster-but-limit-not-known": "separate connections are faster, but figures to say why are missing.",
    }.get(finding.fired[0], f"open at {undecided} in flight ({_open_because(finding)}).")


def _open_because(finding: Finding) -> str:
    """Why the undecided counts are: repetitions, suspect ones, connections, or wide intervals."""
    rows = [r for r in finding.rows if r.undecided]
    sides = [s for r in rows for s in (r.shared, r.separate) if s]
    series = [s for s in (finding.pair.shared, finding.pair.separate) if s]
    gaps = [bool(s.failed(r.inflight)) for r in rows for s in series if not s.repetitions(r.inflight)]
    general = [d for s in series for d in s.general_doubts]
    reasons = {
        **{why: any(d.code == code for d in general) for code, why in rules.DISQUALIFYING.items()},
        "failed calls": any(gaps),
        "a side is missing": not all(gaps),
        "too few repetitions": any(s.repetitions < rules.MIN_FOR_INTERVAL for s in sides),
        "suspect repetitions": any(rules.mostly_suspect(s.suspect, s.repetitions) for s in sides),
        "other connections than promised": any(not s.policy_held for s in sides),
    }
    return ", ".join(name for name, holds in reasons.items() if holds) or "wide intervals"


def gain(finding: Finding) -> str:
    """Gain and cost at the best count."""
    best = finding.best
    if best is None:
        return ""
    return (
        f"best: throughput {interval(best.throughput)} at {best.inflight}{_made_of(best)}; P99 "
        f"{interval(best.p99)}; CPU per RPC: client {interval(best.client_cost)}, server {interval(best.server_cost)}."
    )


def _made_of(row: Row) -> str:
    """The factors of the throughput ratio, in terms of the client's CPU where they are known; '' for none.

    '~' where medians over repetitions that differ do not multiply to the ratio's within 2 %.
    """
    for end, factors in (("client", row.client_factors), ("server", row.server_factors)):
        if factors:
            work = _factor(factors.at_work, f"more {end} CPU at work", f"of the {end} CPU at work")
            exact = row.throughput is not None and abs(factors.product / row.throughput.value - 1) <= 0.02
            return f" {'=' if exact else '~'} {work} x {_factor(factors.cheaper, 'cheaper calls', 'from dearer calls')}"
    return ""


def _factor(ratio: Ratio, above: str, below: str) -> str:
    return f"{ratio.value:.2f}x {above if ratio.value > 1 else below}"


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
    if not has_post_ratio(finding):
        text += "; the post's sixfold cannot appear here"
    text += f". For more: {rules.FEW_CPUS}+ CPUs a side" if finding.few_cores else ". For more: more CPUs"
    needed = [(name, v, there) for (name, there), v in zip(ends, finding.cores_needed, strict=True) if v is not None]
    if any(v > (there or 0) for _, v, there in needed):
        words = ", ".join(f"{up(v)} {name}" for name, v, _ in needed)
        text += f"; about {words} for {rules.POST_RATIO:.0f}x the shared rate"
    return text + "."


def has_post_ratio(finding: Finding) -> bool:
    best = finding.best.throughput if finding.best else None
    return best is not None and best.value >= rules.POST_RATIO


def up(value: float) -> int:
    return int(-(-value // 1))


def compact(ratio: Ratio | None) -> str:
    if ratio is None:
        return "-"
    digits = 2 if ratio.value < 10 else 1
    text = f"{ratio.value:.{digits}f}x"
    return text if ratio.low is None else f"{text} {ratio.low:.{digits}f}-{ratio.high:.{digits}f}"


def number(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def wrap(label: str, text: str, lines: int) -> str:
    """A label and text beside it, at most so many lines; '' for no text."""
    if not text:
        return ""
    return fill(f"{label:<{INDENT}}{text}" if label else f"{'':<{INDENT}}{text}", lines, " " * INDENT)


def fill(text: str, lines: int, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, max_lines=lines, placeholder=" ..."
    )
