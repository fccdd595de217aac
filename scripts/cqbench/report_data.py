"""Results -> a report as data: make() of the results of an experiment, or of any result files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cqbench import report_download, report_fit, report_hgrm, report_machine, report_manifest, report_points
from cqbench import report_time, verdict, verdict_advice, verdict_judge, verdict_text
from cqbench import runs as results_of
from cqbench.documents import BadDocument, one_line
from cqbench.offered import closed
from cqbench.report_manifest import Manifest, line
from cqbench.report_model import Distribution, Finding, Point, Report, Series
from cqbench.report_series import Group, experiment_folder, group, histogram
from cqbench.runs import Run
from cqbench.verdict_advice import Judgement

MAX_FAILURES = 200
MAX_NAMES = 3


@dataclass(frozen=True)
class Made:
    """A report, and what goes into files of its own beside it: .hgrm files by name."""

    report: Report
    hgrm: dict[str, str]


def make(paths: Sequence[Path]) -> Report:
    """The report of folders and files. Raises BadDocument: one cannot be read, or there are no results at all."""
    return make_all(paths).report


def make_all(paths: Sequence[Path]) -> Made:
    """make() with the .hgrm files. Raises BadDocument."""
    runs = _read(paths)
    manifests = report_manifest.find(_folders(paths, runs))
    if not runs and not manifests:
        raise BadDocument(f"{one_line(str(paths[0]))}: no result files in it")
    judgement = verdict.judge_runs(runs)
    fits = report_fit.of_judgement(judgement)
    made = [_series(of, manifests, fits) for of in group(runs)]
    report = _report(paths, runs, manifests, judgement, [series for series, _, _ in made])
    data = report_download.data(report, [columns for _, columns, _ in made], judgement)
    return Made(replace(report, data=data), {name: text for _, _, files in made for name, text in files.items()})


def _read(paths: Iterable[Path]) -> list[Run]:
    """Each file once, however often it is named: a repetition that counts twice would be no evidence."""
    found = {run.path.resolve(): run for run in results_of.read_all(paths)}
    return list(found.values())


def _folders(paths: Iterable[Path], runs: Iterable[Run]) -> list[Path]:
    """Of the experiments, those without results included."""
    above = [folder for folder in map(experiment_folder, runs) if folder]
    named = [path.resolve() for path in paths if path.is_dir()]
    inside = [folder for folder in above if any(folder == n or n in folder.parents for n in named)]
    return list(dict.fromkeys([*named, *inside]))


def _report(
    paths: Sequence[Path],
    runs: Sequence[Run],
    manifests: Sequence[Manifest],
    judgement: Judgement,
    series: Sequence[Series],
) -> Report:
    return Report(
        title=_title(paths, manifests),
        question=" ".join(dict.fromkeys(m.question for m in manifests if m.question)),
        made=min(filter(None, (m.started for m in manifests)), default="") or report_machine.began(runs),
        partial=_partial(runs, manifests),
        summary=verdict_text.summary(judgement),
        findings=tuple(_finding(f) for f in judgement.findings),
        series=tuple(series),
        machine=report_machine.rows(runs, manifests),
        notes=tuple(_notes(runs, manifests)),
        failures=tuple(_failures(runs, manifests)),
    )


def _title(paths: Sequence[Path], manifests: Sequence[Manifest]) -> str:
    """The experiments', or the names of what was given."""
    titles = "; ".join(dict.fromkeys(m.title for m in manifests if m.title))
    names = [one_line(path.resolve().name) for path in paths]
    more = " and others" if len(names) > MAX_NAMES else ""
    return titles or f"gRPC performance: {', '.join(names[:MAX_NAMES])}{more}"


