"""Runs -> the whole verdict: the question, its answer, the machine, cases, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cqbench.analysis.verdict import advice, evidence, machines
from cqbench.analysis.verdict import needs as measure
from cqbench.analysis.verdict import scenarios as cases
from cqbench.analysis.verdict.judge import judge
from cqbench.analysis.verdict.model import Case, Decision, Judgement
from cqbench.files import asked, manifest
from cqbench.files.asked import Asked
from cqbench.model.matching import differing
from cqbench.model.series import Series, load_series
from cqbench.samples.runs import Run
from cqbench.stats.ratios import MIN_REPETITIONS

QUESTION = "Is one shared connection holding this client back?"

FAULTS = "Something was made to go wrong in every window. The table of faults has what it cost; nothing is judged."


def judge_runs(runs: Sequence[Run]) -> Judgement:
    """Of one experiment, of several runs of it, or of files without one."""
    known = _asked(runs)
    about = known[0] if len({(a.axes, a.variants) for a in known}) == 1 else Asked()
    question = " ".join(dict.fromkeys(a.question for a in known if a.question))
    if runs and all(run.surroundings.fault for run in runs):
        notes = tuple(dict.fromkeys(n for a in known for n in a.notes))
        return Judgement(question or QUESTION, FAULTS, "", notes, (), (), (), (), ())
    series = load_series(runs, apart=bool(about.axes or about.variants))
    found = judge(cases.axes(series, about))
    judged = list(found.judged)
    of_cases = {id(s) for j in judged for s in j.series()}
    alone = [] if judged else [s for s in series if id(s) not in of_cases]
    every = [j.case for j in judged]
    default = question in ("", QUESTION) and all(c.connections for c in every)
    return Judgement(
        question=question or (QUESTION if default else "Which of these settings is the best?"),
        answer=_overall(every, default),
        machine=_machine(series, every),
        notes=tuple(dict.fromkeys([*(n for a in known for n in a.notes), *_apart(every), *_suspect(series)])),
        cases=tuple(every),
        also=found.also,
        settings=tuple(advice.settings(judged, found.also)),
        measure=(*measure.measure(judged, alone), *machines.more_clients(series)),
        cannot_show=tuple(measure.cannot_show(judged)),
    )


def _asked(runs: Iterable[Run]) -> list[Asked]:
    """Of each experiment, once; nothing of runs outside of experiments."""
    folders = dict.fromkeys(run.path.resolve().parents[2] if run.variant else None for run in runs)
    return [asked.load(Path(folder, manifest.FILE)) if folder else Asked() for folder in folders]


def _machine(series: Sequence[Series], every: Sequence[Case]) -> str:
    """'Intel Xeon, 1 client + 1 server CPU, gRPC 1.51.1, 7 repetitions': what is the same everywhere."""
    settings = [s.setting for s in series]
    vary = set(differing(settings))
    first = settings[0] if settings else None
    if first is None:
        return ""
    same = [first.words(key) for key in ("method", "api") if key not in vary]
    model = "" if "cpu_model" in vary else re.sub(r"\((R|TM)\)| (Processor|CPU)\b", "", first.get("cpu_model"))
    cpus = [_cpus(series, end) for end in ("client", "server")]
    grpc = "" if "grpc_version" in vary else first.words("grpc_version")
    fewest = min((c.repetitions for c in every), default=0)
    count = f"{fewest} repetition{'s' * (fewest != 1)}" if every else ""
    note = " (95 % intervals)" if fewest >= MIN_REPETITIONS else ""
    several = "" if "ranks" in vary else first.words("ranks")
    allowed = f"{' + '.join(cpus)} CPU" if all(cpus) else ""
    return ", ".join(filter(None, [model, allowed, several, grpc, *same, count])) + note


def _cpus(series: Sequence[Series], end: str) -> str:
    """'1 client'; '' where it differs or is not known."""
    found = {evidence.allowed(s, end) for s in series} - {None}
    value = found.pop() if len(found) == 1 else None
    return f"{value:.0f} {end}" if value else ""


def _apart(every: Iterable[Case]) -> Iterable[str]:
    if any(row.judged and not row.judged.paired for case in every for row in case.rows):
        yield "not interleaved: what changed on the machine from one series to the next is in the ratios"


def _suspect(series: Sequence[Series]) -> Iterable[str]:
    """How many points have reasons for doubt, and the most frequent of them."""
    points = [r.measured for s in series for of in s.points.values() for r in of]
    doubts = [d for m in points for d in m.suspect]
    bad = sum(bool(m.suspect) for m in points)
    if bad:
        often = max(dict.fromkeys(d.code for d in doubts), key=lambda code: sum(d.code == code for d in doubts))
        worst = max((d.text for d in doubts if d.code == often), default="")
        yield f"{bad} of {len(points)} points are suspect, such as: {worst}"


def _overall(cases: Sequence[Case], ask: bool) -> str:
    """The answer. ask: to the plain question about one connection, with yes or no before it."""
    if not cases:
        return "Nothing to compare: all results have the same setting, or none was measured."
    ranks = list(Decision)
    groups_of: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda c: ranks.index(c.decision)):
        groups_of.setdefault(case.answer, []).append(case)
    said = []
    for text, of in groups_of.items():
        names = "; ".join(case.name for case in of)
        said.append(text if len(cases) == 1 else f"{'All cases' if len(of) == len(cases) else names}: {_lower(text)}")
    if ask and said != ["Not known."]:
        said.insert(0, _yes_no(cases))
    return " ".join(said)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _yes_no(cases: Sequence[Case]) -> str:
    decisions = {case.decision for case in cases}
    some = len(cases) > 1 and len(decisions) > 1
    if Decision.BOTTLENECK in decisions:
        return "Yes, in some cases." if some else "Yes."
    if Decision.LIKELY in decisions:
        return "Likely, in some cases." if some else "Likely."
    rows = [row.decision for case in cases for row in case.rows if row.load.number > 1]
    unknown = [of.undecided or of is Decision.FASTER for of in rows]  # faster: why is not known
    return "Not known." if all(unknown) else "Not shown." if any(unknown) else "No."
