"""The tables of an experiment's file as models. Their descriptions are what `cqbench run --keys` prints."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cqbench.experiment import fields
from cqbench.experiment.fields import Pinning

FLAGS = "as on the command line, or a list with a text for each word"
VARIABLES = 'environment variables, such as { GRPC_TRACE = "http" }'


class Table(BaseModel):
    """No other keys than those of the model."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
    seed: fields.Seed | None = Field(default=None, description="of the random order; without it one is drawn and noted")
    counting: fields.YesNo = Field(
        default=False, description="run the counting programs, which count in a pass behind each measured one"
    )
    placement: fields.Placement = Field(
        default=Pinning(),
        description='CPUs of both sides: "split" (half of the cores each, or a NUMA node each), "pair" (a core each), '
        '"none" (not pinned), or { server_cpus = "0-3", client_cpus = "8" }',
    )


class Client(Table):
    """[client]: what the clients of all configurations have."""

    flags: fields.ClientFlags = Field(default=(), description=FLAGS)
    env: fields.Variables = Field(default={}, description=VARIABLES)


class Server(Table):
    """[server]: what the servers of all configurations have."""

    flags: fields.ServerFlags = Field(default=(), description=FLAGS)
    env: fields.Variables = Field(default={}, description=VARIABLES)
    layout: fields.Layout = Field(
        default="",
        description='"post": queues, threads and posted requests of the source post, for the server\'s CPUs',
    )


class Fault(Table):
    """fault: what goes wrong in the measured window, once."""

    kind: fields.FaultKind = Field(
        description='"latency": the network holds answers back for `delay`; "bandwidth": it moves '
        "kbytes_per_second each way on each connection (both by a proxy, toxiproxy, that is there from the "
        'start); "reset": one connection is reset; "half-open": nothing arrives on one connection any more, at '
        'either end; "restart": SIGTERM to the server, and once it has ended another one at its port; "goaway": '
        'another server at its port, and once it listens SIGTERM to the first; "stop": SIGSTOP and, later, SIGCONT '
        'to the server; "gone": SIGKILL to the server and, later, another one at its port. Of several servers it is '
        "the first"
    )
    at: fields.Moment = Field(default=1.0, description="when, from the opening of the window on")
    lasts: fields.Interval | None = Field(
        default=None, description='for how long: "latency", "bandwidth", "stop", "gone"'
    )
    delay: fields.Milliseconds | None = Field(default=None, description='of "latency"')
    kbytes_per_second: fields.Kilobytes | None = Field(default=None, description='of "bandwidth", thousands')


class Settings(Table):
    """Settings: what a configuration, or a value of an axis, is."""

    client_flags: fields.ClientFlags = Field(default=(), description="of the client, behind [client].flags")
    server_flags: fields.ServerFlags = Field(default=(), description="of the server, behind [server].flags")
    client_env: fields.Variables = Field(default={}, description="variables of the client; they win over [client].env")
    server_env: fields.Variables = Field(default={}, description="variables of the server; they win over [server].env")
    build: fields.Build = Field(default="release", description='of both programs; "sid": gRPC 1.83, by newgrpc.sh')
    pinning: fields.Placement | None = Field(default=None, description="instead of experiment.placement, and as that")
    host: fields.Host = Field(default="", description="HOST or HOST:PORT of a server that is there; none is started")
    needs_grpc: fields.GrpcVersion = Field(
        default="", description="the oldest gRPC that can do it; not run with an older"
    )
    server_program: fields.Program = Field(
        default="",
        description="instead of grpc_ping_server, from the repository's root on: takes --port 0, prints `listening on "
        "HOST:PORT`, ends on SIGTERM; gets no flags but server_flags; not run where it is not there",
    )
    connect: fields.Port = Field(
        default="grpc",
        description='"http": the client gets the address of a line `HTTP on HOST:PORT` of the server, and for '
        "grpc_ping_server that of its gRPC as --control",
    )
    added_rtt: fields.Milliseconds | None = Field(
        default=None,
        description="added to each round trip: a proxy holds back each of the server's answers for that long; "
        '"0ms": the proxy alone',
    )

    fault: Annotated[Fault, fields.Kind("table")] | None = Field(
        default=None,
        description="what goes wrong while it is measured, a table; failed calls are then what is measured, so the "
        "client's --max-error-rate wants to be 1",
    )
    servers: fields.Servers = Field(
        default=1, description="how many are started, alike; the client gets all their addresses"
    )


class OneConfiguration(Settings):
    """[[configuration]]: one way to run server and client. Configurations, or axes."""

    name: fields.FileName = Field(description="of the configuration, and of the folder of its results")


class AxisValue(Settings):
    """values of [[axis]]: a list of tables."""

    name: fields.PartName = Field(description="of the value: part of the names of its configurations")


def _some(value: Any) -> Any:
    if value == []:
        raise fields.Wrong("there are none, so there is nothing to run; at least one of values is needed")
    return value


class Axis(Table):
    """[[axis]]: a setting that varies. With several, all combinations are run: configurations "a.x", "a.y", "b.x",
    "b.y". Put last what is compared: what differs in the last axis only is measured one right after the other.
    """

    name: fields.FileName = Field(description="what varies")
    values: Annotated[list[AxisValue], BeforeValidator(_some), fields.Kind("list of tables")] = Field(
        description="what it can be, each with name and settings"
    )


class File(Table):
    """All of it."""

    experiment: Head = Field(description="what is asked, and for how long")
    client: Client = Field(default=Client(), description="what all clients have in common")
    server: Server = Field(default=Server(), description="what all servers have in common")
    configuration: list[OneConfiguration] = Field(default=[], description="ways to run server and client, one by one")
    axis: list[Axis] = Field(default=[], description="or settings of which all combinations are run")


# Where in a file each model is, without the numbers of lists.
PLACES: dict[tuple[str, ...], type[Table]] = {
    (): File,
    ("experiment",): Head,
    ("client",): Client,
    ("server",): Server,
    ("configuration",): OneConfiguration,
    ("configuration", "fault"): Fault,
    ("axis",): Axis,
    ("axis", "values"): AxisValue,
    ("axis", "values", "fault"): Fault,
}
