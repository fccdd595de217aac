"""scripts/peers.sh after the build: our client and its peers on the same pinned servers, round after round.

Exit status: 0, targets reached or not; 1 when something could not be measured; 2 usage; 128 + signal when interrupted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from cqbench import cpus, load, peer_tools, plan, results
from cqbench.documents import BadDocument, one_line, parse
from cqbench.options import Parser, whole
from cqbench.peer_tools import BadOutput
from cqbench.processes import Finished, Interrupt, Server, ServerFailed, run, start, stop
from cqbench.ratios import ROUNDS_FOR_A_CLAIM, Measurement, Outcome, Round, evaluate, render, targets

ROOT = Path(__file__).resolve().parents[2]
WARMUP_S = 0.5


class Failed(RuntimeError):
    """One measurement could not be made; one line."""


def say(text: str) -> None:
    print(f"== {text}", file=sys.stderr, flush=True)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Exits with status 2 on bad ones."""
    parser = Parser("peers.sh")
    parser.add_argument("--rounds", type=whole(1, 1000), default=ROUNDS_FOR_A_CLAIM)
    parser.add_argument("--seconds", type=whole(1, 600), default=2)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--plan", action="store_true")
    options = parser.parse_args(arguments)
    if options.output and not options.output.resolve().parent.is_dir():
        parser.error(f"argument --output: '{options.output}' is not in an existing folder")
    return options


def absent_peers() -> dict[str, str]:
    """tool -> what the table says about it."""
    return {p.name: f"{p.name} not installed" for p in peer_tools.PEERS if shutil.which(p.name) is None}


def seconds_per_round(measurements: list[Measurement], seconds: int) -> float:
    """An estimate: warm-ups, start-up and sockperf's second of pause included."""
    return sum(seconds + (1.2 if m.tool == "h2load" else 0.7) for m in measurements)


class Peers:
    """One run of peers.sh. Owns the two servers and a temporary folder."""

    def __init__(
        self, options: argparse.Namespace, placement: cpus.Placement, wanted: list[Measurement], interrupt: Interrupt
    ) -> None:
        self.options = options
        self.placement = placement
        self.wanted = wanted
        self.interrupt = interrupt
        self.servers: dict[str, Server] = {}
        self.rounds: list[Round] = []
        self.failures: dict[str, list[int]] = {}  # what failed and why -> the rounds
        self.folder = Path()

    def run(self) -> None:
        """Fills rounds and failures. Raises ServerFailed and Failed when there is nothing to measure on."""
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cqbench-peers-")))
            (self.folder / "frame").write_bytes(peer_tools.EMPTY_FRAME)
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
        size = plan.server_layout(max(1, len(self.placement.server)))[:4]  # queues and threads; posted as by default
        command = [str(self.options.bin / "grpc_ping_server"), "--api", api, *size]
        return Server(cpus.pinned(command, self.placement.server), self.folder / f"{api}.log")

    def check(self, api: str) -> None:
        """h2load does not look at the gRPC status; our client does. Raises Failed."""
        done = self.on_client(self.client(api, "--inflight", "1", "--warmup", "0.05", "--interval", "0.1"), 30)
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
                figures[measurement.key] = self.measure(measurement)
            except (Failed, ServerFailed, OSError) as error:
                if not self.interrupt.signum:
                    self.failures.setdefault(f"{measurement.name()}: {error}", []).append(number)
                    say(f"round {number}: FAILED: {measurement.name()}: {error}")

    def progress(self, number: int, index: int, begin: float, measurement: Measurement) -> None:
        done, total = (number - 1) * len(self.wanted) + index, self.options.rounds * len(self.wanted)
        guess = seconds_per_round(self.wanted, self.options.seconds) / len(self.wanted)
        each = (time.monotonic() - begin) / done if done else guess
        left = plan.duration(each * (total - done))
        if sys.stderr.isatty():
            head = f"round {number}/{self.options.rounds}, {index + 1}/{len(self.wanted)}"
            print(f"\r\033[K{head}: {measurement.what}, {left} left", end="", file=sys.stderr, flush=True)
        elif index == 0:
            say(f"round {number}/{self.options.rounds}; about {left} left")

    def measure(self, m: Measurement) -> float:
        """The figure. Raises Failed, ServerFailed."""
        if m.server and not self.servers[m.server].alive():
            say(f"the {m.server} server has ended ({self.servers[m.server].last_line()}); starting another")
            self.servers[m.server].start()
        seconds, address = self.options.seconds, self.servers[m.server].address if m.server else ""
        if m.tool == "cqbench":
            return self.measure_ours(m)
        if m.tool == "h2load":
            frame = str(self.folder / "frame")
            command = peer_tools.h2load_command(address, seconds, m.connections, m.streams, frame)
            return self.figure_of(command, lambda text: peer_tools.parse_h2load(text, seconds))
        if m.tool == "ghz":
            command = peer_tools.ghz_command(address, seconds, m.inflight, m.connections)
            return self.figure_of(command, lambda text: peer_tools.parse_ghz(text, m.inflight))
        return self.measure_sockperf()

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
            command = cpus.pinned(peer_tools.sockperf_server_command(port), self.placement.server)
            server = start(command, stdout=log, stderr=log)
        try:
            time.sleep(0.5)  # it does not say when it listens
            return self.figure_of(peer_tools.sockperf_command(port, self.options.seconds), peer_tools.parse_sockperf)
        finally:
            stop(server)

    def client(self, api: str, *flags: str) -> list[str]:
        return [str(self.options.bin / "grpc_ping_client"), "--host", self.servers[api].address, *flags]

    def on_client(self, command: list[str], patience_s: float) -> Finished:
        return run(cpus.pinned(command, self.placement.client), self.interrupt, patience_s)

    def figure_of(self, command: list[str], parse_output: Callable[[str], float]) -> float:
        """Runs it on the client's CPUs. Raises Failed."""
        done = self.on_client(command, 3 * self.options.seconds + 30)
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


