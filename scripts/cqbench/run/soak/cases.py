"""Cases against a server: every method, through every API of the client, over every channel policy."""

from __future__ import annotations

import random
from dataclasses import dataclass

METHODS = (
    ("ping", "unary", ()),
    ("ping", "streaming", ()),
    ("echo", "unary", ("--request-bytes", "1KiB", "--response-bytes", "1KiB")),
    ("echo", "unary", ("--request-bytes", "256KiB", "--response-bytes", "256KiB")),
    ("echo", "streaming", ("--request-bytes", "1KiB")),
    ("echo", "upload", ("--request-bytes", "4KiB")),
    ("echo", "download", ("--response-bytes", "4KiB")),
    ("user", "create", ()),
    ("blob", "put", ("--chunks", "64")),
    ("blob", "get", ("--chunks", "64")),
    ("flex", "normal", ("--content", "complex")),
    ("library", "get", ()),
    ("library", "list", ()),
    ("library", "stream", ()),
    ("library", "create", ()),
    ("library", "update", ()),
    ("library", "delete", ()),
)
APIS = ("sync", "cq", "callback")
POLICIES = ("shared", "per-slot", "distinct-args", "local-pool", "pool:2")
HOLDERS = ("fresh", "reused", "arena", "bytes")
LOADS = (("--inflight", "1"), ("--inflight", "8"), ("--inflight", "32"), ("--rate", "500"))
# More of every method at once, in each of a server's queues, than in any round (an open loop that falls behind has 100
# outstanding). What a server keeps for reuse has its size then. Left to chance, that takes hours and looks like a leak.
WARMUP = ("--api", "cq", "--channel-policy", "pool:16", "--inflight", "256")
# Through every request that a server keeps for reuse: one that served a large message last holds its memory until then.
# Many calls, as what is used again may be what was used last; a connection has the requests of one queue only.
SETTLING = (
    *("--workload", "echo", "--request-bytes", "1KiB", "--response-bytes", "1KiB"),
    *("--api", "cq", "--channel-policy", "pool:8", "--inflight", "256"),
)
# Flags of the client that runs as long as the soak.
LASTING = (
    *("--workload", "echo", "--request-bytes", "1KiB", "--response-bytes", "1KiB", "--api", "cq"),
    *("--channel-policy", "pool:2", "--rate", "100", "--arrivals", "constant", "--max-outstanding", "1000"),
)
# The same every time, to see whether it takes longer.
REFERENCE = ("--workload", "ping", "--api", "cq", "--channel-policy", "shared", "--inflight", "8")


@dataclass(frozen=True)
class Case:
    """flags: of the client, without where and how long."""

    flags: tuple[str, ...]

    @property
    def words(self) -> str:
        return " ".join(self.flags)


def warm_up() -> list[Case]:
    """Each method twice, in order."""
    methods = [("--workload", workload, "--method", method, *flags) for workload, method, flags in METHODS]
    return 2 * [Case((*flags, *WARMUP)) for flags in methods]


def round_of(chance: random.Random) -> list[Case]:
    """Each method once, in random order, the rest drawn for each."""
    cases = []
    for workload, method, flags in chance.sample(METHODS, len(METHODS)):
        holder = chance.choice(HOLDERS)
        drawn = ("--api", chance.choice(APIS), "--channel-policy", chance.choice(POLICIES), "--messages", holder)
        cases.append(Case(("--workload", workload, "--method", method, *flags, *drawn, *chance.choice(LOADS))))
    return cases
