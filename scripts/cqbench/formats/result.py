"""The client's JSON files as models: everything in them is checked here, once; the rest of the package trusts it.

result.schema.json describes every key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from cqbench.formats import problems
from cqbench.formats.model import Amount, Count, Line, Model, Text, without_nulls
from cqbench.formats.point import LowerBound, Measured
from cqbench.formats.reasons import Reason
from cqbench.formats.source import BadDocument, check_version, decode, read_bytes
from cqbench.formats.text import one_line

SCHEMA_VERSION = 4  # result.schema.json's, the only one that is read
BILL = "cqbench_cost_profile"  # a key of what `cqbench cost` writes
CLOSED, OPEN = "closed", "open"


class Server(Model):
    """A server's own description. An unknown server has none."""

    cpus: list[Count] = []
    poll: str = ""
    channel_args: list[str] = []
    service_time_ns: Amount | None = None


class PeerSettings(Model):
    """The HTTP/2 settings of one target, as the client read them. None: the server did not announce the setting, so
    that the default of HTTP/2 holds, or they were not read.
    """

    target: Line
    not_read: Text = ""  # why they were not read; empty when they were
    max_concurrent_streams: Annotated[int, Field(ge=0, lt=2**32)] | None = None  # per connection
    initial_window_bytes: Annotated[int, Field(ge=0, lt=2**31)] | None = None
    max_frame_bytes: Annotated[int, Field(ge=2**14, lt=2**24)] | None = None
    max_header_list_bytes: Annotated[int, Field(ge=0, lt=2**32)] | None = None

    @model_validator(mode="after")
    def _has_nothing_that_was_not_read(self) -> PeerSettings:
        settings = self.model_dump(exclude={"target", "not_read"}, exclude_none=True)
        if self.not_read and settings:
            raise ValueError("'not_read' excludes settings")
        return self


class FoundRate(Model):
    """The answer of a search for the highest rate that meets an objective. Per second; with its 95 % interval."""

    resolved: bool
    rate: Annotated[float, Field(gt=0, lt=2**63)] | None = Field(default=None, alias="rate_per_second")
    low: Amount | None = None
    high: Amount | None = None
    unresolved_reason: Line = ""  # empty when it is resolved

    @model_validator(mode="after")
    def _is_an_answer(self) -> FoundRate:
        if self.resolved and None in (self.rate, self.low, self.high):
            raise ValueError("'resolved' needs 'rate_per_second', 'low' and 'high'")
        return self

    @property
    def words(self) -> str:
        """'highest rate 23456/s (21000 to 25000)'."""
        if not self.resolved:
            return f"unresolved: {self.unresolved_reason or 'no reason given'}"
        return f"highest rate {self.rate:.0f}/s ({self.low:.0f} to {self.high:.0f})"


class Context(Model):
    """Facts about all points of a run."""

    cqbench_version: Line
    method: Line
    api: Line
    policy: Line = Field(alias="channel_policy")
    workload: Line
    target: Line
    grpc_version: Line
    cpu_model: Line = ""  # of the client's machine; '' when it is not known
    partial: bool
    warnings: list[Reason] = []  # why every point is unreliable
    notes: list[Reason] = []
    loop: Literal["closed", "open"]
    messages: Line = ""  # how they are held: "reused"
    stub: Line = ""  # "generated"
    arrivals: Line = ""  # "poisson"; open loop only
    at_limit: Line = ""  # "queue"; open loop only
    channel_args: dict[str, Any] = {}
    command_line: list[str] = []
    servers: list[Server] = []
    peer_settings: list[PeerSettings] = []  # of each target; empty without evidence
    context: dict[str, Any]  # as it is in the file, for what is only shown or compared as text

    @model_validator(mode="before")
    @classmethod
    def _as_it_is(cls, data: Any) -> Any:
        return {**data, "context": without_nulls(data)} if isinstance(data, dict) else data

    @property
    def open(self) -> bool:
        return self.loop == OPEN

    @property
    def stream_limit(self) -> int | None:
        """The lowest number of concurrent streams that a server allows on a connection. None: no server has a limit, or
        it is not known.
        """
        limits = (settings.max_concurrent_streams for settings in self.peer_settings)
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def special(self) -> tuple[str, ...]:
        """Parts of the client's series names for settings that are not the default."""
        holder = self.messages if self.messages != "reused" else ""
        stub = self.stub if self.stub == "generic" and holder != "bytes" else ""
        return tuple(filter(None, (holder, stub, OPEN if self.open else "")))

    @property
    def how(self) -> str:
        """The same in words, with how an open loop's calls arrive; '' where all is the default."""
        holder, stub = (next((s for s in self.special if s == word), "") for word in (self.messages, "generic"))
        loop = f"open loop, {self.arrivals} arrivals, {self.at_limit} at the limit" if self.open else ""
        return ", ".join(filter(None, (f"{holder} messages" * bool(holder), f"{stub} stub" * bool(stub), loop)))


class Document(Context):
    """One run of the client: its context, and the points."""

    path: str
    points: list[Measured]
    lower_bounds: list[LowerBound]
    found_rate: FoundRate | None  # of --find-rate


def _unless_aggregate(entry: Any) -> Any:
    """Google Benchmark writes aggregates in addition to repetitions, with the same data: None for these."""
    return None if isinstance(entry, dict) and entry.get("run_type") == "aggregate" else entry or {}


Points = list[Annotated[Measured | None, BeforeValidator(_unless_aggregate)]]


class File(Model):
    """The whole file. not_measured: the points of which Google Benchmark's reader must not know: they have no time."""

    context: Context
    benchmarks: Points
    not_measured: Points = []
    lower_bounds: list[LowerBound] = []
    found_rate: FoundRate | None = Field(default=None, alias="find_rate")

    @model_validator(mode="after")
    def _has_rates(self) -> File:
        for place in ("benchmarks", "not_measured"):
            for i, point in enumerate(getattr(self, place)):
                if self.context.open and point and point.target_rate is None:
                    problems.refuse("File", [((place, i), "'target_rate_per_second' is missing")])
        return self

    def document(self, name: str) -> Document:
        points = [point for point in (*self.benchmarks, *self.not_measured) if point]
        fields: dict[str, Any] = {"path": name, **dict(self.context), "points": points}
        return Document.model_construct(**fields, lower_bounds=self.lower_bounds, found_rate=self.found_rate)


def load(path: Path) -> Document:
    """Raises BadDocument."""
    return parse(read_bytes(path), one_line(str(path)))


def parse(data: bytes, name: str) -> Document:
    """Raises BadDocument."""
    found = decode(data, name)
    if isinstance(found, dict):
        if BILL in found:
            raise BadDocument(
                f"{name}: a cost profile of cqbench cost, not a result: keep profiles outside of folders of results"
            )
        _check_version(found.get("context"), name)
    try:
        return File.model_validate(found).document(name)
    except ValidationError as error:
        raise BadDocument(f"{name}: not a result of grpc_ping_client: {problems.first(error, found)}") from None


def _check_version(context: Any, name: str) -> None:
    """Raises OtherFormat. The first format had no key for its version."""
    if isinstance(context, dict) and "cqbench_version" in context:  # it is ours
        version = context.get("schema_version", 1)
        check_version(version, SCHEMA_VERSION, "'schema_version' in context", "schema", name)
