"""Several findings on one screen: a sentence about the machine, a row for each, what to set, what is missing."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cqbench import verdict_advice as advice
from cqbench import verdict_rules as rules
from cqbench.reasons import alike
from cqbench.verdict_advice import Judgement, counts, interval
from cqbench.verdict_block import MAX_LINES, flat
from cqbench.verdict_judge import Finding, Side
from cqbench.verdict_rules import Verdict
from cqbench.verdict_words import (
    LABELS,
    LIMITS,
    WIDTH,
    compact,
    fill,
    has_post_ratio,
    limit,
    number,
    up,
    why_not,
    wrap,
)

ANSWERS = {
    Verdict.PRESENT: "IS the bottleneck",
    Verdict.FASTER: "not shown to be",
    Verdict.CPU_LIMITED: "no: CPUs are full",
    Verdict.ABSENT: "no bottleneck",
    Verdict.NOT_ENOUGH: "not known",
}
LEGEND = (
    "Ratios: separate / shared at the best count. CPU: client's, per RPC. limit: shared/separate at the highest "
    "count: conn(ection), CPU-/queue- of cli(ent) or srv, network, latency, ? unknown."
)
NAMED = 3  # cases that the advice names


class Case(NamedTuple):
    """A finding with what tells it from the others."""

    name: str
    finding: Finding


def lines(judgement: Judgement) -> list[str]:
    """Of two findings or more. The table gets the lines that the words leave."""
    cases = _cases(judgement.findings)
    above = flat([fill(_overall(cases), 4)])
    below = flat(
        [
            wrap("SET", _connections(cases), 3),
            *(wrap("", advice.choice_words(c), 1) for c in _one_of_each(judgement.choices)),
            wrap("CORES", _cores(judgement.findings), 2),
            wrap("MEASURE", _to_do(judgement.findings), 2),
            fill(LEGEND, 2),
        ]
    )
    return above + _table(cases, MAX_LINES - len(above) - len(below)) + below


def _cases(findings: Sequence[Finding]) -> list[Case]:
    """Named by method, API, and of the rest what not all have in common."""
    settings = [_setting(f) for f in findings]
    common = set.intersection(*map(set, settings))
    return [
        Case(", ".join([f"{f.pair.any.method} {f.pair.any.setting.api}", *(w for w in own if w not in common)]), f)
        for f, own in zip(findings, settings, strict=True)
    ]


def _setting(finding: Finding) -> list[str]:
    s = finding.pair.any.setting
    texts = (finding.pair.any.workload, s.client, s.server, s.payload, s.extra, s.grpc, s.cpus)
    return [word for text in texts for word in text.split(", ") if word]


def _overall(cases: Sequence[Case]) -> str:
    """Whether the shared connection is the bottleneck here, where, what others bring, and what limits otherwise."""
    known = [c for c in cases if c.finding.verdict is not Verdict.NOT_ENOUGH]
    if not known:
        text = f"NOT ENOUGH EVIDENCE in any of {len(cases)} cases; the first: {why_not(cases[0].finding)}"
        return text + _best(cases, " Best ratio seen: ")
    present = [c for c in cases if c.finding.verdict is Verdict.PRESENT]
    if present:
        first = min(present, key=lambda c: c.finding.present[0])
        text = (
            f"The shared connection IS the bottleneck on this machine in {_of(len(present), cases)}, at "
            f"{first.finding.present[0]} in flight at the earliest ({first.name})."
        )
    else:
        text = f"The shared connection is not shown to be the bottleneck on this machine in any of {len(cases)} cases."
    gaining = [c for c in known if c.finding.gains]
    text += _best(gaining, " Separate ones bring up to " if len(gaining) > 1 else " Separate ones bring ")
    if len(known) < len(cases):
        text += f" Not enough evidence for {len(cases) - len(known)}."
    return text + _limits(cases)


def _of(some: int, cases: Sequence[object]) -> str:
    if some == len(cases) == 2:
        return "both cases"
    return f"all {some} cases" if some == len(cases) else f"{some} of {len(cases)} cases"


def _best(cases: Sequence[Case], words: str) -> str:
    """The highest ratio of all, with where it was seen; '' when there is none."""
    found = [(f.best.throughput, f.best.inflight, name) for name, f in cases if f.best and f.best.throughput]
    if not found:
        return ""
    ratio, inflight, name = max(found, key=lambda x: x[0].value)
    return f"{words}{interval(ratio)} the throughput ({name}, {inflight} in flight)."


def _limits(cases: Sequence[Case]) -> str:
    """What is full with the most in flight."""
    held = Counter(r for c in cases if (r := limit(c.finding)))
    if not held:
        return ""
    words = " and ".join(f"{LIMITS[r]} in {_of(n, cases)}" for r, n in held.most_common(2))
    return f" With the most in flight the limit is {words}."


def _table(cases: Sequence[Case], room: int) -> list[str]:
    """At most so many lines. The most important come first."""
    rest = f"{'shared conn.':<17} {'from':>4} {'throughput':<15} {'P99':>5} {'CPU':>5} {'at':>3} "
    names = _short_names(cases, WIDTH - 1 - len(rest) - len("CPU-cli/CPU-cli"))
    width = max(len("case"), *map(len, names))
    shown = cases if len(cases) < room else cases[: room - 2]
    left = len(cases) - len(shown)
    return [
        f"{'case':<{width}} {rest}limit",
        *(f"{name:<{width}} {_row(c.finding)}" for name, c in zip(names, shown, strict=False)),
        *([f"... and {left} more, less important; --all shows every one."] if left else []),
    ]


def _short_names(cases: Sequence[Case], width: int) -> list[str]:
    """What fits. Where settings are too long, in an experiment: the values of its axes that a case's variants share."""
    names = [c.name for c in cases]
    axes = [_axes(c.finding) for c in cases]
    if max(map(len, names)) > width and all(axes) and len(set(axes)) == len(axes):
        names = axes
    return [textwrap.shorten(name, width, placeholder="...") for name in names]


