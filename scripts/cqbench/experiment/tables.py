"""The tables of an experiment's file as models. Their descriptions are what `cqbench run --keys` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Discriminator, Field, Tag

from cqbench.experiment import faults, fields
from cqbench.formats.problems import Accepts, Problem
from cqbench.formats.toml import Table
from cqbench.measure.programs import DEFAULT, inside

FLAGS = "as on the command line, or a list with a text for each word"
VARIABLES = 'environment variables, such as { GRPC_TRACE = "http" }'
MAX_CONFIGURATIONS = 1000
BUILDS = ("build", "client_build", "server_build")  # keys: of both programs, of one
# Keys that are not accepted with host, and why.
NOT_WITH_HOST = {
    **dict.fromkeys(
        ("server_flags", "server_env", "server_program", "server_build", "connect"), "that server is not started here"
    ),
    "added_rtt": "the proxy needs a server that is started here",
}
# Keys with which server and client are not where a fault looks for them, and why.
NOT_WITH_FAULT = {
    "host": "the server is not started here",
    "connect": "a server that is started anew has another HTTP port",
    "added_rtt": "a fault that needs a proxy has one of its own",
}


class CpuLists(Table):
    """placement and pinning as a table: CPU lists, which are compared with the machine later."""

    server_cpus: fields.CpuList = Field(default="", description="of the server")
    client_cpus: fields.CpuList = Field(default="", description="of the client")

    def problems(self) -> Iterator[Problem]:
        if not self.model_fields_set:
            yield (), "the table is empty; server_cpus, client_cpus or both are accepted"


def _form(value: Any) -> str:
    return "table" if isinstance(value, (dict, CpuLists)) else "text"


Placement = Annotated[
    Annotated[
        Literal["split", "pair", "none"],
        Accepts("text", "'split', 'pair', 'none' or a table with server_cpus, client_cpus or both"),
        Tag("text"),
    ]
    | Annotated[CpuLists, Tag("table")],
    Discriminator(_form),
]


class Head(Table):
    """[experiment]: what is asked, and for how long."""

    name: fields.FileName = Field(description="begins the name of the folder of results")
    title: fields.Words = Field(description="what it is about, in a few words")
    question: fields.Words = Field(description="what it answers, in one sentence")
    inflight: fields.Inflight | None = Field(default=None, description="calls in flight, a closed loop; this or rates")
    rates: fields.Rates | None = Field(default=None, description="calls per second, an open loop; this or inflight")
    warmup: fields.Warmup = Field(default=0.2, description="before each point, not measured")
    interval: fields.Interval = Field(default=1.0, description="measured at each point")
    repetitions: fields.Repetitions = Field(default=7, description="of all of it; decisions take six")
    budget: fields.Budget | None = Field(
        default=None,
        description="time for all runs together: after the repetitions, what the verdict leaves inconclusive is "
        "measured again and again, until all is decided or this time is over",
    )
    margin: fields.Margin = Field(default=10, description='smaller differences do not count; "5%"')
    seed: fields.Seed | None = Field(default=None, description="of the random order; without it one is drawn and noted")
    counting: bool = Field(
        default=False, description="run the counting programs, which count in a pass behind each measured one"
    )
    placement: Placement = Field(
        default="split",
        description='CPUs of both sides: "split" (half of the cores each, or a NUMA node each), "pair" (a core each), '
        '"none" (not pinned), or { server_cpus = "0-3", client_cpus = "8" }',
    )

    def problems(self) -> Iterator[Problem]:
        if self.inflight and self.rates:
            yield ("rates",), "with inflight: write one of the two"
        if self.budget and self.counting:
            yield ("budget",), "with counting: what is counted is the same each time"


class Client(Table):
    """[client]: what the clients of all configurations have."""

    flags: fields.ClientFlags = Field(default=[], description=FLAGS)
    env: fields.Variables = Field(default={}, description=VARIABLES)


class Server(Table):
    """[server]: what the servers of all configurations have."""

    flags: fields.ServerFlags = Field(default=[], description=FLAGS)
    env: fields.Variables = Field(default={}, description=VARIABLES)
    layout: Literal["post"] | None = Field(
        default=None,
        description='"post": queues, threads and posted requests of the source post, for the server\'s CPUs',
    )


class Settings(Table):
    """Settings: what a configuration, or a value of an axis, is."""

    client_flags: fields.ClientFlags = Field(default=[], description="of the client, behind [client].flags")
    server_flags: fields.ServerFlags = Field(default=[], description="of the server, behind [server].flags")
    client_env: fields.Variables = Field(default={}, description="variables of the client; they win over [client].env")
    server_env: fields.Variables = Field(default={}, description="variables of the server; they win over [server].env")
    build: fields.Build = Field(
        default=DEFAULT,
        description="of both programs: NAME of build/NAME/bin, or their folder, from the repository's root on, with a "
        '\'/\' in it; not run where they are not there; "sid": gRPC 1.83, by newgrpc.sh; "before", "after": of --gate',
    )
    client_build: fields.Build | None = Field(default=None, description="of the client, instead of build")
    server_build: fields.Build | None = Field(default=None, description="of the server, instead of build")
    pinning: Placement | None = Field(default=None, description="instead of experiment.placement, and as that")
    host: fields.Host = Field(default="", description="HOST or HOST:PORT of a server that is there; none is started")
    needs_grpc: fields.GrpcVersion = Field(
        default="", description="the oldest gRPC that can do it; not run with an older"
    )
    server_program: fields.Program = Field(
        default="",
        description="instead of grpc_ping_server, from the repository's root on: takes --port 0, prints `listening on "
        "HOST:PORT`, ends on SIGTERM; gets no flags but server_flags; not run where it is not there",
    )
    connect: Literal["grpc", "http"] = Field(
        default="grpc",
        description='"http": the client gets the address of a line `HTTP on HOST:PORT` of the server, and for '
        "grpc_ping_server that of its gRPC as --control",
    )
    added_rtt: fields.Milliseconds | None = Field(
        default=None,
        description="added to each round trip: a proxy holds back each of the server's answers for that long; "
        '"0ms": the proxy alone',
    )
    fault: faults.OneFault | None = Field(
        default=None,
        description="what goes wrong while it is measured, once, a table; of several servers the first has it. Failed "
        "calls are then what is measured, so set the client's --max-error-rate to 1",
    )
    servers: fields.Servers = Field(
        default=1, description="how many are started, alike; the client gets all their addresses"
    )

    @property
    def builds(self) -> tuple[str, str]:
        """Returns the builds of client and server."""
        return self.client_build or self.build, self.server_build or self.build

    def problems(self) -> Iterator[Problem]:
        given = {key for key in self.model_fields_set if getattr(self, key) not in (None, "", [], {})}
        if self.host:
            yield from (((key,), f"with host: {why}") for key, why in NOT_WITH_HOST.items() if key in given)
            if self.servers > 1:
                yield ("servers",), "with host: no server is started here"
        if self.server_program and self.server_build:
            yield ("server_build",), "with server_program: that server is not ours"
        if self.fault:
            for key, why in NOT_WITH_FAULT.items():
                if key in given:
                    yield ("fault", "kind"), f"with {key}: {why}"
            if away := next(filter(inside, self.builds), ""):
                yield ("fault", "kind"), f'with build "{away}": its programs are not children of this one'
            if self.servers > 1 and self.fault.kind in faults.PROXIED:
                yield ("servers",), f'with fault "{self.fault.kind}": its proxy is of one'


class OneConfiguration(Settings):
    """[[configuration]]: one way to run server and client. Configurations, or axes."""

    name: fields.FileName = Field(description="of the configuration, and of the folder of its results")


class AxisValue(Settings):
    """values of [[axis]]: a list of tables."""

    name: fields.PartName = Field(description="of the value: part of the names of its configurations")


def _different(key: str, named: list[Any]) -> Iterator[Problem]:
    names = [one.name for one in named]
    for i, name in enumerate(names):
        if name in names[:i]:
            yield (key, i, "name"), "twice: each name must be different"


class Axis(Table):
    """[[axis]]: a setting that varies. With several, all combinations are run: configurations "a.x", "a.y", "b.x",
    "b.y". Put last what is compared: what differs in the last axis only is measured one right after the other.
    """

    name: fields.FileName = Field(description="what varies")
    values: list[AxisValue] = Field(min_length=1, description="what it can be, each with name and settings")

    def problems(self) -> Iterator[Problem]:
        return _different("values", self.values)


class File(Table):
    """All of it."""

    experiment: Head = Field(description="what is asked, and for how long")
    client: Client = Field(default=Client(), description="what all clients have in common")
    server: Server = Field(default=Server(), description="what all servers have in common")
    configuration: list[OneConfiguration] = Field(default=[], description="ways to run server and client, one by one")
    axis: list[Axis] = Field(default=[], description="or settings of which all combinations are run")

    def problems(self) -> Iterator[Problem]:
        if self.configuration and self.axis:
            yield (), "[[configuration]] is not accepted with [[axis]]: write one of the two"
        if not self.configuration and not self.axis:
            yield (), "there is no [[configuration]] and no [[axis]], so there is nothing to run"
        yield from _different("configuration", self.configuration)
        yield from _different("axis", self.axis)
        count = math.prod(len(axis.values) for axis in self.axis)
        if count > MAX_CONFIGURATIONS:
            yield (), f"[[axis]] makes {count} configurations; at most {MAX_CONFIGURATIONS} are accepted"


# Where in a file each model is, without the numbers of lists.
PLACES: dict[tuple[str, ...], type[BaseModel]] = {
    (): File,
    ("experiment",): Head,
    ("experiment", "placement", "table"): CpuLists,
    ("client",): Client,
    ("server",): Server,
    ("configuration",): OneConfiguration,
    ("axis",): Axis,
    ("axis", "values"): AxisValue,
}
PLACES |= {
    (*place, *rest): model
    for place in (("configuration",), ("axis", "values"))
    for rest, model in chain(
        [(("pinning", "table"), CpuLists)],
        [
            (("fault", kind), model)
            for model in faults.KINDS
            for kind in get_args(model.model_fields["kind"].annotation)
        ],
    )
}
