"""A book over HTTP from our client and from h2load, on our front and on grpc-gateway's: a check of one by the other."""

from __future__ import annotations

import os
from pathlib import Path

from cqbench.measure.programs import ROOT
from cqbench.run.peers.targets import Measurement, Ratio

HTTP = "http:"  # begins the name of a server with an HTTP port
PATH = "/v1/shelves/1/books/1"
INFLIGHT = 16
GATEWAY = ROOT / "build/grpc-gateway/grpc-gateway"
# By name, the flags of ours; None: grpc-gateway.
FRONTS: dict[str, tuple[str, ...] | None] = {
    "bare": ("--transcoder", "none"),
    "descriptor": ("--transcoder", "descriptor", "--backend", "direct"),
    "grpc-gateway": None,
}
# By what connects them, the flags of our client and of h2load, whose connections they are.
WAYS = (
    ("HTTP/1.1, 16 connections", ("--api", "http1", "--channel-policy", "local-pool"), ("--h1",), INFLIGHT),
    ("h2c, 1 connection", ("--api", "http2", "--channel-policy", "shared"), (), 1),
    ("h2c, 16 connections", ("--api", "http2", "--channel-policy", "local-pool"), (), INFLIGHT),
)
METHOD = ("--workload", "library", "--method", "get")


def flags_of(server: str) -> tuple[str, ...] | None:
    """Returns the flags of one of this project's servers; None: grpc-gateway."""
    return FRONTS[server.removeprefix(HTTP)]


def command(server: str, binaries: Path) -> list[str]:
    """Without --port."""
    flags = flags_of(server)
    if flags is None:
        return [str(GATEWAY), "--mode", "inprocess", "--equal"]
    return [str(binaries / "grpc_ping_server"), "--http", "localhost:0", *flags]


def is_built(server: str) -> bool:
    """Ours is looked for elsewhere."""
    return flags_of(server) is not None or os.access(GATEWAY, os.X_OK)


def targets() -> tuple[list[Measurement], list[Ratio]]:
    """Adjacent entries are paired within a block. The ratio has no target; it is only shown."""
    measurements, ratios = [], []
    for front in FRONTS:
        server = f"{HTTP}{front}"
        for what, ours, theirs, connections in WAYS:
            key = f"{server}/{what}"
            streams = INFLIGHT // connections
            measurements += [
                Measurement(f"{key}/cqbench", "cqbench", what, server, (*ours, *METHOD), connections, streams),
                Measurement(f"{key}/h2load", "h2load", "h2load", server, theirs, connections, streams, path=PATH),
            ]
            ratios.append(Ratio(f"{INFLIGHT} in flight, {front}", f"{key}/cqbench", f"{key}/h2load", None))
    return measurements, ratios