def _axes(finding: Finding) -> str:
    """'proxy-5ms.unary' of proxy-5ms.unary.shared and proxy-5ms.unary.separate; '' outside of experiments."""
    first, *others = [name.split(".") for s in finding.pair.all for name in sorted(s.variants)]
    return ".".join(part for part in first if all(part in other for other in others))


def _row(finding: Finding) -> str:
    best, last = finding.best, finding.rows[-1] if finding.rows else None
    start = (finding.present or finding.gains or ("-",))[0]
    answer = f"{ANSWERS[finding.verdict]:<17} {start:>4}"
    held = "/".join(_label(s) for s in (last.shared, last.separate)) if last else "-"
    if best is None:
        return f"{answer} {'-':<15} {'-':>5} {'-':>5} {'-':>3} {held}"
    p99, cost = (number(r.value if r else None, "{:.2f}x") for r in (best.p99, best.client_cost))
    return f"{answer} {compact(best.throughput):<15} {p99:>5} {cost:>5} {best.inflight:>3} {held}"


def _label(side: Side | None) -> str:
    return LABELS[side.regime] if side else "-"


def _connections(cases: Sequence[Case]) -> str:
    """Where separate connections should be set, with the expected gain, and where they lose."""
    known = [c for c in cases if c.finding.verdict is not Verdict.NOT_ENOUGH]
    if not known:
        return advice.policy(cases[0].finding)
    gaining = [c for c in known if c.finding.gains]
    if not gaining:
        return f"{advice.LEAVE}: keep the shared connection; separate ones bring nothing that counts."
    first = gaining[0].finding
    places = [_expected(c) for c in gaining[:NAMED]] + [f"{n} more" for n in [len(gaining) - NAMED] if n > 0]
    text = f"{advice.way(first)}, if you run {'; '.join(places)}"
    text += "." if len(gaining) == len(cases) else "; else leave it."
    enough = advice.connections(first, first.best) if first.best else ""
    lost = [f"{name}: {advice.losses(f)}." for name, f in known if f.losses]
    return " ".join(filter(None, [text, enough, *lost[:1]]))


def _expected(case: Case) -> str:
    name, f = case
    where = counts(f.gains, [r.inflight for r in f.rows])
    return f"{name} at {where}" + (f": {compact(f.best.throughput)} at {f.best.inflight}" if f.best else "")


def _one_of_each(choices: Iterable[advice.Choice]) -> list[advice.Choice]:
    """The largest of API, client threads, server layout."""
    found: dict[str, advice.Choice] = {}
    for choice in choices:
        found.setdefault(choice.what, choice)
    return list(found.values())


def _cores(findings: Sequence[Finding]) -> str:
    """What this machine cannot show for want of CPUs, and what it would take; '' when that is nothing."""
    limited = [f for f in findings if f.few_cores or f.cpu_limited_from or f.gain_capped_from]
    if not limited:
        return ""
    allowed = {"client": [f.client_cpus for f in limited], "server": [f.server_cpus for f in limited]}
    least = {end: min(v for v in values if v) for end, values in allowed.items() if any(values)}
    have = ", ".join(f"{end} {value:.0f}" for end, value in least.items())
    full = sum(bool(f.cpu_limited_from or f.gain_capped_from) for f in limited)
    text = f"{have} CPU(s) are few" if not full else f"{have} CPU(s) are the limit in {_of(full, findings)}"
    if not any(has_post_ratio(f) for f in findings):
        text += "; the post's sixfold cannot appear here"
    few = any(f.few_cores for f in limited)
    text += f". For more: {rules.FEW_CPUS}+ CPUs a side" if few else ". For more: more CPUs"
    needed = [max((f.cores_needed[i] or 0 for f in limited), default=0) for i in (0, 1)]
    words = ", ".join(f"{up(v)} {end}" for end, v in zip(allowed, needed, strict=True) if v)
    return f"{text}; about {words} for {rules.POST_RATIO:.0f}x every shared rate." if words else f"{text}."


def _to_do(findings: Sequence[Finding]) -> str:
    """What is missing in the most cases comes first; what differs in its figures only is said once."""
    wanted: dict[str, list[str]] = {}
    for text in (text for f in findings for text in advice.to_do(f)):
        wanted.setdefault(alike(text), []).append(text)
    said = sorted(wanted.values(), key=len, reverse=True)
    return "; ".join(f"{texts[0]}, in {_of(len(texts), findings)}" for texts in said) + "." if said else ""
