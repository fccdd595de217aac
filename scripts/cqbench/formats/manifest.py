"""The manifest.json of an experiment: what was run, where, in which order, and what became of each run.

It is written when an experiment begins, is resumed and ends, all or nothing. In between, what became of a run is
appended to runs.jsonl, so that what is written grows with the number of runs, not with its square. Each run is a line
of either file.

Both are as untrusted as a result. A run that says something impossible is a problem of that run's result only.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_serializer,
    model_validator,
)

from cqbench.formats import problems, source
from cqbench.formats.model import Amount, Count, Line, Model, Offset, Text
from cqbench.formats.offered import Load, load_from_json, load_to_json
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

FILE = "manifest.json"
RUNS = "runs.jsonl"  # next to it; gone when the experiment has ended
CUT = f"the last line of {RUNS} is not whole: the experiment was killed, and what became of that run is not known"
VERSION = 3  # the only one that is read
FORMAT = "manifest format"  # has that version, for messages
PENDING, OK, FAILED, INTERRUPTED, NOT_RUN = "pending", "ok", "failed", "interrupted", "not run"
STATUSES = (PENDING, OK, FAILED, INTERRUPTED, NOT_RUN)
MACHINE_KEYS = ("host_name", "cpu_model", "cpus")  # have to be the same for figures to belong together
NO_RUNS = "[]\n}"

Name = Annotated[str, AfterValidator(partial(one_line, limit=255))]  # of a file or folder
OneLoad = Annotated[
    Load | None,
    PlainValidator(lambda data: data if isinstance(data, Load) else load_from_json(data)),
    PlainSerializer(load_to_json),
]


class Network(Model):
    """A proxy between client and server."""

    added_rtt_ms: Annotated[float, Field(ge=0, le=1e6)]  # to each round trip
    proxy_cpus: Line = ""
    proxy: Line = ""  # which program, and its version
    proxy_command: str = ""


class Fault(Model):
    """A fault in the window, which opens at 0."""

    kind: Line = ""
    words: Line  # 'latency of 100 ms for 1 s'
    planned_s: Offset | None = None
    began_s: Offset | None = None  # None: it did not happen
    ended_s: Offset | None = None  # None: it lasted until the window had closed


class RunRecord(Model):
    """One run of server and client. Absent keys say that there was nothing of the kind. The program that measures
    changes it until the run has ended.
    """

    model_config = ConfigDict(frozen=False)

    configuration: Name = ""
    repetition: Count = 0
    load: OneLoad = None  # {"inflight": 8}, {"rate": 2000.0} or {"find_rate": "p99<2ms"}
    file: str  # of its result, from the experiment's folder on
    status: Line = ""
    reason: Text = ""  # why it failed or was not run
    client_cpus: str = ""
    server_cpus: str = ""
    client_env: dict[str, str] = {}  # set by the experiment, not what is inherited
    server_env: dict[str, str] = {}
    servers: Count = 1  # how many were started
    server_program: list[Line] = []  # instead of grpc_ping_server: its path and flags
    server_front: list[Line] = []  # where the client is sent to grpc_ping_server's HTTP port: what answers there
    network: Network | None = None
    ranks: Line = ""  # several client processes: how many, where, started by what
    started: Line = ""  # with milliseconds
    server_command: str = ""
    server_configuration: str = ""
    client_command: str = ""
    fault: Fault | None = None
    exit_status: int | None = None  # the client's
    grpc_version: Line = ""
    ended: Line = ""
    other_cpus: Amount | None = None  # CPU time that other programs used on its CPUs, in CPUs
    last_lines: list[str] = []  # of what failed
    problem: str = ""  # why nothing else of it is known; in no file

    @property
    def words(self) -> str:
        """'shared, 8 in flight, repetition 3'."""
        return ", ".join(filter(None, (self.configuration, self.load_words, f"repetition {self.repetition}")))

    @property
    def seconds(self) -> float | None:
        """How long it took. None where a time is absent, is no time, or only one of them has its zone."""
        try:
            return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.started)).total_seconds()
        except (ValueError, TypeError):
            return None

    @property
    def load_words(self) -> str:
        return self.load.words if self.load else ""

    def end(self, status: str, reason: str = "") -> None:
        self.status, self.reason = status, reason

    def line(self) -> str:
        """As the files have it."""
        return json.dumps(self.model_dump(mode="json", exclude_defaults=True), allow_nan=False)


def _names(tables: Any) -> Any:
    """Returns the names of tables that have one."""
    return [table["name"] for table in _tables(tables) if "name" in table]


def _tables(value: Any) -> list[dict[str, Any]]:
    return [table for table in value if isinstance(table, dict)] if isinstance(value, list) else []


Names = Annotated[list[Line], BeforeValidator(_names)]


class Axis(Model):
    """An axis of a product of settings; a configuration's name is one value of each axis, joined with dots."""

    name: Line = ""
    values: Names = []


class Head(Model):
    """The head of an experiment's file."""

    title: Text = ""
    question: Text = ""
    margin: Line = ""  # '5%'
    budget: Any = None  # seconds, or a text with a unit: then measuring went on until it was decided


class Tables(Model):
    """The file of an experiment. data: all of it, as it was parsed."""

    experiment: Head = Head()
    axis: Annotated[list[Axis], BeforeValidator(_tables)] = []
    configuration: Names = []
    data: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _keep(cls, data: Any) -> Any:
        return {**data, "data": data} if isinstance(data, dict) else data

    @model_serializer
    def _as_it_was(self) -> dict[str, Any]:
        return self.data


