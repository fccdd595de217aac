"""Runs -> the whole verdict: scenarios and what follows from them, as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from cqbench.analysis.verdict import absolute, advice, evidence, needs, scenarios
from cqbench.analysis.verdict.judge import Found, Point, judge, open_points
from cqbench.analysis.verdict.model import Judgement, Unreliable
from cqbench.analysis.verdict.rules import Rule
from cqbench.formats import asked, manifest, reasons
from cqbench.formats.asked import Asked
from cqbench.formats.runs import Run
from cqbench.model.figures import ENDS
from cqbench.model.matching import differing
from cqbench.model.series import Series, load_series
from cqbench.model.thresholds import GAIN
from cqbench.stats.medians import median

MOST_KINDS = 2  # of warnings that are named: the same of the client and of the server are two


def judge_runs(runs: Sequence[Run]) -> Judgement:
    """Judges one experiment, several runs of it, or files without one."""
    known = _asked(runs)
    about = _common(known)
    question = " ".join(dict.fromkeys(a.question for a in known if a.question))
    notes = tuple(dict.fromkeys(n for a in known for n in a.notes))
    if runs and all(run.surroundings.fault for run in runs):
        return Judgement(question, notes=notes, faults=True)
    series, found = _found(runs, known)
    judged = [absolute.filled(one) for one in found.judged]
    settings = tuple(advice.settings(judged, found.also, about.flags, found.rule))
    every = tuple(j.scenario for j in judged)
    return Judgement(
        question=question,
        notes=notes,
        machine=_machine(series),
        seconds=about.seconds if about.sequential else None,
        interleaved=all(row.judged.paired for one in every for row in one.rows if row.judged),
        unreliable=_unreliable(series),
        scenarios=every,
        also=found.also,
        settings=settings,
        measure=(
            *needs.measure(judged, [] if judged else series, about),
            *advice.not_measured(settings),
            *needs.more_clients(series),
        ),
        cannot_show=tuple(needs.cannot_show(judged)),
    )


def undecided(runs: Sequence[Run]) -> set[Point]:
    """Returns what has to be measured again, of one experiment's runs, for further comparisons to be decided."""
    return open_points(_found(runs, _asked(runs))[1])


def _common(known: Sequence[Asked]) -> Asked:
    """The question of several experiments, if all ask the same."""
    return known[0] if len({(a.axes, a.configurations, a.margin) for a in known}) == 1 else Asked()


def _found(runs: Sequence[Run], known: Sequence[Asked]) -> tuple[list[Series], Found]:
    about = _common(known)
    series = load_series(runs, apart=bool(about.axes or about.configurations))
    rule = Rule(about.margin or GAIN, any_time=any(a.sequential for a in known))
    return series, judge(scenarios.axes(series, about), rule)


def _asked(runs: Iterable[Run]) -> list[Asked]:
    """Returns the facts of each experiment, once; none for runs outside of experiments."""
    folders = dict.fromkeys(run.path.resolve().parents[2] if run.configuration else None for run in runs)
    return [asked.load(Path(folder, manifest.FILE)) if folder else Asked() for folder in folders]


def _machine(series: Sequence[Series]) -> dict[str, str]:
    """Returns the facts that are the same in all series: 'cpu_model', 'client_cpus', ..."""
    if not series:
        return {}
    vary = set(differing(s.setting for s in series))
    first = series[0].setting
    model = re.sub(r"\((R|TM)\)| (Processor|CPU)\b", "", first.get("cpu_model"))
    found = {
        "cpu_model": "" if "cpu_model" in vary else model,
        **{f"{end}_cpus": _cpus(series, end) for end in ENDS},
        **{key: "" if key in vary else first.words(key) for key in ("ranks", "grpc_version", "method", "api")},
    }
    return {key: text for key, text in {**found, "window": _window(series)}.items() if text}


def _window(series: Sequence[Series]) -> str:
    """Seconds that a repetition measured; '' where they differ by more than a fifth."""
    found = [r.measured.window_ns for s in series for of in s.points.values() for r in of if r.measured.window_ns]
    middle = median(found)
    if middle is None or max(found) > 1.2 * min(found):
        return ""
    return f"{middle / 1e9:.2g}"


def _cpus(series: Sequence[Series], end: str) -> str:
    """'' where it differs or is not known."""
    found = {evidence.allowed(s, end) for s in series} - {None}
    value = found.pop() if len(found) == 1 else None
    return f"{value:.0f}" if value else ""


def _unreliable(series: Sequence[Series]) -> Unreliable | None:
    """None where no sample has a warning."""
    samples = [r.measured for s in series for of in s.points.values() for r in of]
    kinds = reasons.kinds(d for m in samples for d in m.warnings)
    if not kinds:
        return None
    often = sorted(kinds.values(), key=len, reverse=True)[:MOST_KINDS]
    worst = tuple((len(of), max(of, key=lambda d: d.text)) for of in often)
    return Unreliable(sum(bool(m.warnings) for m in samples), len(samples), worst)
