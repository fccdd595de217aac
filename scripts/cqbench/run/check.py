"""Reads what a check looks at: folders of experiments and single results, and makes again what follows from them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cqbench.analysis.check.model import Made, Planned, Result, Subject
from cqbench.analysis.verdict.whole import judge_runs, undecided
from cqbench.experiment import spec
from cqbench.experiment.fields import MAX_REPETITIONS
from cqbench.experiment.order import make_order
from cqbench.formats import manifest as manifests
from cqbench.formats import runs, source, sums
from cqbench.formats.manifest import Manifest, RunRecord
from cqbench.formats.source import BadDocument, OtherFormat
from cqbench.formats.surroundings import Manifests
from cqbench.formats.text import one_line
from cqbench.render.points_csv import to_csv
from cqbench.render.verdict import as_json
from cqbench.run.budget import repetition

MAX_RUNS = 1_000_000  # a manifest may ask for any number
CSV, VERDICT = "results.csv", "verdict.json"


def subjects(path: Path) -> Iterator[Subject]:
    """The experiments in a folder, each by itself, and its other results together; or one file.

    Raises BadDocument where there is no result, or one of another format; OSError.
    """
    folders = sorted(_experiments(path)) if path.is_dir() else []
    for folder in folders:
        yield _of_experiment(folder)
    loose = [file for file, _ in runs.find(path) if not any(folder in file.parents for folder in folders)]
    if loose:
        results = tuple(_result(file, file.name if file == path else _name(file, path)) for file in loose)
        yield Subject(path, results)
    if not folders and not loose:
        raise BadDocument(f"{one_line(str(path))}: no result files in it")


def _experiments(path: Path) -> Iterator[Path]:
    """Folders with a manifest or raw results. What is in one of them is its own."""
    for folder, folders, names in os.walk(path):
        if runs.RAW in folders or manifests.FILE in names:
            folders.clear()
            yield Path(folder)


def _of_experiment(folder: Path) -> Subject:
    """Raises BadDocument, OSError."""
    manifest = manifests.load(folder / manifests.FILE) if (folder / manifests.FILE).exists() else None
    planned = {run.file: run for run in manifest.runs} if manifest else {}
    surroundings, results, unreadable = Manifests(), [], []
    there = dict(runs.find(folder)) if (folder / runs.RAW).is_dir() else {}
    for file, configuration in there.items():
        name = _name(file, folder)
        try:
            results.append(_result(file, name, configuration, planned.get(name), surroundings))
        except OtherFormat:
            raise
        except BadDocument as error:
            unreadable.append(str(error))
    names = [_name(file, folder) for file in there]
    return Subject(
        path=folder,
        results=tuple(results),
        manifest=manifest,
        unreadable=tuple(unreadable),
        unplanned=tuple(name for name in names if name not in planned) if manifest else (),
        sums=_sums(folder),
        csv=_text(folder / CSV),
        verdict=_verdict(folder / VERDICT),
        made=_made(manifest, results),
    )


def _name(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()


def _result(
    file: Path,
    name: str,
    configuration: str = "",
    record: RunRecord | None = None,
    surroundings: Manifests | None = None,
) -> Result:
    """Raises BadDocument."""
    data = source.read_bytes(file)
    run = runs.of_bytes(file, data, configuration, surroundings)
    return Result(name, run, source.decode(data, name), record)


def _sums(folder: Path) -> sums.Compared | str | None:
    try:
        return sums.compare(folder)
    except BadDocument as error:
        return str(error)


def _text(path: Path) -> str | None:
    """None where there is no such file. Raises BadDocument."""
    return source.read_bytes(path).decode("utf-8", "replace") if path.is_file() else None


def _verdict(path: Path) -> Any:
    """Its JSON; None where there is no such file; in words why it has none."""
    if not path.is_file():
        return None
    try:
        found = source.decode(source.read_bytes(path), path.name)
    except BadDocument as error:
        return str(error)
    return found if isinstance(found, dict) else f"{path.name}: not a verdict"


def _made(manifest: Manifest | None, results: Sequence[Result]) -> Made:
    """As the end of an experiment makes them."""
    if manifest is None:
        return Made()
    measured = sorted(filter(_is_planned, results), key=_place)
    csv = to_csv((result.record.repetition, result.run) for result in measured if result.record)
    verdict = json.loads(json.dumps(as_json.to_json(judge_runs([result.run for result in measured]))))
    planned, why = _planned(manifest, measured)
    return Made(planned, why, csv, verdict)


def _is_planned(result: Result) -> bool:
    return result.record is not None and result.record.load is not None


def _place(result: Result) -> tuple[str, int, Any]:
    assert result.record
    return result.record.configuration, result.record.repetition, result.record.load


def _planned(manifest: Manifest, measured: Sequence[Result]) -> tuple[tuple[Planned, ...] | None, str]:
    """The runs of the experiment in the order that the seed draws; or why they are not known. measured: by them it is
    found out what a further repetition within a budget had to measure.
    """
    loads = [run.load for run in manifest.runs if run.load]
    if not loads or manifest.seed is None or not manifest.repetitions:
        return None, "the manifest has no seed, no repetitions or no loads"
    if manifest.repetitions * math.prod(len(axis.values) for axis in manifest.axes) > MAX_RUNS:
        return None, f"the experiment has more than {MAX_RUNS:,} runs"
    try:
        experiment = spec.make(manifest.experiment.data, manifests.FILE, loads[0].search)
    except spec.BadExperiment as error:
        return None, one_line(str(error))
    first = manifest.repetitions if experiment.budget_s is None else experiment.repetitions
    if manifest.repetitions > max(first, MAX_REPETITIONS):
        return None, f"the experiment has more than {MAX_REPETITIONS} repetitions"
    names = [configuration.name for configuration in experiment.configurations]
    drawn = make_order(names, experiment.loads, first, manifest.seed)
    for number in range(first + 1, manifest.repetitions + 1):
        before = [result.run for result in measured if result.record and result.record.repetition < number]
        drawn += repetition(experiment, manifest.seed, number, undecided(before))
    return tuple(Planned(run.configuration, run.load, run.repetition) for run in drawn), ""