def write_output(peers: Peers, outcomes: list[Outcome], measurements: list[Measurement]) -> None:
    """The raw numbers. Raises OSError."""
    results.write_json(
        peers.options.output,
        {
            "date": results.now(),
            "git_revision": results.git_revision(ROOT),
            "versions": results.versions(peers.options.bin),
            "server_cpus": cpus.format_cpus(peers.placement.server) or None,
            "client_cpus": cpus.format_cpus(peers.placement.client) or None,
            "seconds": peers.options.seconds,
            "partial": bool(peers.interrupt.signum),
            "measurements": [
                {
                    "key": m.key,
                    "tool": m.tool,
                    "what": m.what,
                    "server": m.server,
                    "flags": m.flags,
                    "inflight": m.inflight,
                    "unit": m.unit,
                }
                for m in measurements
            ],
            "rounds": peers.rounds,
            "ratios": [
                {
                    "ours": o.ratio.ours,
                    "peer": o.ratio.peer,
                    "ours_median": o.ours,
                    "peer_median": o.peer,
                    "ratio_median": o.median,
                    "ratio_min": o.low,
                    "ratio_max": o.high,
                    "rounds": o.rounds,
                    "target": o.ratio.target,
                    "at_most": o.ratio.at_most,
                    "reached": o.reached,
                }
                for o in outcomes
            ],
            "failures": peers.failures,
        },
    )


def announce(
    options: argparse.Namespace, placement: cpus.Placement, absent: dict[str, str], wanted: list[Measurement]
) -> None:
    """Says what will be measured, where, and for how long."""
    if placement.server:
        where = f"server on {cpus.name_cpus(placement.server)}, client and peers on {cpus.name_cpus(placement.client)}"
        say(f"{where}: {placement.why}")
    else:
        say(f"{placement.why}; the targets are for two cores")
    for note in placement.notes:
        say(f"note: {note}")
    for peer in peer_tools.PEERS:
        if peer.name in absent:
            say(f"{peer.name} is not installed and left out; to install it: {peer.install}")
    say(
        f"{options.rounds} rounds of {len(wanted)} measurements, {options.seconds} s each: about "
        f"{plan.duration(options.rounds * seconds_per_round(wanted, options.seconds))}"
    )


def conclude(peers: Peers, measurements: list[Measurement], absent: dict[str, str]) -> int:
    """Prints the table; the exit status."""
    outcomes = [evaluate(ratio, peers.rounds) for ratio in targets()[1]]
    print(render(outcomes, measurements, absent))
    print("ours, peer: medians over the rounds. ratio: median of the rounds' own ratios ours / peer.")
    fewest = min((o.rounds for o in outcomes if o.rounds), default=0)
    if fewest < ROUNDS_FOR_A_CLAIM:
        few = f"Only {fewest} round(s) behind some of the ratios"
        print(f"{few}: too few for a claim, which takes {ROUNDS_FOR_A_CLAIM}.")
    if peers.interrupt.signum:
        print("PARTIAL: interrupted.")
    for failure, rounds in peers.failures.items():
        print(f"FAILED in round {', '.join(map(str, rounds))}: {failure}")
    if peers.options.output:
        write_output(peers, outcomes, measurements)
        say(f"raw numbers: {peers.options.output}")
    return peers.interrupt.exit_code or (1 if peers.failures else 0)


def main(arguments: list[str]) -> int:
    interrupt = Interrupt()
    options = parse_arguments(arguments)
    try:
        machine = cpus.read_machine()
        placement = cpus.place_pair(machine, os.environ.get("SERVER_CPUS", ""), os.environ.get("CLIENT_CPUS", ""))
    except cpus.BadCpuList as error:
        print(f"peers.sh: {error}", file=sys.stderr)
        return 2
    measurements, _ = targets()
    absent = absent_peers()
    wanted = [m for m in measurements if m.tool not in absent]
    announce(options, placement, absent, wanted)
    if options.plan:
        return 0
    busy = load.remark(placement.server + placement.client)
    if busy:
        say(f"note: {busy}")
    peers = Peers(options, placement, wanted, interrupt)
    try:
        peers.run()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        return conclude(peers, measurements, absent)
    except (ServerFailed, Failed, OSError) as error:
        print(f"peers.sh: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
