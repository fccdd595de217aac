"""The manifest.json of an experiment as a model: what was run, where, in which order, and what became of each unit.

While an experiment runs, what became of its units since manifest.json was written is in runs.jsonl, a line for each.
Both are as untrusted as a result. A unit that says something impossible is a problem of that unit's result only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from cqbench.formats import source
from cqbench.formats.model import Amount, Count, Line, Model, Offset, Text, complaint
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

FILE = "manifest.json"
RUNS = "runs.jsonl"  # next to it; gone when the experiment has ended
CUT = f"the last line of {RUNS} is not whole: the experiment was killed, and what became of that unit is not known"
VERSION = 2  # the only one that is read
PENDING, OK, FAILED, INTERRUPTED, NOT_RUN = "pending", "ok", "failed", "interrupted", "not run"
STATUSES = (PENDING, OK, FAILED, INTERRUPTED, NOT_RUN)


class Network(Model):
    """A proxy between client and server."""

    added_rtt_ms: Annotated[float, Field(ge=0, le=1e6)]  # to each round trip


class Fault(Model):
    """A fault in the window, which opens at 0."""

    words: Line  # 'latency of 100 ms for 1 s'
    began_s: Offset | None = None  # None: it did not happen
    ended_s: Offset | None = None  # None: it lasted until the window had closed


class UnitLoad(Model):
    """Without any of them, a unit has several loads."""

    inflight: Amount | None = None
    rate: Amount | None = None
    find_rate: Line = ""  # a search for the highest rate: what it has to meet

    @property
    def words(self) -> str:
        """', 8 in flight', ', rate 2000'; '' without."""
        if self.inflight is not None:
            return f", {self.inflight:g} in flight"
        if self.rate is not None:
            return f", rate {self.rate:g}"
        return f", highest rate with {self.find_rate}" if self.find_rate else ""


class Unit(Model):
    """One run of server and client. Absent keys say that there was nothing of the kind."""

    file: str  # of its result, from the experiment's folder on
    variant: Line = ""
    repetition: Count = 0
    status: Line = ""
    load: UnitLoad = UnitLoad()
    reason: Text = ""  # why it failed or was not run
    client_env: dict[str, str] = {}  # set by the experiment, not what is inherited
    server_env: dict[str, str] = {}
    network: Network | None = None
    fault: Fault | None = None
    servers: Count = 1  # how many were started
    server_program: list[Line] = []  # instead of grpc_ping_server: its path and flags
    server_front: list[Line] = []  # where the client is sent to grpc_ping_server's HTTP port: what answers there
    client_command: str = ""
    server_command: str = ""
    ranks: Line = ""  # client processes that were asked for, and where
    problem: str = ""  # why nothing else of it is known


def _names(tables: Any) -> Any:
    """Returns the names of tables that have one."""
    return [table["name"] for table in _tables(tables) if "name" in table]


def _tables(value: Any) -> list[dict[str, Any]]:
    return [table for table in value if isinstance(table, dict)] if isinstance(value, list) else []


Names = Annotated[list[Line], BeforeValidator(_names)]


class Axis(Model):
    """An axis of a product of settings; a variant's name is one value of each axis, joined with dots."""

    name: Line = ""
    values: Names = []


class Head(Model):
    """The head of an experiment's file."""

    title: Text = ""
    question: Text = ""


class Asked(Model):
    """The file of an experiment."""

    experiment: Head = Head()
    axis: Annotated[list[Axis], BeforeValidator(_tables)] = []
    variant: Names = []


class Machine(Model):
    """Where it was run."""

    host_name: Line = ""
    cpu_model: Line = ""
    governors: list[Line] = []


class Resumed(Model):
    """One of the times it was gone on with."""

    started: Line = ""
    changed: list[Line] = []  # what was no longer as it had been


def _unit(data: Any, validate: ValidatorFunctionWrapHandler) -> Unit:
    """A defect in one unit is a problem of that unit's result only."""
    try:
        found: Unit = validate(data)
        return found
    except ValidationError as error:
        return Unit(file=data["file"], problem=complaint(error, [f"'{one_line(data['file'])}'"]))


def _with_files(units: Any) -> Any:
    return [unit for unit in _tables(units) if isinstance(unit.get("file"), str)]


class Manifest(Model):
    """One experiment's."""

    name: Line = ""
    experiment: Asked = Asked()
    seed: Count | None = None
    started: Line = ""
    ended: Line = ""
    partial: bool = True
    git_revision: Line = ""
    machine: Machine = Machine()
    environment: dict[str, str] = {}
    placements: dict[str, str] = {}
    notes: list[Text] = []
    resumed: list[Resumed] = []
    units: Annotated[list[Annotated[Unit, WrapValidator(_unit)]], BeforeValidator(_with_files)] = Field(min_length=1)

    @property
    def head(self) -> Head:
        return self.experiment.experiment

    @property
    def axes(self) -> list[Axis]:
        """In order; empty where the variants are written one by one."""
        return self.experiment.axis

    @property
    def variants(self) -> list[str]:
        """Those that are written one by one."""
        return self.experiment.variant

    @property
    def order(self) -> list[str]:
        """The units are listed in the order in which they were run."""
        return [unit.file.removeprefix("raw/").removesuffix(".json") for unit in self.units]


def read(path: Path) -> tuple[Any, str]:
    """Returns the contents of manifest.json, of any type, with the lines of runs.jsonl; and a note, '' for none.

    Raises BadDocument.
    """
    lines, note = _lines(path.with_name(RUNS))  # first: it is removed after they have come into manifest.json
    name = one_line(str(path))
    data = source.decode(_bytes(path, name), name)
    units = data.get("units") if isinstance(data, dict) else None
    if not lines or not isinstance(units, list):
        return data, note
    places = {_file(unit): place for place, unit in enumerate(units)}
    for number, line in enumerate(lines, 1):
        if not (file := _file(line)) or file not in places:
            raise BadDocument(f"{one_line(str(path.with_name(RUNS)))}: line {number} is not of a unit of {FILE}")
        units[places[file]] = line
    return data, note


def _file(unit: Any) -> str:
    """'' for what is no unit."""
    return str(unit["file"]) if isinstance(unit, dict) and isinstance(unit.get("file"), str) else ""


def _lines(path: Path) -> tuple[list[Any], str]:
    """Returns the lines of runs.jsonl, if the file exists; and a note."""
    if not path.exists():
        return [], ""
    name = one_line(str(path))
    *whole, last = _bytes(path, name).split(b"\n")
    return [source.decode(line, f"{name}: line {number}") for number, line in enumerate(whole, 1)], CUT if last else ""


def _bytes(path: Path, name: str) -> bytes:
    """Raises BadDocument."""
    if not path.is_file():  # a pipe would never end
        raise BadDocument(f"{name}: {'not a regular file' if path.exists() else 'No such file or directory'}")
    return source.read_bytes(path)


def load(path: Path) -> Manifest:
    """Raises BadDocument."""
    name = one_line(str(path))
    data, note = read(path)
    if not isinstance(data, dict) or (version := data.get("manifest_version")) is None:
        raise BadDocument(f"{name}: not a manifest of cqbench run")
    if version != VERSION:
        raise BadDocument(f"{name}: manifest_version {one_line(str(version))}; this version of cqbench reads {VERSION}")
    try:
        found = Manifest.model_validate(data)
    except ValidationError as error:
        raise BadDocument(f"{name}: {complaint(error)}") from None
    return found.model_copy(update={"notes": [*found.notes, note]}) if note else found
