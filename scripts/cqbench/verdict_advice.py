"""Findings -> what to set and what to measure again, in words. Only what was measured is recommended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cqbench import reasons
from cqbench import verdict_rules as rules
from cqbench.documents import Measured
from cqbench.medians import Ratio, ratio_of_medians
from cqbench.verdict_data import Series
from cqbench.verdict_judge import Finding, Row
from cqbench.verdict_rules import Verdict
from cqbench.verdict_scaling import is_scaling

LEAVE = "leave it"
HOW = "a channel per slot with GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL"


# Codes of doubts -> what to do about them.
REMEDIES = (
    ((reasons.OTHER_PROCESSES, reasons.OTHER_CLIENT), "keep other work off the CPUs and the server (suspect: {})"),
    ((reasons.STEAL,), "use a machine of your own ({})"),
    ((reasons.UNKNOWN_SURROUNDINGS,), "{}: mend or remove that file"),
    ((reasons.SHARED_CPUS,), "pin client and server apart with taskset or numactl"),
    ((reasons.NOT_WARMED_UP, reasons.DRIFT), "a longer --warmup and --interval ({})"),
    ((reasons.CPU_SCALING, reasons.CLOCK_SOURCE), "{}"),
    ((reasons.UNFINISHED_CALLS,), "find out why calls do not end ({})"),
    ((reasons.LITTLES_LAW,), "find out where calls spend time that is not theirs ({})"),
)


@dataclass(frozen=True)
class Choice:
    """One setting against another at the same in-flight count. ratio: throughput of better / other."""

    method: str
    what: str  # api, client, server
    better: str
    other: str
    where: str  # what is the same for both
    inflight: int
    ratio: Ratio


@dataclass(frozen=True)
class Judgement:
    """All there is to say about some runs, the most important first."""

    findings: tuple[Finding, ...]
    choices: tuple[Choice, ...]
    open_loops: tuple[str, ...] = ()  # series about which it says nothing, by name


def interval(ratio: Ratio | None, unit: str = "x") -> str:
    """'1.84x (1.70-1.98)', without the bracket when there is no interval, '-' when there is no ratio."""
    if ratio is None:
        return "-"
    text = f"{ratio.value:.2f}{unit}"
    return text if ratio.low is None else f"{text} ({ratio.low:.2f}-{ratio.high:.2f})"


def counts(numbers: Iterable[int], all_counts: Iterable[int]) -> str:
    """'4', '2 to 8', '2 to 4, 16': runs of neighbouring measured counts."""
    order = sorted(all_counts)
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and order.index(n) == order.index(runs[-1][1]) + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in runs)


def policy(finding: Finding) -> str:
    """What to set for the connections, with the expected gain."""
    if finding.verdict is Verdict.NOT_ENOUGH:
        return f"{LEAVE}, until it has been measured well enough."
    measured = [r.inflight for r in finding.rows]
    lost = f"; {losses(finding)}" if finding.losses else ""
    if not finding.gains:
        return f"{LEAVE}: keep the shared connection; separate ones bring nothing that counts{lost}."
    best = finding.best
    assert best is not None
    where = counts(finding.gains, measured)
    text = f"{way(finding)}, if you run at {where} in flight: {interval(best.throughput)} at {best.inflight}{lost}."
    return f"{text} {connections(finding, best)}".strip()


def way(finding: Finding) -> str:
    """How to get the separate connections that were measured."""
    name = finding.pair.separate.policy if finding.pair.separate else ""
    if name == "separate":
        return HOW
    return f"{name.rpartition(':')[2]} channels with connections of their own ({name})"


def losses(finding: Finding) -> str:
    """Where separate connections lose, how much at the highest such count, and why. There must be losses."""
    last = next(r for r in reversed(finding.rows) if r.inflight in finding.losses)
    why = ""
    if finding.batching and last.per_segment[0] and last.per_segment[1]:
        why = f", as one connection carries {last.per_segment[0]:.1f} calls per segment, not {last.per_segment[1]:.1f}"
    where = f"at {counts(finding.losses, [r.inflight for r in finding.rows])}"
    if finding.loses_from is not None:
        where = f"from {finding.loses_from} on"
    return f"{where} in flight they lose: {interval(last.throughput)} at {last.inflight}{why}"


def connections(finding: Finding, at: Row) -> str:
    """What else was measured at this count: whether fewer connections are enough, and what scaling does. '' if not."""
    chosen = finding.pair.separate
    if chosen is None:
        return ""
    pools = [s for s in finding.pair.others if not is_scaling(s.policy)]
    said = [_fewest_connections(finding, [*pools, chosen], chosen, at)] if pools else []
    said += [_scaling(s, chosen, finding, at.inflight) for s in finding.pair.others if is_scaling(s.policy)]
    return " ".join(filter(None, said))


def _fewest_connections(finding: Finding, every: list[Series], chosen: Series, at: Row) -> str:
    """The fewest that are as good as the best; '' when there is no choice."""
    sizes = [(s, _connections(s, at.inflight)) for s in every]
    there = [(s, n) for s, n in sizes if n is not None and _sound(s, at.inflight)]
    if len(there) < 2:
        return ""
    best, _ = max(there, key=lambda item: item[0].middle(at.inflight, "throughput") or 0)
    alike = [(s, n) for s, n in there if s is best or _alike(best, s, at.inflight)]
    fewest, number = min(alike, key=lambda item: item[1])
    if fewest is chosen:
        return f"Fewer connections ({', '.join(s.policy for s, _ in there if s is not chosen)}) carry less."
    gain = interval(_between(fewest, finding.pair.shared, at.inflight))
    return f"{number} connections ({_name(fewest)}) are enough at {at.inflight}: {gain} of the shared one."


def _scaling(series: Series, chosen: Series, finding: Finding, n: int) -> str:
    """Whether one channel that scales is as good as the separate connections; '' where it was not measured well."""
    name = f"One channel that scales ({series.policy})"
    failed = series.failed(n)
    if failed:
        return f"{name} had failed calls at {n} ({_codes(failed)})."
    ratio = _between(series, chosen, n)
    if ratio is None or ratio.low is None or ratio.high is None or not _sound(series, n):
        return ""
    if ratio.low >= 1 / rules.ALIKE:
        return f"{name} is as good at {n}: {interval(_between(series, finding.pair.shared, n))} of the shared one."
    beside = f"{interval(ratio)} of {_name(chosen)}"
    if ratio.high < 1 / rules.ALIKE:
        return f"{name} carries less at {n}: {beside}."
    return f"Whether one channel that scales ({series.policy}) is as good at {n} is open: {beside}."


def _codes(points: Iterable[Measured]) -> str:
    """'UNAVAILABLE/CANCELLED': of the failed calls."""
    return "/".join(dict.fromkeys(code for m in points for code in m.error_codes)) or "no code"


def _name(series: Series) -> str:
    return "one per slot" if series.policy == "separate" else series.policy


def _connections(series: Series, n: int) -> int | None:
    found = [r.measured.connections for r in series.points.get(n, []) if r.measured.connections]
    return found[-1] if found else None


def _between(top: Series, bottom: Series | None, n: int) -> Ratio | None:
    if bottom is None:
        return None
    return ratio_of_medians(top.values(n, "throughput"), bottom.values(n, "throughput"), rules.MIN_FOR_INTERVAL)


def _alike(best: Series, other: Series, n: int) -> bool:
    """The best is ahead by less than what counts, for all that the interval says."""
    ratio = _between(best, other, n)
    return ratio is not None and ratio.high is not None and ratio.high <= rules.ALIKE


def _sound(series: Series, n: int) -> bool:
    """Its figures at this count may be believed."""
    points = series.points.get(n, [])
    return bool(points) and not rules.mostly_suspect(sum(bool(r.doubts) for r in points), len(points))


def choices(series: Iterable[Series]) -> list[Choice]:
    """API, client threads and server layout: pairs of series that differ in just one of them, at equal in-flight.

    At the highest count that both have, and only where the better one is ahead by what counts. The largest first.
    """
    found: list[Choice] = []
    every = list(series)
    for i, a in enumerate(every):
        for b in every[i + 1 :]:
            what = _difference(a, b)
            choice = _choice(a, b, what) if what else None
            if choice:
                found.append(choice)
    return sorted(found, key=lambda c: -c.ratio.value)


def _difference(a: Series, b: Series) -> str:
    """The one thing in which they differ; '' when there are none or several."""
    if (a.workload, a.method, a.policy) != (b.workload, b.method, b.policy):
        return ""
    different = [f for f in ("api", "client", "server") if getattr(a.setting, f) != getattr(b.setting, f)]
    if len(different) != 1:
        return ""
    same = replace(a.setting, **{different[0]: getattr(b.setting, different[0])}) == b.setting
    return different[0] if same else ""


def _choice(a: Series, b: Series, what: str) -> Choice | None:
    common = [n for n in sorted(set(a.points) & set(b.points)) if _sound(a, n) and _sound(b, n)]
    if not common:
        return None
    n = common[-1]
    better, other = sorted((a, b), key=lambda s: -(s.middle(n, "throughput") or 0))
    ratio = _between(better, other, n)
    if ratio is None or ratio.low is None or ratio.value <= rules.GAIN or ratio.low <= 1:
        return None
    names = [getattr(s.setting, what) or "default" for s in (better, other)]
    return Choice(a.method, what, names[0], names[1], f"{a.method}, {_sharing(a)}", n, ratio)


def _sharing(series: Series) -> str:
    return {"shared": "shared connection", "separate": "a connection per slot"}.get(series.policy, series.policy)


def choice_words(choice: Choice) -> str:
    what = {"api": "client API", "client": "client", "server": "server layout"}[choice.what]
    return (
        f"{what} {choice.better} instead of {choice.other}: {interval(choice.ratio)} throughput at "
        f"{choice.inflight} in flight ({choice.where})"
    )


def to_do(finding: Finding) -> list[str]:
    """What would make the evidence better, the most important first; empty when nothing is missing."""
    pair = finding.pair
    if pair.shared is None or pair.separate is None:
        missing = [] if pair.shared else ["--channel-policy per-slot"]
        missing += [] if pair.separate else ["--local-pool"]
        return [*_about_failures(finding), *(f"measure the other side too ({flag})" for flag in missing)]
    said = [*_about_failures(finding), *_about_repetitions(finding), *_about_doubts(finding)]
    if any(not s.policy_held for r in finding.rows for s in (r.shared, r.separate) if s):
        said.append("the policy's promise of connections did not hold: look at the warnings in the files")
    if "contradiction-at-1-in-flight" in finding.fired:
        ratio = next((r.throughput for r in finding.rows if r.inflight == 1), None)
        said.append(f"1 in flight is the same set-up on both sides but gave {interval(ratio)}: interleave the series")
    if any(s.rule == "figures-absent" for r in finding.rows for s in (r.shared, r.separate) if s):
        said.append(_about_figures(pair.any))
    if finding.rows and finding.rows[0].inflight != 1:
        said.append("measure 1 in flight too: the ideal and the noise come from it")
    if finding.undecided and not said:
        said.append("the intervals are too wide: more --repetitions or a longer --interval")
    return said + _mixed(finding)


def _about_failures(finding: Finding) -> list[str]:
    """What was left out of them is not made good by more repetitions, which would fail as well."""
    failed = {s.policy: s.failed() for s in finding.pair.all if s.failed()}
    every = [m for points in failed.values() for m in points]
    points = f"{len(every)} point{'s' if len(every) > 1 else ''} of {' and '.join(failed)}"
    return [f"{points} had failed calls ({_codes(every)}), left out here: see the errors in the files"] if every else []


def _about_repetitions(finding: Finding) -> list[str]:
    """Of points that could be measured: where calls failed, another repetition is not what is missing."""
    sides = [s for s in (finding.pair.shared, finding.pair.separate) if s]
    tried = min((s.repetitions(n) + len(s.failed(n)) for s in sides for n in s.points), default=0)
    if tried >= rules.MIN_REPETITIONS:
        return []
    cut = sum(len(s.left_out) - len(s.failed()) for s in sides)
    note = f"; {cut} {'was' if cut == 1 else 'were'} cut short" if cut else ""
    return [f"--repetitions {rules.MIN_REPETITIONS} or more (fewest here: {tried}{note})"]


def _about_doubts(finding: Finding) -> list[str]:
    """One remedy per kind of doubt, of points that have too many and of whole runs."""
    sides = [s for r in finding.rows for s in (r.shared, r.separate) if s]
    bad = [d for s in sides if rules.mostly_suspect(s.suspect, s.repetitions) for d in s.doubts]
    bad += [d for s in (finding.pair.shared, finding.pair.separate) if s for d in s.general_doubts]
    said = []
    for codes, remedy in REMEDIES:
        first = next((d for d in bad if d.code in codes), None)
        if first:
            said.append(remedy.format(first.text))
    return said


def _about_figures(series: Series) -> str:
    if any(series.spins):
        return "threads that spin hide what limits: --poll block on both ends"
    return "measure grpc_ping_server with its control service, without --no-evidence: server figures are missing"


def _mixed(finding: Finding) -> list[str]:
    """Runs that were kept in folders of their own but look alike: something that the files do not say may differ."""
    for series in (finding.pair.shared, finding.pair.separate):
        for name, folders in (series.folders if series else {}).items():
            if len(folders) > 1:
                short = ", ".join(sorted(f.rpartition("/")[2] for f in folders)[:3])
                return [f"{name} runs of several folders ({short}) look alike and were put together: name one of them"]
    return []
