"""One run of the peers: servers that live through it, rounds, figures."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line
from cqbench.measure import layout
from cqbench.measure.cpus import Placement, pinned
from cqbench.measure.processes import Failed, Interrupt, Server, Service
from cqbench.measure.programs import CLIENT
from cqbench.measure.session import Rounds, Session, say
from cqbench.run.peers import adapters, benchmain, files, servers
from cqbench.run.peers.adapters import Adapter, At, BadOutput
from cqbench.run.peers.targets import Measurement

ADAPTERS = {**adapters.ADAPTERS, **benchmain.ADAPTERS, **files.ADAPTERS}


@dataclass(frozen=True)
class Options:
    """The options of the command line."""

    rounds: int
    seconds: int
    output: Path | None
    bin: Path
    plan: bool
    lineup: bool = False
    files: bool = False
    transcoding: bool = False


def seconds_per_round(measurements: list[Measurement], seconds: int) -> float:
    """An estimate: warm-ups, start-up and pauses included."""
    return sum(seconds + ADAPTERS[m.tool].more_s for m in measurements)


def cpu_seconds(pid: int) -> float:
    """User and system CPU time of the process and of its descendants that live. Raises OSError."""
    try:
        server = psutil.Process(pid)
        times = [process.cpu_times() for process in (server, *server.children(recursive=True))]
    except psutil.Error as error:
        raise OSError(str(error)) from None
    return sum(t.user + t.system for t in times)


class Peers:
    """One run of peers.sh. Owns the servers and a temporary folder."""

    def __init__(self, options: Options, placement: Placement, wanted: list[Measurement], interrupt: Interrupt) -> None:
        self.options = options
        self.placement = placement
        self.wanted = [m for m in wanted if not m.part_of]
        self.interrupt = interrupt
        self.session = Session(interrupt)
        self.servers: dict[str, Service] = {}
        self.rounds: Rounds[float] = Rounds(interrupt)
        self.frame = Path()
        self.begin = 0.0

    def run(self) -> None:
        """Fills rounds. Raises Failed when there is nothing to measure on."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cqbench-peers-")))
            self.frame = folder / "frame"
            self.frame.write_bytes(adapters.EMPTY_FRAME)
            for name in dict.fromkeys(m.server for m in self.wanted if m.server):
                server = servers.make(name, self.options.bin, self.placement, folder)
                self.servers[name] = stack.enter_context(server)
                if isinstance(server, Server):
                    say(f"server: {server.description()}")
                self.check(name)
            self.begin = time.monotonic()
            self.rounds.run(self.options.rounds, self.wanted, Measurement.name, self.measure, self.progress)

    def check(self, name: str) -> None:
        """h2load does not look at the gRPC status; our client does. Raises Failed."""
        if (flags := servers.check_flags(name)) is None:
            return
        client = pinned([str(self.options.bin / CLIENT)], self.placement.client)
        done = self.session.probe(client, self.servers[name].target, flags)
        if done.returncode and not self.session.stopped:
            raise Failed(f"our client cannot use the {name} server: {one_line(done.complaint(), 400)}")

    def progress(self, number: int, index: int, measurement: Measurement) -> None:
        done, total = (number - 1) * len(self.wanted) + index, self.options.rounds * len(self.wanted)
        guess = seconds_per_round(self.wanted, self.options.seconds) / len(self.wanted)
        each = (time.monotonic() - self.begin) / done if done else guess
        left = layout.duration(each * (total - done))
        if sys.stderr.isatty():
            head = f"round {number}/{self.options.rounds}, {index + 1}/{len(self.wanted)}"
            print(f"\r\033[K{head}: {measurement.what}, {left} left", end="", file=sys.stderr, flush=True)
        elif index == 0:
            say(f"round {number}/{self.options.rounds}; about {left} left")

    def measure(self, m: Measurement) -> dict[str, float]:
        """Its figure, or all of them. Raises Failed, OSError."""
        server = self.servers.get(m.server)
        if server and not server.alive():
            say(f"the {m.server} server has ended ({server.last_line()}); starting another")
            server.start()
        adapter: Adapter = ADAPTERS[m.tool]
        at = At(server.target if server else "", self.options.seconds, self.options.bin, self.frame)
        both = tuple(sorted({*self.placement.server, *self.placement.client}))
        command = pinned(adapter.command(m, at), both if adapter.both else self.placement.client)
        before = cpu_seconds(server.pid) if server else 0.0
        done = self.session.run(command, adapter.patience_s(at.seconds))
        at = replace(at, server_cpu_s=cpu_seconds(server.pid) - before if server else 0.0)
        try:
            found = adapter.figures(done.stdout, m, at)
        except (BadOutput, BadDocument) as error:
            # h2load and sockperf end with status 0 when they could not connect.
            raise Failed(f"{error}; its last line: {one_line(done.last_line())}") from None
        return {f"{m.key}/{name}" if name else m.key: value for name, value in found.items()}
