"""One run of the peers: servers, rounds, figures."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cqbench.files.result import parse
from cqbench.files.source import BadDocument
from cqbench.files.text import one_line
from cqbench.measure import cpus, layout
from cqbench.measure.group import Group
from cqbench.measure.processes import Finished, Interrupt, Server, ServerFailed, run
from cqbench.measure.programs import ROOT
from cqbench.run.peers import benchmain, tools, transcoding
from cqbench.run.peers.targets import GO, Measurement, Round
from cqbench.run.peers.tools import BadOutput
from cqbench.run.peers.transcoding import HTTP

WARMUP_S = 0.5
T = TypeVar("T")
GO_SERVER = ROOT / "build/lineup/lineup"
SCENARIO_CALLS, SKIPPED = 21_000, 1_000  # a fifth of what the scenarios say, and what they leave out


class Failed(RuntimeError):
    """One measurement could not be made; one line."""


def say(text: str) -> None:
    print(f"== {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    rounds: int
    seconds: int
    output: Path | None
    bin: Path
    plan: bool
    lineup: bool = False
    files: bool = False
    transcoding: bool = False


def seconds_per_round(measurements: list[Measurement], seconds: int) -> float:
    """An estimate: warm-ups, start-up and sockperf's second of pause included."""
    more = {"h2load": 1.2, benchmain.COUNTING.name: 3.2}  # the last counts in a pass of its own
    return sum(seconds + more.get(m.tool, 0.7) for m in measurements)


