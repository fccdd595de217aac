"""Words of a verdict that several of its parts use: numbers, loads, and what each code means. No full stops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cqbench.analysis.verdict import evidence
from cqbench.formats import reasons
from cqbench.formats.offered import Load
from cqbench.stats.ratios import Ratio

ABSENT = "–"
RATE = "/s"
CODES = {
    reasons.CLIENT_CPU: "the client's CPUs are saturated",
    evidence.SOME_CLIENTS_CPU: "the CPUs of one of the client machines are saturated, not of all",
    evidence.ALL_CLIENTS_CPU: "the CPUs of all client machines are saturated",
    reasons.SERVER_CPU: "the server's CPUs are saturated",
    evidence.SERVER_THREADS: "all of the server's threads are busy",
    evidence.CLIENT_THREADS: "all of the client's threads are busy",
    evidence.UNREAD: "requests lie unread while the server's threads sleep",
    evidence.NETWORK: "most of a call is the network's round trip",
    evidence.PROXY: "each connection has a queue of its own in the proxy, which may be what is saturated",
    evidence.KEEPS_UP: "one connection keeps up (90 % of linear growth or more)",
    evidence.NO_FIGURES: "figures of the ends' CPUs are missing",
    evidence.NO_IDEAL: "1 in flight was not measured",
    evidence.CPU_LIKELY: "likely the CPUs, which were nearly saturated",
    evidence.NO_REASON: "no figure shows what limits the shared connection",
    evidence.WIRE_IDLE: "the connection is idle between calls",
    evidence.CONTEXT_SWITCHES: "the client's threads sleep and wake more often per call",
    evidence.BATCHING: "calls queue up and leave together in one TCP segment",
    evidence.ROOM_INCONCLUSIVE: "that both ends use less than 95 % of their CPUs",
    evidence.LINEAR_INCONCLUSIVE: "that this share is below 90 %, as its interval includes 90 %",
    evidence.NOT_INTERLEAVED: "that the machine was equally fast for both, as they were not measured side by side",
    evidence.NO_SIGN: "that the connection is idle between calls",
    "few-repetitions": "too few repetitions",
    "suspect": "too many repetitions with a warning",
    "connections-not-held": "there were other connections than the policy promises",
    "contradiction": "the configurations differ with 1 in flight already, where they are the same",
    "rate-not-reached": "the rate was not reached, so latency is that of the window's length",
    reasons.SHARED_CPUS: "client and server share CPUs",
    reasons.UNKNOWN_SURROUNDINGS: "environment and network are not known",
}


def times(ratio: Ratio | None) -> str:
    """'1.43 (1.21–1.94)', without the bracket when there is no interval, '–' when there is no ratio."""
    if ratio is None:
        return ABSENT
    if ratio.low is None or ratio.high is None:
        return short(ratio.value)
    return f"{short(ratio.value)} ({short(ratio.low)}–{short(ratio.high)})"


def short(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def percent(ratio: float) -> str:
    """'3 %' of 1.03 or of 0.97; never 0 for a difference, of which a tenth is said."""
    off = abs(ratio - 1) * 100
    return f"{off:.0f} %" if off >= 1 else f"{off:.1f} %"


def per_second(value: float | None) -> str:
    """'985', '31.2k', '1.20M' calls per second."""
    if value is None:
        return ABSENT
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= 0.9995 * size:
            return f"{_digits(value / size)}{unit}"
    return _digits(value)


def micros(nanoseconds: float | None) -> str:
    """'85.3', '2450': microseconds, without the unit."""
    if nanoseconds is None:
        return ABSENT
    value = nanoseconds / 1000
    return _digits(value) if value < 99.95 else f"{value:.0f}"


def _digits(value: float) -> str:
    """Three significant digits from 1 on."""
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def loads(found: Iterable[Load], every: Iterable[Load]) -> str:
    """'2–8, 48 in flight', '1000–4000/s': consecutive loads of every load measured are put together."""
    said = spans(found, every)
    return f"{said} in flight" if said and not said.endswith(RATE) else said


def spans(found: Iterable[Load], every: Iterable[Load]) -> str:
    """loads() without the unit of closed loops; '' for none."""
    order = sorted(set(every))
    runs: list[list[Load]] = []
    for load in sorted(set(found)):
        if runs and order.index(load) == order.index(runs[-1][1]) + 1:
            runs[-1][1] = load
        else:
            runs.append([load, load])
    return ", ".join(number(a) if a == b else f"{number(a).removesuffix(RATE)}–{number(b)}" for a, b in runs)


def number(load: Load) -> str:
    """'48', '1000/s', '37.25/s'."""
    return f"{round(load.number, 2):.12g}{RATE}" if load.open else f"{load.number:.0f}"


def listed(names: Sequence[str]) -> str:
    """'a, b and c'."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def count(how_many: int, noun: str) -> str:
    return f"{how_many} {noun}{'s' * (how_many != 1)}"
