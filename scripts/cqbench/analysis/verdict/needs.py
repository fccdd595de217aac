"""Further measurements, and what this machine cannot show: statements, whose sentences are in
render/verdict/statements.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from cqbench.analysis.verdict import evidence
from cqbench.analysis.verdict.judge import CONTRADICTION, NOT_REACHED, is_open
from cqbench.analysis.verdict.model import Row, Statement
from cqbench.analysis.verdict.scenarios import SINGLE, Judged
from cqbench.formats import reasons
from cqbench.formats.asked import Asked
from cqbench.formats.offered import Load
from cqbench.model import thresholds
from cqbench.model.figures import ENDS
from cqbench.model.metric import THROUGHPUT
from cqbench.model.series import LeftOut, Series
from cqbench.model.usable import NOT_HELD, UNRELIABLE, disqualifies
from cqbench.stats.ratios import MIN_REPETITIONS

# Codes of warnings that have one mitigation.
MITIGATIONS = {
    "quiet-machine": (reasons.OTHER_PROCESSES, reasons.OTHER_CLIENT),
    "own-machine": (reasons.STEAL,),
    "mend-a-file": (reasons.UNKNOWN_SURROUNDINGS,),
    "cpus-apart": (reasons.SHARED_CPUS,),
    "longer": (reasons.NOT_WARMED_UP, reasons.DRIFT),
    "other-set-up": (reasons.CPU_SCALING, reasons.CLOCK_SOURCE),
    "unfinished-calls": (reasons.UNFINISHED_CALLS,),
    "time-elsewhere": (reasons.LITTLES_LAW,),
}


def measure(judged: Sequence[Judged], alone: Sequence[Series], asked: Asked) -> list[Statement]:
    """The most important first; empty when nothing is missing."""
    found = [*_failures([*(s for j in judged for s in j.series()), *alone])]
    if not judged and alone:
        single = {s.setting.connections for s in alone} <= {*SINGLE}
        found.append(Statement("compare-with-more" if single else "compare-with-one"))
    rows = [(j, r) for j in judged for r in j.scenario.rows]
    fewest = min((r.repetitions for _, r in rows), default=MIN_REPETITIONS)
    if fewest < MIN_REPETITIONS:
        found.append(Statement("repetitions", {"minimum": MIN_REPETITIONS, "fewest": fewest}))
    found += [*_mitigations(judged), *_noise(judged, asked)]
    codes = {code for _, r in rows for code in r.codes}
    found += [Statement(code) for code in (CONTRADICTION, NOT_HELD) if code in codes]
    if evidence.NO_FIGURES in codes:
        spins = any(any(s.spins) for j in judged for s in j.series())
        found.append(Statement("figures-while-spinning" if spins else evidence.NO_FIGURES))
    found += [Statement(code) for code in (evidence.NO_IDEAL, NOT_REACHED) if code in codes]
    return [*found, *_mixed(judged)]


def _failures(series: Iterable[Series]) -> Iterator[Statement]:
    """Points that are excluded because calls failed: calls would fail in further repetitions as well."""
    failed: dict[str, list[LeftOut]] = {}
    for s in series:
        of = [left for left in s.left_out if left.codes]
        if of:
            failed.setdefault(s.setting.connections, []).extend(of)
    every = [left for of in failed.values() for left in of]
    if every:
        codes = tuple(dict.fromkeys(code for left in every for code in left.codes))
        yield Statement("failed-calls", {"points": len(every), "connections": tuple(failed), "codes": codes})


def _mitigations(judged: Sequence[Judged]) -> Iterator[Statement]:
    """One per kind of warning: of points that have too many, and of whole runs."""
    found = []
    for one in judged:
        found += [d for s in one.series() for d in s.warnings if disqualifies(d)]
        bad = [r for r in one.scenario.rows if UNRELIABLE in r.codes]
        for s in one.series():
            found += [d for r in bad for p in s.points.get(r.load, []) for d in p.measured.warnings]
    for mitigation, codes in MITIGATIONS.items():
        first = next((d for d in found if d.code in codes), None)
        if first:
            yield Statement(mitigation, {"warning": first.text})


def _noise(judged: Sequence[Judged], asked: Asked) -> Iterator[Statement]:
    """How many repetitions, or how much more time, would detect the margin, where figures differ too much."""
    rows = [row for one in judged for row in one.scenario.rows if row.needed]
    margin = judged[0].scenario.margin if judged else thresholds.GAIN
    if rows and asked.sequential:
        runs = sum(2 * (_wanted(row) - row.repetitions) for row in rows)
        seconds = runs * asked.run_seconds if asked.run_seconds else None
        facts = {"rows": len(rows), "more": seconds, "spent": asked.seconds, "margin": margin}
        yield Statement("noise-within-budget", facts)
    elif rows:
        most, have = max((_wanted(row), row.repetitions) for row in rows)
        yield Statement("noise", {"most": most, "have": have, "seconds": asked.repetition_seconds, "margin": margin})
    every = [row for one in judged for row in one.scenario.rows if is_open(row) and not row.needed]
    noisy = [row for row in every if row.judged and row.judged.spread > 0]
    if noisy:
        yield Statement("too-noisy", {"rows": len(noisy)})


def _wanted(row: Row) -> int:
    """Repetitions to advise. Where as many as were needed did not decide, more by the share of a gate."""
    needed = row.needed or 0
    return needed if needed > row.repetitions else math.ceil(thresholds.MORE_REPETITIONS * row.repetitions)


def _mixed(judged: Sequence[Judged]) -> Iterator[Statement]:
    """Runs of folders of their own that look alike: something that the files do not say may differ."""
    for one in judged:
        for series in one.series():
            for name, folders in series.folders.items():
                if len(folders) > 1 and len(series.configurations) != 1:
                    yield Statement("mixed-folders", {"policy": name, "folders": tuple(sorted(folders))})
                    return


def more_clients(series: Iterable[Series]) -> list[Statement]:
    """States whether more client machines would show more, for series that several client processes measured, at the
    load level with the highest throughput. Each statement once.
    """
    found: list[Statement] = []
    for one in series:
        if any(r.measured.ranks for load in one.loads for r in one.points[load]):
            statement = _more_clients(one)
            found += [statement] if statement not in found else []
    return found


def _more_clients(one: Series) -> Statement:
    best = max(one.loads, key=lambda load: one.middle(load, THROUGHPUT.key) or 0.0)
    client, server = (evidence.cpu_full(one, best, end) for end in ENDS)
    if server:
        return Statement("more-clients-would-not", {"load": best})
    if client and server is False:
        return Statement("more-clients-would", {"load": best, "saturated": evidence.client_code(one, best)})
    if client is False and server is False:
        return Statement("more-clients-not-by-themselves", {"load": best})
    return Statement("more-clients-not-known", {"load": best})


def cannot_show(judged: Sequence[Judged]) -> list[Statement]:
    """On few cores, or where CPUs are the limit; through a proxy."""
    found = []
    about = [j for j in judged if j.scenario.connections and not j.scenario.open_loop]
    cpus = {end: [evidence.allowed(s, end) for j in about for s in j.series()] for end in ENDS}
    least = {end: min(v for v in values if v) for end, values in cpus.items() if any(values)}
    limited = any(r.saturated in evidence.CPU_LIMITS for j in about for r in j.scenario.rows)
    best = max((r.throughput.value for j in about for r in j.scenario.rows if r.throughput), default=0.0)
    few = least and (limited or min(least.values()) < thresholds.FEW_CPUS)
    if few and best < thresholds.POST_RATIO:
        needed = {end: n for end, n in zip(ENDS, _cores(about), strict=True) if n}
        found.append(Statement("few-cpus", {"cpus": least, "needed": needed}))
    if any(s.added_rtt_ns is not None for j in about for s in j.series()):
        found.append(Statement(evidence.PROXY))
    return found


def _cores(about: Sequence[Judged]) -> list[int]:
    """CPUs for the post's ratio: that many times the baseline's best rate, at the configuration's CPU time per call. A
    rate that was measured next to other programs is too low to say.
    """
    found = [0.0, 0.0]
    for one in about:
        baseline = one.compared.baseline.series
        quiet = (load for load in baseline.loads if not _disturbed(baseline, load))
        rate = max((baseline.middle(load, THROUGHPUT.key) or 0.0 for load in quiet), default=0.0)
        for configuration in one.compared.configurations:
            last = max((r.load for r in one.scenario.rows if r.configuration == configuration.name), default=None)
            costs = [_cost(configuration.series, last, end) for end in ENDS]
            found = [max(f, thresholds.POST_RATIO * rate * cost / 1e9) for f, cost in zip(found, costs, strict=True)]
    return [math.ceil(f) for f in found]


def _disturbed(series: Series, load: Load) -> bool:
    return series.count_unreliable(load) > thresholds.MAX_UNRELIABLE_SHARE * series.count(load)


def _cost(series: Series, load: Load | None, end: str) -> float:
    return (series.middle(load, f"{end}_cpu_per_rpc_ns") or 0.0) if load else 0.0
