"""Results -> a report as data: make() of the results of an experiment or two, or of any result files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cqbench.formats import runs as results_of
from cqbench.formats.runs import Run
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line
from cqbench.render.report import against, embedded, machine, points, tables, verdicts
from cqbench.render.report import series as series_of
from cqbench.render.report.groups import Group, experiment_folder, experiments, group, letter
from cqbench.render.report.machine import Manifest
from cqbench.render.report.model import Report, Series
from cqbench.render.report.series import Found

MAX_FAILURES = 200
MAX_NAMES = 3


@dataclass(frozen=True)
class Made:
    """A report, and the files next to it: .hgrm files by name."""

    report: Report
    hgrm: dict[str, str]


def make(paths: Sequence[Path]) -> Report:
    """The report of folders and files. Raises BadDocument: one cannot be read, or there are no results at all."""
    return make_all(paths).report


def make_all(paths: Sequence[Path]) -> Made:
    """make() with the .hgrm files. Raises BadDocument."""
    runs = results_of.read_all(paths)
    manifests = machine.find(_folders(paths, runs))
    if not runs and not manifests:
        raise BadDocument(f"{one_line(str(paths[0]))}: no result files in it")
    groups = group(runs)
    found = [of.points() for of in groups]
    began = _began(found, groups)
    made = [series_of.make(of, here, manifests, began) for of, here in zip(groups, found, strict=True)]
    series = [one for one, _ in made]
    report = replace(
        _report(paths, runs, manifests, series),
        facts=machine.facts(runs, manifests, [of for here in found for of in here.values()]),
        against=against.make(groups, series, found, manifests),
        errors=tables.errors(groups),
        spreads=tables.spreads(groups),
        ranks=tables.ranks(groups),
        floors=tables.floors(groups),
        faults=tables.faults(groups),
        knees=tables.knees(series),
    )
    report = replace(report, data=embedded.download(report))
    return Made(report, {name: text for _, files in made for name, text in files.items()})


def _began(found: Sequence[Found], groups: Sequence[Group]) -> dict[int, Any]:
    """Number of an experiment -> when its first point did; those of which it is not known are not in it."""
    times: dict[int, list[Any]] = {}
    for of, here in zip(groups, found, strict=True):
        times.setdefault(of.number, []).extend(r.at for some in here.values() for r in some if r.at)
    return {number: min(some) for number, some in times.items() if some}


def _folders(paths: Iterable[Path], runs: Iterable[Run]) -> list[Path]:
    """Returns the folders of the experiments, including those without results."""
    above = [folder for folder in map(experiment_folder, runs) if folder]
    named = [path.resolve() for path in paths if path.is_dir()]
    inside = [folder for folder in above if any(folder == n or n in folder.parents for n in named)]
    return list(dict.fromkeys([*named, *inside]))


def _report(
    paths: Sequence[Path],
    runs: Sequence[Run],
    manifests: Sequence[Manifest],
    series: Sequence[Series],
) -> Report:
    return Report(
        title=_title(paths, manifests),
        question=" ".join(dict.fromkeys(m.told.head.question for m in manifests if m.told.head.question)),
        made=min(filter(None, (m.told.started for m in manifests)), default="") or machine.began(runs),
        partial=_partial(runs, manifests),
        verdicts=verdicts.make(runs),
        series=tuple(series),
        experiments=_experiments(runs),
        machine=machine.rows(runs, manifests),
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


def _experiments(runs: Sequence[Run]) -> tuple[str, ...]:
    """'A: NAME', where there are several."""
    order = experiments(runs)
    names = [one_line(folder.name) if folder else "other files" for folder in order]
    return tuple(f"{letter(number)}: {name}" for number, name in enumerate(names)) if len(order) > 1 else ()


def _notes(runs: Sequence[Run], manifests: Sequence[Manifest]) -> Iterable[str]:
    """Returns the notes about whole runs, each once."""
    said = [note for m in manifests for note in m.notes]
    for reason in dict.fromkeys(reason for run in runs for reason in run.document.warnings):
        of = sum(reason in run.document.warnings for run in runs)
        where = "every point" if of == len(runs) else f"every point of {of} of {len(runs)} result files"
        said.append(f"{where}: warning: {reason.text}")
    said += [note.text for run in runs for note in run.document.notes]
    return dict.fromkeys(said)


def _failures(runs: Sequence[Run], manifests: Sequence[Manifest]) -> list[str]:
    """Runs that failed, and points that could not be measured."""
    said = [failure for m in manifests for failure in m.failures()]
    for run in runs:
        name = run.configuration or run.document.path
        for p in run.document.points:
            if p.throughput is None:
                number = points.number(run, p.repetition)
                said.append(f"{name}, {p.load.words}, repetition {number}: not measured: {p.failure}")
    more = [f"and {len(said) - MAX_FAILURES} more"] if len(said) > MAX_FAILURES else []
    return said[:MAX_FAILURES] + more
