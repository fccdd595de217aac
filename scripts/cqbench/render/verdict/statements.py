"""The sentences of a whole judgement: question, answer, machine, notes, what to set, what to measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.judge import CONTRADICTION, NOT_REACHED
from cqbench.analysis.verdict.model import Decision, Judgement, Row, Scenario, Statement
from cqbench.formats.offered import Load
from cqbench.model.figures import ENDS
from cqbench.model.scaling import is_scaling
from cqbench.model.usable import NOT_HELD
from cqbench.render.verdict.words import CODES, answer, loads, percent, short, times
from cqbench.stats.ratios import MAX_REPETITIONS, MIN_REPETITIONS, Ratio

QUESTION = "Is one shared connection holding this client back?"
FAULTS = "Something was made to go wrong in every window. The table of faults has what it cost; nothing is judged."
OWN_POOL = "GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL"
MANY = 60  # repetitions that take too long
CLIENTS = {
    evidence.LIMITS[0]: "the CPUs of the client machine are saturated",
    evidence.SOME_CLIENTS_CPU: "the CPUs of one of the client machines are saturated",
}


@dataclass(frozen=True)
class Said:
    """A judgement in words: a sentence or a list of sentences under each name."""

    question: str
    answer: str
    machine: str
    notes: tuple[str, ...]
    settings: tuple[str, ...]
    measure: tuple[str, ...]
    cannot_show: tuple[str, ...]


def say(judgement: Judgement) -> Said:
    every = judgement.scenarios
    default = judgement.question in ("", QUESTION) and all(one.connections for one in every)
    lists = (judgement.settings, judgement.measure, judgement.cannot_show)
    settings, measure, cannot_show = (tuple(dict.fromkeys(map(sentence, of))) for of in lists)
    plain = QUESTION if default or judgement.faults else "Which of these settings is the best?"
    return Said(
        question=judgement.question or plain,
        answer=FAULTS if judgement.faults else overall(every, default),
        machine=_machine(judgement),
        notes=tuple(dict.fromkeys([*judgement.notes, *_notes(judgement)])),
        settings=settings,
        measure=measure,
        cannot_show=cannot_show,
    )


def _machine(judgement: Judgement) -> str:
    """'Intel Xeon, 1 client + 1 server CPU, gRPC 1.51.1, 7 repetitions'."""
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
    count = f"{numbers} repetition{'s' * (numbers != '1')}{took}" if every else ""
    rule = f"95 % simultaneous intervals, margin {percent(every[0].margin)}" if fewest >= MIN_REPETITIONS else ""
    same = [told.get(key) for key in ("ranks", "grpc_version", "method", "api")]
    return ", ".join(filter(None, [told.get("cpu_model"), allowed, *same, count, rule]))


def _notes(judgement: Judgement) -> Iterator[str]:
    if not judgement.interleaved:
        yield "not interleaved: what changed on the machine from one series to the next is in the ratios"
    if judgement.unreliable:
        number, of, worst = judgement.unreliable
        yield f"{number} of {of} points are unreliable, such as: {worst.text}"


def overall(every: Sequence[Scenario], ask: bool) -> str:
    """The answer. ask: to the plain question about one connection, with yes or no before it."""
    if not every:
        return "Nothing to compare: all results have the same setting, or none was measured."
    ranks = list(Decision)
    groups: dict[str, list[Scenario]] = {}
    for one in sorted(every, key=lambda one: ranks.index(one.decision)):
        groups.setdefault(answer(one), []).append(one)
    said = []
    for text, of in groups.items():
        names = "; ".join(one.name for one in of)
        head = "All scenarios" if len(of) == len(every) else names
        said.append(text if len(every) == 1 else f"{head}: {text[:1].lower()}{text[1:]}")
    if ask and said != ["Inconclusive."]:
        said.insert(0, _yes_no(every))
    return " ".join(said)


def _yes_no(every: Sequence[Scenario]) -> str:
    decisions = {one.decision for one in every}
    some = len(every) > 1 and len(decisions) > 1
    if Decision.BOTTLENECK in decisions:
        return "Yes, in some scenarios." if some else "Yes."
    if Decision.LIKELY in decisions:
        return "Likely, in some scenarios." if some else "Likely."
    rows = [row for one in every for row in one.rows if row.load.number > 1]
    unknown = [
        row.decision is Decision.FASTER or (row.decision is Decision.INCONCLUSIVE and not row.no_gain) for row in rows
    ]  # faster: why is not known
    return "Inconclusive." if all(unknown) else "Inconclusive at some loads." if any(unknown) else "No."


def sentence(of: Statement) -> str:
    return SENTENCES[of.code](**of.facts)


def _set(
    *,
    scenario: str,
    loads: Sequence[Load],
    every: Sequence[Load],
    configuration: str,
    instead_of: str,
    connections: str,
    policies: Sequence[str],
    rows: Sequence[Row],
    effect: object,
    stream_limit: int | None = None,
    as_good_as: str = "",
    fewer: Sequence[str] = (),
) -> str:
    how = way(connections, policies) if connections else f"{configuration} instead of {instead_of}"
    ratio: Ratio | None = getattr(effect, "ratio", None)
    brings = f"{times(ratio)} × throughput over all of them" if ratio else _brings(rows)
    remark = f"; or a higher limit of streams in the server, which is {stream_limit}" if stream_limit else ""
    remark += f"; as good as {as_good_as}" if as_good_as else ""
    remark += f"; fewer ({', '.join(fewer)}) are not shown to be as good" if fewer else ""
    return f"{scenario}, with {_loads(loads, every)}: {how}: {brings}{remark}."


def _loads(found: Sequence[Load], every: Sequence[Load] = ()) -> str:
    return loads(found, every or found)


def _brings(rows: Sequence[Row]) -> str:
    """Returns the interval of one load level, or the ratio of each of several."""
    if rows[0].load.open:
        return f"{', '.join(short(r.p99.value) for r in rows if r.p99)} × P99"
    if len(rows) == 1:
        late = f", {short(rows[0].p99.value)} × P99" if rows[0].p99 else ""
        return f"{times(rows[0].throughput)} × throughput{late}"
    return f"{', '.join(short(r.throughput.value) for r in rows if r.throughput)} × throughput"


def way(connections: str, policies: Sequence[str]) -> str:
    """How to get the connections that were measured."""
    size = connections.rpartition(":")[2]
    if is_scaling(connections):
        return f"one channel that grows to {size} connections (gRFC A105)"
    if connections.startswith("pool:"):
        return f"{size} channels with connections of their own"
    if "distinct-args" in policies and "local-pool" not in policies:
        return "a channel for each slot, with a channel argument of its own"
    return f"a channel for each slot with {OWN_POOL}"


def _set_also(*, where: str, loads: Sequence[Load], setting: str, instead_of: str, ratio: Ratio) -> str:
    over = f"over {_loads(loads)}" if len(loads) == 1 else "over all loads and other settings"
    head = f"{where}: " if where else ""
    return f"{head}{setting} instead of {instead_of}: {times(ratio)} × throughput {over}."


def _keep(text: str) -> Callable[..., str]:
    return lambda *, baselines: text.format(keep=" or ".join(one or "one connection" for one in baselines))


def _failed(*, points: int, connections: Sequence[str], codes: Sequence[str]) -> str:
    which = f"{points} point{'s' * (points > 1)} of {' and '.join(connections)}"
    return f"after looking at the errors: {which} had failed calls ({'/'.join(codes)}) and were left out"


def _noise(*, most: int, seconds: float | None) -> str:
    took = f" ({_duration(most * seconds)})" if seconds else ""
    easier = "" if most <= MANY else "; a quieter machine or a longer --interval takes fewer"
    return f"with --repetitions {most}{took}, which would detect the margin everywhere, power 80 %{easier}"


def _within_budget(*, rows: int, more: float | None, spent: float | None) -> str:
    which = f"the {rows} comparison{'s' * (rows != 1)} that are inconclusive" if rows != 1 else "what is inconclusive"
    whole = math.ceil(((more or 0) + (spent or 0)) / 60)
    how = f"for {_duration(more)} more (--budget {whole}m)" if more else "with a longer --budget"
    return f"{which} {how}, which would detect the margin, power 80 %"


def _too_noisy(*, rows: int) -> str:
    which = f"{rows} comparison{'s' * (rows != 1)}"
    return (
        f"on a quieter machine or with a longer --interval: of {which} {MAX_REPETITIONS} repetitions would not decide"
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def _mixed(*, policy: str, folders: Sequence[str]) -> str:
    short_names = ", ".join(sorted(folder.rpartition("/")[2] for folder in folders)[:3])
    return f"one of them by name: {policy} runs of several folders ({short_names}) look alike and were put together"


def _few_cpus(*, cpus: Mapping[str, float], needed: Mapping[str, int]) -> str:
    have = " and ".join(f"{value:.0f} {end} CPU{'s' * (value != 1)}" for end, value in cpus.items())
    takes = " and ".join(f"{number} for the {end}" for end, number in needed.items())
    takes = f"takes about {takes}" if takes else "takes more"
    return f"{have} saturate before one connection does; the YDB post's sixfold {takes}."


def _at(text: str) -> Callable[..., str]:
    return lambda *, load: text.format(where=_loads([load]), what="calls per second" if load.open else "in flight")


def _would(*, load: Load, saturated: str) -> str:
    machines = CLIENTS.get(saturated, CODES[saturated])
    return f"more client machines: they would show more, as at {_loads([load])} {machines} and the server's are not"


SENTENCES: Mapping[str, Callable[..., str]] = {
    # what to set
    "set": _set,
    "set-also": _set_also,
    "keep-otherwise": _keep("Otherwise keep {keep}."),
    "keep-until-measured": _keep("Nothing yet: keep {keep} until it has been measured well enough."),
    "keep-not-shown": _keep("Keep {keep}: no gain of anything else was found; at some loads it is inconclusive."),
    "keep": _keep("Keep {keep}: a gain of anything else that was measured is ruled out."),
    # what to measure
    "failed-calls": _failed,
    "compare-with-more": "something to compare with, such as per-call connections (--channel-policy local-pool)".format,
    "compare-with-one": "something to compare with, such as one connection (--channel-policy per-slot)".format,
    "repetitions": "with --repetitions {minimum} or more: the fewest here are {fewest}".format,
    "quiet-machine": "again with no other work on the CPUs and the server: {warning}".format,
    "own-machine": "on a machine of your own: {warning}".format,
    "mend-a-file": "after mending or removing a file: {warning}".format,
    "cpus-apart": "with client and server apart (taskset, numactl): they share CPUs".format,
    "longer": "with a longer --warmup and --interval: {warning}".format,
    "other-set-up": "on another set-up: {warning}".format,
    "unfinished-calls": "after finding out why calls do not end: {warning}".format,
    "time-elsewhere": "after finding out where calls spend time that is not theirs: {warning}".format,
    "noise": _noise,
    "noise-within-budget": _within_budget,
    "too-noisy": _too_noisy,
    CONTRADICTION: "again, interleaved: 1 in flight is the same on both sides and still differed".format,
    NOT_HELD: "after looking at the warnings in the files: connections were not as the policy promises".format,
    "figures-while-spinning": "with --poll block on both ends: figures of the CPUs are missing".format,
    evidence.NO_FIGURES: "a grpc_ping_server with its control service, and no --no-evidence: figures of the CPUs are "
    "missing".format,
    evidence.NO_IDEAL: "1 in flight too: what is linear is counted from it".format,
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
    evidence.PROXY: "a proxy takes each connection's data piece by piece: what is saturated may be the proxy.".format,
}