def _partial(runs: Sequence[Run], manifests: Sequence[Manifest]) -> str:
    """One sentence, '' when nothing is missing."""
    several = len(manifests) > 1
    said = [(one_line(m.folder.name) + ": " if several else "") + m.missing() for m in manifests if m.missing()]
    cut = sum(run.document.partial or any(p.partial for p in run.document.points) for run in runs)
    if cut:
        said.append(f"{cut} of {len(runs)} result files {'was' if cut == 1 else 'were'} cut short")
    if not any(p.throughput is not None for run in runs for p in run.document.points):
        said.append("nothing was measured")
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _finding(finding: verdict_judge.Finding) -> Finding:
    return Finding(
        verdict_text.title(finding),
        finding.verdict.value,
        verdict_text.verdict_words(finding),
        verdict_advice.policy(finding),
        "\n".join(verdict_text.block(finding)),
    )


def _notes(runs: Sequence[Run], manifests: Sequence[Manifest]) -> Iterable[str]:
    """What was said about whole runs, each once."""
    said = [note for m in manifests for note in m.notes]
    for reason in dict.fromkeys(reason for run in runs for reason in run.document.suspect):
        of = sum(reason in run.document.suspect for run in runs)
        where = "every point" if of == len(runs) else f"every point of {of} of {len(runs)} result files"
        said.append(f"{where}: suspect: {reason.text}")
    for note in dict.fromkeys(line(note) for run in runs for note in _list(run.context.get("notes"))):
        said.append(note)
    return dict.fromkeys(said)


def _failures(runs: Sequence[Run], manifests: Sequence[Manifest]) -> list[str]:
    """Runs that failed, and points that could not be measured."""
    said = [failure for m in manifests for failure in m.failures()]
    for run in runs:
        name = run.variant or run.document.path
        for p in run.document.points:
            if p.throughput is None:
                number = _repetition(run, p.repetition)
                said.append(f"{name}, {p.load.words}, repetition {number}: not measured: {p.failure}")
    more = [f"and {len(said) - MAX_FAILURES} more"] if len(said) > MAX_FAILURES else []
    return said[:MAX_FAILURES] + more


def _repetition(run: Run, index: int) -> int:
    """From 1. In an experiment it is the file's name."""
    return int(run.path.stem) if run.variant and run.path.stem.isdecimal() else index + 1


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# Series.


def _series(
    of: Group, manifests: Sequence[Manifest], fits: report_fit.Known
) -> tuple[Series, dict[str, Any], dict[str, str]]:
    """The series, its columns for download, its .hgrm files by name. Raises BadDocument."""
    found = of.points()
    points = tuple(report_points.make(load, repetitions) for load, repetitions in found.items())
    histograms = {load: histogram(repetitions) for load, repetitions in found.items()}
    there = {load: h for load, h in histograms.items() if h is not None}
    distributions = [Distribution(load, h.calls, report_hgrm.steps(h)) for load, h in there.items()]
    timelines = (report_time.make(load, repetitions) for load, repetitions in found.items())
    document = of.runs[0].document
    client, server = _commands(of, manifests)
    series = Series(
        id=of.id,
        title=of.title,
        method=document.method,
        api=document.api,
        sharing=of.sharing,
        setting=of.words,
        points=points,
        distributions=tuple(d for d in distributions if d.steps),
        timelines=tuple(timeline for timeline in timelines if timeline),
        open=of.open,
        fit=None if of.open else report_fit.make({load.number: r for load, r in found.items()}, fits, of.sharing),
        ideal_rate=_ideal_rate(points),
        client_command=client,
        server_command=server,
    )
    files = {f"{of.id}-{load.file_key}.hgrm": report_hgrm.to_hgrm(h) for load, h in there.items()}
    return series, report_download.columns(series, document.workload, document.policy, found), files


def _commands(of: Group, manifests: Sequence[Manifest]) -> tuple[str, str]:
    """Of client and server: the manifest's, else what the client says of itself."""
    folder = experiment_folder(of.runs[0])
    for manifest in manifests:
        if manifest.folder == folder and manifest.commands(of.variant)[0]:
            return manifest.commands(of.variant)
    return report_machine.client_command(of.runs[0]), ""


def _ideal_rate(points: Iterable[Point]) -> float | None:
    return next((p.values["throughput"].middle for p in points if p.load == closed(1) and not p.partial), None)
