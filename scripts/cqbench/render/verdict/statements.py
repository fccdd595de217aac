"""The sentences of a whole judgement: machine, notes, what to measure, what this machine cannot show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.judge import CONTRADICTION, NOT_REACHED
from cqbench.analysis.verdict.model import Judgement, Scenario, Statement
from cqbench.formats.offered import Load
from cqbench.model.figures import ENDS
from cqbench.model.usable import NOT_HELD
from cqbench.render.verdict.words import CODES, loads, percent
from cqbench.stats.ratios import MAX_REPETITIONS, MIN_REPETITIONS

MANY = 60  # repetitions that take too long
CLIENTS = {
    evidence.LIMITS[0]: "the CPUs of the client machine are saturated",
    evidence.SOME_CLIENTS_CPU: "the CPUs of one of the client machines are saturated",
}


def machine(judgement: Judgement) -> str:
    """'Intel Xeon, 1 client + 1 server CPU, gRPC 1.51.1, 7 repetitions of 0.6 s'."""
    told = judgement.machine
    if not told:
        return ""
    ends = [f"{told[f'{end}_cpus']} {end}" for end in ENDS if f"{end}_cpus" in told]
    allowed = f"{' + '.join(ends)} CPU" if len(ends) == len(ENDS) else ""
    every = judgement.scenarios
    rows = [row.repetitions for one in every for row in one.rows]
    fewest, most = min(rows, default=0), max(rows, default=0)
    numbers = f"{fewest}" if fewest == most or judgement.seconds is None else f"{fewest} to {most}"
    took = f" in {_duration(judgement.seconds)}" if judgement.seconds else ""
    long = f" of {told['window']} s" if "window" in told else ""
    count = f"{numbers} repetition{'s' * (numbers != '1')}{long}{took}" if every else ""
    rule = _rule(every) if fewest >= MIN_REPETITIONS else ""
    same = [told.get(key) for key in ("ranks", "grpc_version", "method", "api")]
    return ", ".join(filter(None, [told.get("cpu_model"), allowed, *same, count, rule]))


def _rule(every: Sequence[Scenario]) -> str:
    late = "" if any(one.open_loop for one in every) else " (of P99: 99 %)"  # there P99 decides
    return f"simultaneous 95 % intervals{late}, equivalent: within {percent(every[0].margin)}"


def notes(judgement: Judgement) -> Iterator[str]:
    if not judgement.interleaved:
        yield "not interleaved: what changed on the machine from one series to the next is in the ratios"
    if judgement.unreliable:
        number, of, kinds = judgement.unreliable
        said = " and ".join(f"'{example.text}'" for _, example in kinds)
        yield f"{number} of {of} measurements have a warning, such as {said}"
        if number == of:
            yield "all of it was measured on a busy machine: a quiet one has higher rates, and may have other ratios"


def sentence(of: Statement) -> str:
    return SENTENCES[of.code](**of.facts)


def _failed(*, points: int, connections: Sequence[str], codes: Sequence[str]) -> str:
    which = f"{points} point{'s' * (points > 1)} of {' and '.join(connections)}"
    return f"again, after the errors are fixed: {which} had failed calls ({'/'.join(codes)}) and were left out"


def _noise(*, most: int, have: int, seconds: float | None, margin: float) -> str:
    more = most - have
    took = f" (about {_duration(more * seconds)})" if seconds else ""
    easier = "" if most <= MANY else "; a quieter machine or a longer --interval takes fewer"
    return (
        f"{more} more repetitions{took} to detect a difference of {percent(margin)} at every load (power 80 %){easier}"
    )


def _within_budget(*, rows: int, more: float | None, spent: float | None, margin: float) -> str:
    how = "a longer --budget"
    if more and spent:
        whole = math.ceil((more + spent) / 60)
        how = f"about {_duration(more)} more, {whole} minutes in all (--resume DIR --budget {whole}m),"
    which = f"the {rows} inconclusive comparisons" if rows > 1 else "the inconclusive comparison"
    return f"{how} for {which}, to detect a difference of {percent(margin)} (power 80 %)"


def _too_noisy(*, rows: int) -> str:
    which = f"{rows} comparisons are" if rows > 1 else "one comparison is"
    return f"a quieter machine or a longer --interval: {which} too noisy for {MAX_REPETITIONS} repetitions"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _raise_limit(*, limit: int, inflight: int) -> str:
    return f"one connection with a higher limit: --vary server:max-concurrent-streams={limit},{inflight}"


def _fewer(*, inflight: int) -> str:
    pools = ",".join(f"pool:{size}" for size in (2, 4, 8) if size < inflight)
    return f"whether fewer connections than calls in flight are enough: --vary channel-policy=shared,{pools},local-pool"


def _mixed(*, policy: str, folders: Sequence[str]) -> str:
    short_names = ", ".join(sorted(folder.rpartition("/")[2] for folder in folders)[:3])
    return f"one folder by its name: {policy} runs of several folders ({short_names}) look alike and were put together"


def _few_cpus(*, cpus: Mapping[str, float], needed: Mapping[str, int]) -> str:
    have = " and ".join(f"{value:.0f} {end} CPU{'s' * (value != 1)}" for end, value in cpus.items())
    takes = " and ".join(f"{number} {end}" for end, number in needed.items())
    takes = f"about {takes}" if takes else "more"
    return (
        f"whether one connection limits a client with more CPUs: {have} saturate first. The sixfold gain that YDB "
        f"published would take {takes} CPUs."
    )


def _at(text: str) -> Callable[..., str]:
    return lambda *, load: text.format(
        where=loads([load], [load]), what="calls per second" if load.open else "in flight"
    )


def _would(*, load: Load, saturated: str) -> str:
    machines = CLIENTS.get(saturated, CODES[saturated])
    return (
        f"more client machines: they would show more, as at {loads([load], [load])} {machines} and the server's are not"
    )


SENTENCES: Mapping[str, Callable[..., str]] = {
    # what to measure
    "failed-calls": _failed,
    "compare-with-more": "something to compare with, such as per-call connections (--channel-policy local-pool)".format,
    "compare-with-one": "something to compare with, such as one connection (--channel-policy per-slot)".format,
    "repetitions": "at least {minimum} repetitions (--repetitions {minimum}): a comparison here has {fewest}".format,
    "quiet-machine": "again, with no other work on these CPUs: {warning}".format,
    "own-machine": "on a machine of your own: {warning}".format,
    "mend-a-file": "again, after repairing or removing a file: {warning}".format,
    "cpus-apart": "with client and server apart (taskset, numactl): they share CPUs".format,
    "longer": "with a longer --warmup and --interval: {warning}".format,
    "other-set-up": "on another set-up: {warning}".format,
    "unfinished-calls": "again, when calls end: {warning}".format,
    "time-elsewhere": "again, when it is known where calls spend unaccounted time: {warning}".format,
    "noise": _noise,
    "noise-within-budget": _within_budget,
    "too-noisy": _too_noisy,
    "raise-limit": _raise_limit,
    "fewer-connections": _fewer,
    CONTRADICTION: "again, interleaved: 1 in flight is the same on both sides and still differed".format,
    NOT_HELD: "again, after the warnings in the files: connections were not as the policy promises".format,
    "figures-while-spinning": "with --poll block on both ends: figures of the CPUs are missing".format,
    evidence.NO_FIGURES: "a grpc_ping_server with its control service, and no --no-evidence: figures of the CPUs are "
    "missing".format,
    evidence.NO_IDEAL: "1 in flight as well: linear growth is counted from it".format,
    NOT_REACHED: "lower rates: the highest were not reached".format,
    "mixed-folders": _mixed,
    "more-clients-would": _would,
    "more-clients-would-not": _at(
        "nothing with more client machines: they would show no more, as at {where} the server's CPUs are saturated"
    ),
    "more-clients-not-by-themselves": _at(
        "more {what} before more client machines, which would show no more by themselves: at {where} neither end's "
        "CPUs are full"
    ),
    "more-clients-not-known": _at(
        "with CPU figures of both ends, or again, as at {where} it is inconclusive whether they are saturated, so it "
        "is not known whether more client machines would show more"
    ),
    # what this machine cannot show
    "few-cpus": _few_cpus,
    evidence.PROXY: "the connection behind a proxy, which takes each connection's data piece by piece and may "
    "itself be saturated.".format,
}
