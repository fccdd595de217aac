"""The manifest.json of an experiment as a model: what was run, where, in which order, and what became of each unit.

While an experiment runs, what became of its units since manifest.json was written is in runs.jsonl, a line for each.
Both are as untrusted as a result. A unit that says something impossible is a problem of that unit's result only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from cqbench.files import source
from cqbench.files.model import Amount, Count, Line, Model, Offset, Text, complaint
from cqbench.files.source import BadDocument
from cqbench.files.text import one_line

FILE = "manifest.json"
RUNS = "runs.jsonl"  # next to it; gone when the experiment has ended
CUT = f"the last line of {RUNS} is not whole: the experiment was killed, and what became of that unit is not known"
READABLE = (1, 2)  # versions; 1 had a file for a whole sweep, 2 has one for each point
PENDING, OK, FAILED, INTERRUPTED, NOT_RUN = "pending", "ok", "failed", "interrupted", "not run"
STATUSES = (PENDING, OK, FAILED, INTERRUPTED, NOT_RUN)


class Network(Model):
    """A proxy between client and server."""

    added_rtt_ms: Annotated[float, Field(ge=0, le=1e6)]  # to each round trip


class Fault(Model):
    """What went wrong in the window, which opens at 0."""

    words: Line  # 'latency of 100 ms for 1 s'
    began_s: Offset | None = None  # None: it did not happen
    ended_s: Offset | None = None  # None: it lasted until the window had closed


class UnitLoad(Model):
    """One of them; none in version 1, whose units had all loads."""

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


class Axis(Model):
    """Of a product of settings; a variant's name is one value of each, joined with dots."""

    name: Line = ""
    values: list[Line] = []


class Head(Model):
    """What a file of an experiment says of it."""

    title: Text = ""
    question: Text = ""


class Machine(Model):
    """Where it was run."""

    host_name: Line = ""
    cpu_model: Line = ""
    governors: list[Line] = []


class Resumed(Model):
    """One of the times it was gone on with."""

    started: Line = ""
    changed: list[Line] = []  # what was no longer as it had been


class Manifest(Model):
    """One experiment's."""

    name: Line = ""
    head: Head = Head()
    axes: list[Axis] = []  # in order; empty where the variants are written one by one
    variants: list[Line] = []  # of those
    seed: Count | None = None
    started: Line = ""
    ended: Line = ""
    partial: bool = True
    git_revision: Line = ""
    machine: Machine = Machine()
    environment: dict[str, str] = {}
    placements: dict[str, str] = {}
    order: list[Line] = []
    notes: list[Text] = []
    resumed: list[Resumed] = []
    units: list[Unit] = Field(min_length=1)


def read(path: Path) -> tuple[Any, str]:
    """What manifest.json says, whatever that is, with the lines of runs.jsonl; and a note, '' for none.

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
    """Of runs.jsonl, if there is one; and a note."""
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
    if not isinstance(data, dict) or data.get("manifest_version") not in READABLE:
        versions = " or ".join(map(str, READABLE))
        raise BadDocument(f"{name}: not a manifest of cqbench run, version {versions}")
    try:
        found = Manifest.model_validate(_plain(data, name))
    except ValidationError as error:
        raise BadDocument(f"{name}: {complaint(error)}") from None
    return found.model_copy(update={"notes": [*found.notes, note]}) if note else found


def _plain(data: dict[str, Any], name: str) -> dict[str, Any]:
    """As the model has it."""
    told: dict[str, Any] = _without_nulls(data)
    experiment = told.get("experiment")
    tables = experiment if isinstance(experiment, dict) else {}
    told["head"] = tables.get("experiment", {})
    told["axes"] = [
        {"name": axis.get("name", ""), "values": _names(axis.get("values"))} for axis in _tables(tables.get("axis"))
    ]
    told["variants"] = _names(tables.get("variant"))
    told["machine"] = _without_nulls(told.get("machine", {}))
    units = told.get("units")
    told["units"] = [
        _unit(unit, name)
        for unit in (units if isinstance(units, list) else [])
        if isinstance(unit, dict) and isinstance(unit.get("file"), str)
    ]
    # Version 2 has no list of its own: units are listed in their order.
    told.setdefault("order", [unit.file.removeprefix("raw/").removesuffix(".json") for unit in told["units"]])
    return told


def _tables(value: Any) -> list[dict[str, Any]]:
    return [table for table in value if isinstance(table, dict)] if isinstance(value, list) else []


def _names(value: Any) -> list[Any]:
    return [table["name"] for table in _tables(value) if "name" in table]


def _without_nulls(value: Any) -> Any:
    return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def _unit(data: dict[str, Any], name: str) -> Unit:
    try:
        return Unit.model_validate(_without_nulls(data))
    except ValidationError as error:
        what = complaint(error, [f"'{one_line(data['file'])}'"])
        return Unit(file=data["file"], problem=f"{name}: {what}")
