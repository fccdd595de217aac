"""One side of a comparison: a file or a folder -> its cases, each with the repetitions of its points.

Files of cqbench, Google Benchmark's JSON and Go's benchmark text are told apart by what is in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cqbench.compare import foreign
from cqbench.compare.sides import Case, Place, Side, counted
from cqbench.files import source
from cqbench.files.reasons import Reason, kinds
from cqbench.files.source import BadDocument
from cqbench.files.surroundings import Manifests
from cqbench.files.text import one_line
from cqbench.model.ratio import Sample
from cqbench.model.series import Repetition, Series, load_series
from cqbench.samples import runs
from cqbench.samples.metric import METRICS
from cqbench.samples.runs import Run
from cqbench.samples.setting import Setting


def read_side(path: Path) -> Side:
    """Raises BadDocument: something below it cannot be read or is no result, or nothing whole was measured."""
    name = one_line(str(path))
    found, others, manifests = [], [], Manifests()
    files = files_of(path)
    source.once(file for file, _ in files)
    for file, variant in files:
        data = source.read_bytes(file)
        if _foreign(data):
            others.append((file, data))
        else:
            found.append(runs.of_bytes(file, data, variant, manifests))
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
    cases = merged(case for side in sides for case in side.cases)
    metrics = tuple(dict.fromkeys(metric for side in sides for metric in side.metrics))
    return Side(name, cases, metrics, len(sides), date=min(side.date for side in sides))


def of_runs(name: str, found: Sequence[Run], apart: bool = True) -> Side:
    """apart: variants that are alike in all but their names stay apart."""
    partial = sum(run.document.partial for run in found)
    date = min((str(run.context.get("date") or "") for run in found), default="")
    cases = [case_of(series) for series in load_series(found, apart)]
    return Side(name, cases, METRICS, len(found), partial, one_line(date))


def case_of(series: Series) -> Case:
    left_out: dict[Place, list[str]] = {}
    for point in series.left_out:
        left_out.setdefault(point.load, []).append(point.why)
    points: dict[Place, Sequence[Sample]] = {load: series.points[load] for load in series.loads}
    variant = min(series.variants) if len(series.variants) == 1 else ""
    return Case(variant, series.setting, points, left_out, tuple(series.doubts))


def merged(cases: Iterable[Case]) -> list[Case]:
    """Those with the same variant and setting are one."""
    found: dict[tuple[str, Setting], Case] = {}
    for case in cases:
        key = case.variant, case.setting
        there = found.get(key)
        found[key] = case if there is None else _both(there, case)
    return list(found.values())


def _both(one: Case, other: Case) -> Case:
    points = {p: [*one.points.get(p, ()), *other.points.get(p, ())] for p in {**one.points, **other.points}}
    left_out = {p: [*one.left_out.get(p, ()), *other.left_out.get(p, ())] for p in {**one.left_out, **other.left_out}}
    return Case(one.variant, one.setting, points, left_out, tuple(dict.fromkeys([*one.doubts, *other.doubts])))


def reasons(samples: Iterable[Sample], limits: bool = False) -> list[Reason]:
    """Why repetitions should not be believed, or what they ran into; each kind once."""
    measured = [sample.measured for sample in samples if isinstance(sample, Repetition)]
    return [of[0] for of in kinds(r for m in measured for r in (m.limits if limits else m.suspect)).values()]


def schedules(samples: Iterable[Sample]) -> set[str]:
    """Hashes of the due times; open loop only."""
    return {s.measured.schedule_hash for s in samples if isinstance(s, Repetition)} - {""}
