"""What to measure, and what this machine cannot show: a sentence each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.scenarios import Judged
from cqbench.analysis.verdict.words import loads
from cqbench.files import reasons
from cqbench.model import thresholds
from cqbench.model.series import LeftOut, Series
from cqbench.model.usable import disqualifies
from cqbench.stats.ratios import MIN_REPETITIONS

THROUGHPUT = "throughput_per_second"
MANY = 60  # repetitions that take too long
# Codes of doubts -> what to do about them; {} is what the client says.
REMEDIES = (
    ((reasons.OTHER_PROCESSES, reasons.OTHER_CLIENT), "again with no other work on the CPUs and the server: {}"),
    ((reasons.STEAL,), "on a machine of your own: {}"),
    ((reasons.UNKNOWN_SURROUNDINGS,), "after mending or removing a file: {}"),
    ((reasons.SHARED_CPUS,), "with client and server apart (taskset, numactl): they share CPUs"),
    ((reasons.NOT_WARMED_UP, reasons.DRIFT), "with a longer --warmup and --interval: {}"),
    ((reasons.CPU_SCALING, reasons.CLOCK_SOURCE), "on another set-up: {}"),
    ((reasons.UNFINISHED_CALLS,), "after finding out why calls do not end: {}"),
    ((reasons.LITTLES_LAW,), "after finding out where calls spend time that is not theirs: {}"),
)


def measure(judged: Sequence[Judged], alone: Sequence[Series]) -> list[str]:
    """The most important first; empty when nothing is missing."""
    said = [*_failures([*(s for j in judged for s in j.series()), *alone])]
    if not judged and alone:
        said.append(_other_side(alone))
    rows = [(j, r) for j in judged for r in j.case.rows]
    fewest = min((r.repetitions for _, r in rows), default=MIN_REPETITIONS)
    if fewest < MIN_REPETITIONS:
        said.append(f"with --repetitions {MIN_REPETITIONS} or more: the fewest here are {fewest}")
    said += _remedies(judged)
    said += _noise(judged)
    codes = {code for _, r in rows for code in r.codes}
    if "contradiction" in codes:
        said.append("again, interleaved: 1 in flight is the same on both sides and still differed")
    if "connections-not-held" in codes:
        said.append("after looking at the warnings in the files: connections were not as the policy promises")
    if evidence.NO_FIGURES in codes:
        spins = any(any(s.spins) for j in judged for s in j.series())
        how = (
            "with --poll block on both ends"
            if spins
            else "a grpc_ping_server with its control service, and no --no-evidence"
        )
        said.append(f"{how}: figures of the CPUs are missing")
    if evidence.NO_IDEAL in codes:
        said.append("1 in flight too: what is linear is counted from it")
    if "rate-not-reached" in codes:
        said.append("lower rates: the highest were not reached")
    return [*dict.fromkeys([*said, *_mixed(judged)])]


def _failures(series: Iterable[Series]) -> Iterator[str]:
    """What was left out because calls failed: more repetitions would fail as well."""
    failed: dict[str, list[LeftOut]] = {}
    for s in series:
        of = [left for left in s.left_out if left.codes]
        if of:
            failed.setdefault(s.setting.connections, []).extend(of)
    every = [left for of in failed.values() for left in of]
    if every:
        codes = "/".join(dict.fromkeys(code for left in every for code in left.codes))
        points = f"{len(every)} point{'s' * (len(every) > 1)} of {' and '.join(failed)}"
        yield f"after looking at the errors: {points} had failed calls ({codes}) and were left out"


def _other_side(alone: Sequence[Series]) -> str:
    ways = {s.setting.connections for s in alone}
    if ways <= {"shared", "pool:1"}:
        return "something to compare with, such as separate connections (--channel-policy local-pool)"
    return "something to compare with, such as one connection (--channel-policy per-slot)"


def _remedies(judged: Sequence[Judged]) -> Iterator[str]:
    """One per kind of doubt: of points that have too many, and of whole runs."""
    found = []
    for one in judged:
        found += [d for s in one.series() for d in s.doubts if disqualifies(d)]
        bad = [r for r in one.case.rows if "suspect" in r.codes]
        for s in one.series():
            found += [d for r in bad for p in s.points.get(r.load, []) for d in p.measured.suspect]
    for codes, remedy in REMEDIES:
        first = next((d for d in found if d.code in codes), None)
        if first:
            yield remedy.format(first.text)


def _noise(judged: Sequence[Judged]) -> Iterator[str]:
    """How many repetitions would decide what is open because figures differ too much."""
    wanted = [(row.needed, one.case, row) for one in judged for row in one.case.rows if row.needed]
    if not wanted:
        return
    numbers = sorted({number for number, _, _ in wanted})
    easier = "" if numbers[-1] <= MANY else "; a quieter machine or a longer --interval takes fewer"
    if len({case.name for _, case, _ in wanted}) == 1:
        case = wanted[0][1]
        where = loads((row.load for _, _, row in wanted), (row.load for row in case.rows))
        yield f"with --repetitions {numbers[-1]}, which decide {case.name} at {where}{easier}"
    else:
        yield f"with --repetitions {numbers[0]} to {numbers[-1]}, as said above, to decide what is too noisy{easier}"


def _mixed(judged: Sequence[Judged]) -> Iterator[str]:
    """Runs of folders of their own that look alike: something that the files do not say may differ."""
    for one in judged:
        for series in one.series():
            for name, folders in series.folders.items():
                if len(folders) > 1 and len(series.variants) != 1:
                    short_names = ", ".join(sorted(f.rpartition("/")[2] for f in folders)[:3])
                    which = f"{name} runs of several folders ({short_names})"
                    yield f"one of them by name: {which} look alike and were put together"
                    return


def cannot_show(judged: Sequence[Judged]) -> list[str]:
    """On few cores, or where CPUs are the limit; through a proxy."""
    said = []
    about = [j for j in judged if j.case.connections and not j.case.open_loop]
    cpus = {end: [evidence.allowed(s, end) for j in about for s in j.series()] for end in evidence.ENDS}
    least = {end: min(v for v in values if v) for end, values in cpus.items() if any(values)}
    limited = any(r.limit in evidence.CPU_LIMITS for j in about for r in j.case.rows)
    best = max((r.throughput.value for j in about for r in j.case.rows if r.throughput), default=0.0)
    if least and best < thresholds.POST_RATIO and (limited or min(least.values()) < thresholds.FEW_CPUS):
        have = " and ".join(f"{value:.0f} {end} CPU{'s' * (value != 1)}" for end, value in least.items())
        needed = " and ".join(f"{n} for the {end}" for end, n in zip(evidence.ENDS, _cores(about), strict=True) if n)
        sixfold = (
            f"the source post's sixfold takes about {needed}" if needed else "the source post's sixfold takes more"
        )
        said.append(f"{have} fill up before one connection does; {sixfold}.")
    if any(s.added_rtt_ns is not None for j in about for s in j.series()):
        said.append("a proxy takes each connection's data piece by piece: what is full may be the proxy.")
    return said


def _cores(about: Sequence[Judged]) -> list[int]:
    """CPUs for the post's ratio: that many times the baseline's best rate, at the variant's CPU time per call."""
    found = [0.0, 0.0]
    for one in about:
        rates = [
            one.compared.baseline.series.middle(load, THROUGHPUT) or 0.0 for load in one.compared.baseline.series.loads
        ]
        for variant in one.compared.variants:
            last = max((row.load for row in one.case.rows if row.variant == variant.name), default=None)
            costs = [last and variant.series.middle(last, f"{end}_cpu_per_rpc_ns") for end in evidence.ENDS]
            most = [thresholds.POST_RATIO * max(rates, default=0.0) * (c or 0.0) / 1e9 for c in costs]
            found = list(map(max, found, most))
    return [math.ceil(f) for f in found]