class Machine(Model):
    """cpus: those that could be used. governors: none where CPUs have no frequency scaling."""

    uname: str = ""
    host_name: Line = ""
    cpu_model: Line = ""
    cpus: list[Count] = []
    governors: list[Line] = []


class Place(Model):
    """Where it was run, and by which source code."""

    git_revision: Line = ""
    machine: Machine = Machine()
    environment: dict[str, str] = {}  # variables of gRPC that were inherited

    def differs_from(self, before: Place) -> list[str]:
        """Returns the keys of what is not as it was: the figures may then not belong together."""
        found = [key for key in MACHINE_KEYS if getattr(self.machine, key) != getattr(before.machine, key)]
        return [*found, *(["git_revision"] if self.git_revision != before.git_revision else [])]


class Resumed(Place):
    """One of the times it was gone on with."""

    started: Line = ""
    changed: list[Line] = []  # what was no longer as it had been


class BuiltProgram(Model):
    """A program of a build. version: the first line that it prints with --version; '' where it does not."""

    sha256: Line
    version: Line = ""


class Build(Model):
    """One of the builds of our programs."""

    folder: str
    programs: dict[str, BuiltProgram] = {}


class OtherLoad(Model):
    """Runs on whose CPUs other programs ran, of those where it is known. note: in words; '' where none did."""

    runs: Count = 0
    of: Count = 0
    note: Text = ""


def _run(data: Any, validate: ValidatorFunctionWrapHandler) -> RunRecord:
    """A defect in one run is a problem of that run's result only."""
    try:
        found: RunRecord = validate(data)
        return found
    except ValidationError as error:
        file = _file(data)
        return RunRecord(file=file, problem=problems.first(error, data, f"'{one_line(file)}'"))


class Manifest(Place):
    """One experiment's. The program that measures changes it until the experiment has ended. runs: in the order in
    which they are run; those of one repetition and load, which follow each other, are pairs.
    """

    model_config = ConfigDict(frozen=False)

    manifest_version: int = VERSION
    name: Line = ""
    experiment: Tables = Tables()
    repetitions: Count | None = None
    seed: Count | None = None
    started: Line = ""
    ended: Line | None = None
    partial: bool = True  # something was not run, or was cut short
    resumed: list[Resumed] = []
    placements: dict[str, str] = {}  # by configuration, in words
    notes: list[Text] = []
    ranks: dict[str, Any] | None = None  # several client processes: what was asked for
    versions: dict[str, Any] | None = None  # of the software of the first result
    builds: dict[str, Build] | None = None  # by name or folder; None: the default one alone
    other_load: OtherLoad | None = None
    hashes: Line | None = None  # the file that has them when the experiment has ended; None: made before there were any
    note: str = Field(default="", exclude=True)  # on how it was read
    runs: list[Annotated[RunRecord, WrapValidator(_run)]] = Field(min_length=1)

    @property
    def head(self) -> Head:
        return self.experiment.experiment

    @property
    def axes(self) -> list[Axis]:
        """In order; empty where the configurations are written one by one."""
        return self.experiment.axis

    @property
    def configurations(self) -> list[str]:
        """Those that are written one by one."""
        return self.experiment.configuration

    @property
    def all_notes(self) -> list[str]:
        return [*self.notes, *filter(None, [self.note])]

    @property
    def order(self) -> list[str]:
        return [run.file.removeprefix("raw/").removesuffix(".json") for run in self.runs]

    def text(self) -> str:
        """The contents of manifest.json."""
        rest = self.model_dump(mode="json", exclude={"runs"}, exclude_none=True)
        place = {key: rest.pop(key) for key in Place.model_fields if key in rest}
        head = json.dumps({**rest, **place, "runs": []}, indent=2, allow_nan=False)
        runs = ",\n".join(f"    {run.line()}" for run in self.runs)
        return f"{head.removesuffix(NO_RUNS)}[\n{runs}\n  ]\n}}\n"


def contents(path: Path) -> tuple[Any, str]:
    """Returns the contents of manifest.json, of any type, with the lines of runs.jsonl; and a note, '' for none.

    Raises BadDocument.
    """
    lines, note = _lines(path.with_name(RUNS))  # first: it is removed after they have come into manifest.json
    name = one_line(str(path))
    data = source.decode(_bytes(path, name), name)
    runs = data.get("runs") if isinstance(data, dict) else None
    if not lines or not isinstance(runs, list):
        return data, note
    places = {_file(run): place for place, run in enumerate(runs)}
    for number, line in enumerate(lines, 1):
        if not (file := _file(line)) or file not in places:
            raise BadDocument(f"{one_line(str(path.with_name(RUNS)))}: line {number} is not of a run of {FILE}")
        runs[places[file]] = line
    return data, note


def _file(run: Any) -> str:
    """'' for what is no run."""
    return str(run["file"]) if isinstance(run, dict) and isinstance(run.get("file"), str) else ""


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
    """Raises BadDocument; OtherFormat where the version is not ours."""
    name = one_line(str(path))
    data, note = contents(path)
    if not isinstance(data, dict) or (version := data.get("manifest_version")) is None:
        raise BadDocument(f"{name}: not a manifest of cqbench run")
    source.check_version(version, VERSION, "'manifest_version'", FORMAT, name)
    try:
        found = Manifest.model_validate(data)
    except ValidationError as error:
        raise BadDocument(f"{name}: {problems.first(error, data)}") from None
    found.note = note
    return found
