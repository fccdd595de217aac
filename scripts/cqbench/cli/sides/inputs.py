"""One side of a comparison: a file or a folder -> its scenarios, each with the repetitions of its points.

Files of cqbench, Google Benchmark's JSON and Go's benchmark text are told apart by what is in them.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from pathlib import Path

from cqbench.analysis.compare import history
from cqbench.analysis.compare.sides import Side, counted, merged, of_runs
from cqbench.cli.sides import foreign
from cqbench.formats import runs, source
from cqbench.formats.runs import Run
from cqbench.formats.source import BadDocument
from cqbench.formats.surroundings import Manifests
from cqbench.formats.text import one_line

MAX_RUNS = 1000  # of a history
NAMED = re.compile(r"(\d{4})-(\d{2})-(\d{2})-(\d{2})(\d{2})(\d{2})")


def read_side(path: Path) -> Side:
    """Raises BadDocument: something below it cannot be read or is no result, or nothing whole was measured."""
    name = one_line(str(path))
    found, others, manifests = [], [], Manifests()
    files = files_of(path)
    source.once(file for file, _ in files)
    for file, configuration in files:
        data = source.read_bytes(file)
        if _foreign(data):
            others.append((file, data))
        else:
            found.append(runs.of_bytes(file, data, configuration, manifests))
    if found and others:
        raise BadDocument(f"{name}: {others[0][0].name} is of another program than {found[0].path.name}")
    if not found and not others:
        raise BadDocument(f"{name}: no result files (*.json, or *.txt of go test) in this folder")
    side = _of_others(name, others) if others else of_runs(name, found)
    if not side.places:
        raise BadDocument(f"{name}: no whole run in {counted(side.files, 'file')}")
    return side


def files_of(path: Path) -> list[tuple[Path, str]]:
    """JSON below a folder; where there is none, the texts in it."""
    found = list(runs.find(path))
    if not found and path.is_dir():
        found = [(file, "") for file in sorted(path.glob("*.txt")) if file.is_file()]
    return found


def _foreign(data: bytes) -> bool:
    if data.lstrip()[:1] == b"{":
        return b'"cqbench_version"' not in data and b'"benchmarks"' in data
    return data.startswith(b"Benchmark") or b"\nBenchmark" in data


def _of_others(name: str, files: Iterable[tuple[Path, bytes]]) -> Side:
    sides = [foreign.read(data, one_line(str(file))) for file, data in files]
    scenarios = merged(scenario for side in sides for scenario in side.scenarios)
    metrics = tuple(dict.fromkeys(metric for side in sides for metric in side.metrics))
    return Side(name, scenarios, metrics, len(sides), date=min(side.date for side in sides))


def read_history(folder: Path) -> history.Found:
    """Raises BadDocument."""
    name = one_line(str(folder))
    if not folder.is_dir():
        raise BadDocument(f"{name}: not a folder of runs")
    if (folder / runs.RAW).is_dir():
        raise BadDocument(f"{name}: one experiment's folder; the folder above it may be a history")
    found, unused = [], []
    seen: dict[Path, str] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not (path.is_dir() or path.suffix in (".json", ".txt")):
            continue
        first = seen.setdefault(path.resolve(), path.name)
        if first != path.name:
            unused.append(f"{one_line(str(path))}: leads to {one_line(first)}, which counts once")
            continue
        try:
            side = read_side(path)
        except BadDocument as error:
            unused.append(str(error))
            continue
        found.append(history.Dated(one_line(path.name), _when(path, side.date), side))
        if len(found) > MAX_RUNS:
            raise BadDocument(f"{name}: more than {MAX_RUNS} runs")
    if not found:
        raise BadDocument(f"{name}: no run in it" + (f": {unused[0]}" if unused else ""))
    return history.Found(tuple(sorted(found, key=lambda run: (run.when, run.name))), tuple(unused))


def _when(path: Path, date: str) -> datetime.datetime:
    """Returns the date in the run, else in its name, else of the file."""
    try:
        said = datetime.datetime.fromisoformat(date.replace("Z", "+00:00"))
        return said.astimezone(datetime.timezone.utc)
    except (ValueError, OverflowError):
        pass
    named = NAMED.search(path.name)
    try:
        if named:
            return datetime.datetime(*map(int, named.groups())).astimezone(datetime.timezone.utc)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        pass
    return datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.timezone.utc)


def read_experiment(folder: Path) -> tuple[Side, list[Run]]:
    """An experiment's folder. Raises BadDocument."""
    name = one_line(str(folder))
    if not (folder / runs.RAW).is_dir():
        raise BadDocument(f"{name}: not an experiment's folder: it has no {runs.RAW}/")
    found = runs.read_all([folder])
    side = of_runs(name, found)
    if not side.places:
        raise BadDocument(f"{name}: no whole run in it")
    return side, found
