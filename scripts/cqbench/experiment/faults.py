"""Faults of an experiment: what goes wrong in the measured window, once. Each kind has keys of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cqbench.experiment import fields
from cqbench.formats.toml import Table

LEAD_S = 0.8  # for the client to start and to connect before its warm-up; it takes 0.1 s, unless the machine is busy
SHARED_PORT = ("--channel-arg", "grpc.so_reuseport=1")  # a server needs it if another server is to listen at its port
PROXIED = ("latency", "bandwidth")
SOCKETS = ("reset", "half-open")  # made by taking hold of a process's socket


class Fault(Table):
    """Shared by all kinds."""

    kind: str = Field(description="one of those below, each with its keys")
    at: fields.Moment = Field(default=1.0, description="when, from the opening of the window on")

    @property
    def ends(self) -> float:
        """In seconds from the opening of the window on."""
        return self.at

    @property
    def words(self) -> str:
        """'latency of 100 ms for 1 s', 'reset'."""
        return self.kind


class Once(Fault):
    """fault of a moment."""

    kind: Literal["reset", "half-open", "restart", "goaway"] = Field(
        description='"reset": one connection is reset; "half-open": nothing arrives on one connection any more, at '
        'either end; "restart": SIGTERM to the server, and once it has ended another one at its port; "goaway": '
        "another server at its port, and once it listens SIGTERM to the first"
    )


class Lasting(Fault):
    """A fault that ends."""

    lasts: fields.Interval = Field(description="for how long")

    @property
    def ends(self) -> float:
        return self.at + self.lasts

    @property
    def words(self) -> str:
        return f"{self.kind}{self.amount} for {self.lasts:g} s"

    @property
    def amount(self) -> str:
        return ""


class Stopped(Lasting):
    """fault that stops the server for a while."""

    kind: Literal["stop", "gone"] = Field(
        description='"stop": SIGSTOP and, later, SIGCONT to the server; "gone": SIGKILL to the server and, later, '
        "another one at its port"
    )


class Latency(Lasting):
    """fault of the network: a proxy, toxiproxy, holds responses back. The proxy is there from the start."""

    kind: Literal["latency"] = Field(description='"latency"')
    delay: fields.Milliseconds = Field(description="of each response")

    @property
    def amount(self) -> str:
        return f" of {self.delay} ms"


class Bandwidth(Lasting):
    """fault of the network: a proxy, toxiproxy, limits the rate. The proxy is there from the start."""

    kind: Literal["bandwidth"] = Field(description='"bandwidth"')
    kbytes_per_second: fields.Kilobytes = Field(description="thousands of bytes, each way on each connection")

    @property
    def amount(self) -> str:
        return f" of {self.kbytes_per_second} kB/s"


KINDS: tuple[type[Fault], ...] = (Once, Stopped, Latency, Bandwidth)
OneFault = Annotated[Once | Stopped | Latency | Bandwidth, Field(discriminator="kind")]