class Peers:
    """One run of peers.sh. Owns the two servers and a temporary folder."""

    def __init__(
        self, options: Options, placement: cpus.Placement, wanted: list[Measurement], interrupt: Interrupt
    ) -> None:
        self.options = options
        self.placement = placement
        self.wanted = [m for m in wanted if not m.part_of]
        self.interrupt = interrupt
        self.servers: dict[str, Server] = {}
        self.rounds: list[Round] = []
        self.failures: dict[str, list[int]] = {}  # what failed and why -> the rounds
        self.folder = Path()

    def run(self) -> None:
        """Fills rounds and failures. Raises ServerFailed and Failed when there is nothing to measure on."""
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cqbench-peers-")))
            (self.folder / "frame").write_bytes(tools.EMPTY_FRAME)
            for api in dict.fromkeys(m.server for m in self.wanted if m.server):
                self.servers[api] = stack.enter_context(self.make_server(api))
                say(f"server: {self.servers[api].description()}")
                self.check(api)
            begin = time.monotonic()
            for number in range(1, self.options.rounds + 1):
                self.one_round(number, begin)
                if self.interrupt.signum:
                    break

    def make_server(self, api: str) -> Server:
        if api.startswith(HTTP):
            command = transcoding.command(api, self.options.bin)
            log = self.folder / f"{api.removeprefix(HTTP)}.log"
            return Server(cpus.pinned(command, self.placement.server), log, http=True)
        if api.startswith(GO):
            command = [str(GO_SERVER), "--server", api.removeprefix(GO)]
            return Server(cpus.pinned(command, self.placement.server), self.folder / f"{api.removeprefix(GO)}.log")
        counting = api == benchmain.COUNTING_SERVER
        program, kind = ("grpc_ping_server_counting", "cq") if counting else ("grpc_ping_server", api)
        # Queues and threads, where they are not the library's; posted as by default.
        size = layout.server_layout(max(1, len(self.placement.server)))[:4] if kind in ("cq", "generic") else []
        command = [str(self.options.bin / program), "--api", kind, *size]
        return Server(cpus.pinned(command, self.placement.server), self.folder / f"{api}.log")

    def check(self, api: str) -> None:
        """h2load does not look at the gRPC status; our client does. Raises Failed."""
        flags: tuple[str, ...] = ("--workload", "flex") if api.startswith(GO) else ()
        flags = ("--api", "http1", *transcoding.METHOD) if api.startswith(HTTP) else flags
        done = self.on_client(self.client(api, *flags, "--inflight", "1", "--warmup", "0.05", "--interval", "0.1"), 30)
        if done.returncode != 0 and not self.interrupt.signum:
            raise Failed(f"our client cannot use the {api} server: {done.complaint()}")

    def one_round(self, number: int, begin: float) -> None:
        """Every other round runs backwards, so that a drift over the round favours neither side of a ratio."""
        figures: Round = {}
        self.rounds.append(figures)
        order = self.wanted if number % 2 else self.wanted[::-1]
        for i, measurement in enumerate(order):
            if self.interrupt.signum:
                return
            self.progress(number, i, begin, measurement)
            try:
                figures |= self.measure(measurement)
            except (Failed, ServerFailed, OSError) as error:
                if not self.interrupt.signum:
                    self.failures.setdefault(f"{measurement.name()}: {error}", []).append(number)
                    say(f"round {number}: FAILED: {measurement.name()}: {error}")

    def progress(self, number: int, index: int, begin: float, measurement: Measurement) -> None:
        done, total = (number - 1) * len(self.wanted) + index, self.options.rounds * len(self.wanted)
        guess = seconds_per_round(self.wanted, self.options.seconds) / len(self.wanted)
        each = (time.monotonic() - begin) / done if done else guess
        left = layout.duration(each * (total - done))
        if sys.stderr.isatty():
            head = f"round {number}/{self.options.rounds}, {index + 1}/{len(self.wanted)}"
            print(f"\r\033[K{head}: {measurement.what}, {left} left", end="", file=sys.stderr, flush=True)
        elif index == 0:
            say(f"round {number}/{self.options.rounds}; about {left} left")

    def measure(self, m: Measurement) -> Round:
        """Its figure, or all of them. Raises Failed, ServerFailed."""
        if m.server and not self.servers[m.server].alive():
            say(f"the {m.server} server has ended ({self.servers[m.server].last_line()}); starting another")
            self.servers[m.server].start()
        seconds, address = self.options.seconds, self.servers[m.server].target if m.server else ""
        if m.tool in (benchmain.BENCHMAIN.name, benchmain.COUNTING.name):
            return {f"{m.key}/{name}": value for name, value in self.measure_allocations(m).items()}
        if m.tool == "cqbench":
            return {m.key: self.measure_ours(m)}
        if m.tool == "h2load" and m.server.startswith(HTTP):
            command = transcoding.h2load_command(address, seconds, m)
            return {m.key: self.figure_of(command, lambda text: tools.parse_h2load(text, seconds))}
        if m.tool == "h2load":
            frame = str(self.folder / "frame")
            command = tools.h2load_command(address, seconds, m.connections, m.streams, frame)
            return {m.key: self.figure_of(command, lambda text: tools.parse_h2load(text, seconds))}
        if m.scenario:
            command = tools.ghz_scenario_command(ROOT, m.scenario, address, SCENARIO_CALLS)
            return {
                m.key: self.figure_of(command, lambda text: tools.parse_ghz_scenario(text, SCENARIO_CALLS, SKIPPED))
            }
        if m.tool == "ghz":
            command = tools.ghz_command(address, seconds, m.inflight, m.connections)
            return {m.key: self.figure_of(command, lambda text: tools.parse_ghz(text, m.inflight))}
        return {m.key: self.measure_sockperf()}

    def measure_allocations(self, m: Measurement) -> Round:
        """Of both ends: grpc-go's one process has the CPUs of both."""
        seconds = self.options.seconds
        if m.tool == benchmain.BENCHMAIN.name:
            both = tuple(sorted({*self.placement.server, *self.placement.client}))
            command = cpus.pinned(benchmain.command(seconds), both)
            return self.output_of(command, lambda text: benchmain.parse_output(text, seconds))
        load = ["--inflight", f"{m.inflight}", "--warmup", f"{WARMUP_S}", "--interval", f"{seconds}"]
        client = [str(self.options.bin / m.tool), "--host", self.servers[m.server].address, *m.flags, *load]
        command = cpus.pinned([*client, "--format", "json"], self.placement.client)
        return self.output_of(command, benchmain.our_figures)

    def measure_ours(self, m: Measurement) -> float:
        sweep = ["--inflight", f"{m.inflight}", "--warmup", f"{WARMUP_S}", "--interval", f"{self.options.seconds}"]
        command = self.client(m.server, *m.flags, *sweep, "--format", "json")
        return self.figure_of(command, lambda text: our_figure(text, m.unit))

    def measure_sockperf(self) -> float:
        """With a sockperf server of its own, gone afterwards."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with (self.folder / "sockperf.log").open("w") as log:
            command = cpus.pinned(tools.sockperf_server_command(port), self.placement.server)
            server = Group(command, log, subprocess.STDOUT)
        try:
            time.sleep(0.5)  # it does not say when it listens
            return self.figure_of(tools.sockperf_command(port, self.options.seconds), tools.parse_sockperf)
        finally:
            server.stop()

    def client(self, api: str, *flags: str) -> list[str]:
        return [str(self.options.bin / "grpc_ping_client"), "--host", self.servers[api].target, *flags]

    def on_client(self, command: list[str], patience_s: float) -> Finished:
        return run(cpus.pinned(command, self.placement.client), self.interrupt, patience_s)

    def figure_of(self, command: list[str], parse_output: Callable[[str], float]) -> float:
        """Runs it on the client's CPUs. Raises Failed."""
        return self.output_of(cpus.pinned(command, self.placement.client), parse_output)

    def output_of(self, command: list[str], parse_output: Callable[[str], T]) -> T:
        """Runs it. Raises Failed."""
        done = run(command, self.interrupt, 3 * self.options.seconds + 30)
        if done.returncode != 0 or done.why:
            raise Failed(done.complaint())
        try:
            return parse_output(done.stdout)
        except (BadOutput, BadDocument) as error:
            # h2load and sockperf end with status 0 when they could not connect.
            raise Failed(f"{error}; its last line: {one_line(done.last_line())}") from None


def our_figure(text: str, unit: str) -> float:
    """From our client's JSON with one point. Raises BadOutput, BadDocument."""
    points = parse(text.encode(), "our client's output").points
    if len(points) != 1:
        raise BadOutput(f"our client's output has {len(points)} points, not 1")
    point = points[0]
    figure = point.throughput if unit == "req/s" else point.p50_ns and point.p50_ns / 1000
    if not figure or point.warnings:
        raise BadOutput("; ".join(point.warnings) or point.failure or "no figure")
    return figure
