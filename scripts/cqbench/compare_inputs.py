"""One side of a comparison: a result file or a folder of them -> the repetitions of every point, and the settings."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from cqbench import documents
from cqbench.compare_settings import BadSettings, Settings, settings
from cqbench.documents import BadDocument, Document, Measured, one_line

MANIFEST = "manifest.json"
RAW = "raw"  # in an experiment's folder: a folder for each variant


@dataclass(frozen=True)
class Metric:
    """A figure of a run. name: as --metric takes it. key: in the file. scale: of the file's unit in the one shown."""

    name: str
    key: str
    title: str
    unit: str
    scale: float
    higher: str  # what a higher figure is called
    lower: str


METRICS = (
    Metric("throughput", "throughput_per_second", "throughput", "req/s", 1, "faster", "slower"),
    Metric("p50", "latency_p50_ns", "P50", "us", 1e-3, "slower", "faster"),
    Metric("p99", "latency_p99_ns", "P99", "us", 1e-3, "slower", "faster"),
    Metric("client-cpu", "client_cpu_per_rpc_ns", "client CPU per RPC", "us", 1e-3, "more CPU", "less CPU"),
    Metric("server-cpu", "server_cpu_per_rpc_ns", "server CPU per RPC", "us", 1e-3, "more CPU", "less CPU"),
)


class Series(NamedTuple):
    """What the points of a table have in common. variant: the folder's name in an experiment; '' elsewhere."""

    variant: str
    workload: str
    mode: str
    api: str
    policy: str

    @property
    def title(self) -> str:
        return " ".join(filter(None, (self.variant, "/".join(self[1:]))))


class Key(NamedTuple):
    """A point."""

    series: Series
    inflight: int

    @property
    def title(self) -> str:
        return f"{self.series.title}, in-flight {self.inflight}"


@dataclass
class Repetitions:
    """The runs of a point on one side. Figures are positive; a run without one, or with 0, is not in its list."""

    values: dict[str, list[float]] = field(default_factory=lambda: {m.name: [] for m in METRICS})
    usable: int = 0
    left_out: list[str] = field(default_factory=list)  # a reason for each run that is not used
    with_failed_calls: int = 0  # of the usable ones
    suspect: list[str] = field(default_factory=list)  # reasons of the usable ones


@dataclass
class Side:
    """All of A, or all of B."""

    path: str
    files: int = 0
    partial_files: int = 0
    points: dict[Key, Repetitions] = field(default_factory=dict)
    settings: dict[Series, list[Settings]] = field(default_factory=dict)  # one per file
    suspect: dict[str, int] = field(default_factory=dict)  # what a file says of all its points -> files

    def usable(self) -> list[Key]:
        """The points that have a whole run."""
        return [key for key, repetitions in self.points.items() if repetitions.usable]


def read_side(path: Path) -> Side:
    """Raises BadDocument: something below it cannot be read or is no result, or nothing whole was measured."""
    side = Side(one_line(str(path)))
    for file in _files(path):
        _add(side, file, _variant(path, file))
    if not side.files:
        raise BadDocument(f"{side.path}: no result files (*.json) in this folder")
    if not side.usable():
        raise BadDocument(f"{side.path}: no whole run in {counted(side.files, 'file')}")
    return side


def counted(number: int, noun: str) -> str:
    """3, 'file' -> '3 files'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _files(path: Path) -> Iterator[Path]:
    """In a stable order. Of an experiment's folder the raw results only. Raises BadDocument."""
    if not path.is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        if RAW in folders:
            folders[:], names = [RAW], []
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".json") or name.startswith(".") or name == MANIFEST:
                continue
            file = Path(folder, name)
            if not file.is_file():  # a pipe would never end
                raise BadDocument(f"{one_line(str(file))}: not a regular file")
            yield file


def _unreadable(error: OSError) -> None:
    raise BadDocument(f"{one_line(str(error.filename))}: {error.strerror}")


def _variant(root: Path, file: Path) -> str:
    """The folder between raw/ and the file, as long as the root is above it; '' where there is none."""
    if root == file:
        return ""
    parts = (root.resolve().name, *file.relative_to(root).parts)
    return one_line(parts[-2]) if len(parts) > 2 and parts[-3] == RAW else ""


def _add(side: Side, file: Path, variant: str) -> None:
    """Raises BadDocument."""
    data = _read(file)
    document = documents.parse(data, one_line(str(file)))
    raw = json.loads(data)  # sound: parse has read it
    series = Series(variant, document.workload, document.mode, document.api, document.policy)
    try:
        side.settings.setdefault(series, []).append(settings(raw["context"]))
    except BadSettings as error:
        raise BadDocument(f"{document.path}: {error}") from None
    side.files += 1
    side.partial_files += document.partial
    for reason in document.suspect:
        side.suspect[reason] = side.suspect.get(reason, 0) + 1
    for measured, entry in zip(document.points, _iterations(raw), strict=True):
        _add_run(side.points.setdefault(Key(series, measured.inflight), Repetitions()), document, measured, entry)


def _read(file: Path) -> bytes:
    """Once, so that a pipe (<(zcat ...)) does too. Raises BadDocument."""
    name = one_line(str(file))
    try:
        with file.open("rb") as stream:
            data = stream.read(documents.MAX_BYTES + 1)
    except OSError as error:
        raise BadDocument(f"{name}: {error.strerror or error}") from None
    if len(data) > documents.MAX_BYTES:
        raise BadDocument(
            f"{name}: larger than {documents.MAX_BYTES // 2**20} MiB, not a result of grpc_ping_client"
        )
    return data


def _iterations(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The entries behind Document.points, in their order."""
    for place in ("benchmarks", "not_measured"):
        yield from (entry for entry in raw.get(place) or [] if entry["run_type"] == "iteration")


def _add_run(repetitions: Repetitions, document: Document, measured: Measured, entry: dict[str, Any]) -> None:
    """Raises BadDocument."""
    if measured.failure or measured.partial:
        repetitions.left_out.append(measured.failure or "cut short")
        return
    repetitions.usable += 1
    repetitions.with_failed_calls += measured.failed > 0
    repetitions.suspect += measured.suspect
    for metric in METRICS:
        value = _figure(entry.get(metric.key), metric.key, document.path)
        if value:
            repetitions.values[metric.name].append(value)


def _figure(value: Any, key: str, name: str) -> float:
    """0 for none. Raises BadDocument: documents.py checks throughput and latencies, not what came with version 2."""
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 2**63:
        raise BadDocument(f"{name}: '{key}' of a run is not a number from 0 to 2^63: {one_line(repr(value), 40)}")
    return float(value)
