"""The manifest.json of an experiment as a model: what was run, where, in which order, and what became of each run.

While an experiment runs, what became of its runs since manifest.json was written is in runs.jsonl, a line for each.
Both are as untrusted as a result. A run that says something impossible is a problem of that run's result only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from cqbench.formats import problems, source
from cqbench.formats.model import Amount, Count, Line, Model, Offset, Text
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line

FILE = "manifest.json"
RUNS = "runs.jsonl"  # next to it; gone when the experiment has ended
CUT = f"the last line of {RUNS} is not whole: the experiment was killed, and what became of that run is not known"
VERSION = 3  # the only one that is read
FORMAT = "manifest format"  # has that version, for messages
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


class RunLoad(Model):
    """Without any of them, a run has several loads."""

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


class RunRecord(Model):
    """One run of server and client. Absent keys say that there was nothing of the kind."""

    file: str  # of its result, from the experiment's folder on
    configuration: Line = ""
    repetition: Count = 0
    status: Line = ""
    load: RunLoad = RunLoad()
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
    """An axis of a product of settings; a configuration's name is one value of each axis, joined with dots."""

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
    configuration: Names = []


class Machine(Model):
    """Where it was run."""

    host_name: Line = ""
    cpu_model: Line = ""
    governors: list[Line] = []


class Resumed(Model):
    """One of the times it was gone on with."""

    started: Line = ""
    changed: list[Line] = []  # what was no longer as it had been


def _run(data: Any, validate: ValidatorFunctionWrapHandler) -> RunRecord:
    """A defect in one run is a problem of that run's result only."""
    try:
        found: RunRecord = validate(data)
        return found
    except ValidationError as error:
        return RunRecord(file=data["file"], problem=problems.first(error, data, f"'{one_line(data['file'])}'"))


def _with_files(runs: Any) -> Any:
    return [run for run in _tables(runs) if isinstance(run.get("file"), str)]


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
    runs: Annotated[list[Annotated[RunRecord, WrapValidator(_run)]], BeforeValidator(_with_files)] = Field(min_length=1)

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
    def order(self) -> list[str]:
        """The runs are listed in the order in which they were run."""
        return [run.file.removeprefix("raw/").removesuffix(".json") for run in self.runs]


def read(path: Path) -> tuple[Any, str]:
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
    data, note = read(path)
    if not isinstance(data, dict) or (version := data.get("manifest_version")) is None:
        raise BadDocument(f"{name}: not a manifest of cqbench run")
    source.check_version(version, VERSION, "'manifest_version'", FORMAT, name)
    try:
        found = Manifest.model_validate(data)
    except ValidationError as error:
        raise BadDocument(f"{name}: {problems.first(error, data)}") from None
    return found.model_copy(update={"notes": [*found.notes, note]}) if note else found
