"""Adapters: for each tool its command line for a measurement, and the figures of what it prints. Nothing is started."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cqbench.formats.point import Measured
from cqbench.formats.result import parse
from cqbench.measure.processes import Failed
from cqbench.measure.programs import CLIENT, ROOT, SCRIPTS
from cqbench.run.peers.targets import Measurement

PING = "Ydb.Debug.V1.DebugService.PingPlainGrpc"
PING_PATH = "/Ydb.Debug.V1.DebugService/PingPlainGrpc"
# An empty gRPC message: not compressed, length 0.
EMPTY_FRAME = bytes(5)
# ghz: calls that were in flight when the time was up.
CUT_OFF = ("Unavailable", "Canceled", "DeadlineExceeded")
WARMUP_S = 0.5
SCENARIO_CALLS, SKIPPED = 21_000, 1_000  # a fifth of what the scenarios say, and what they leave out


class BadOutput(Failed):
    """The peer's output is not what is expected, or it says that calls failed; one line."""


@dataclass(frozen=True)
class Peer:
    """A program that our client is compared with. version: the only one that is measured; '' for any."""

    name: str
    install: str
    module: str = ""  # Go's
    version: str = ""


def of_go(name: str, module: str, package: str, version: str) -> Peer:
    """package: of the module, without it."""
    return Peer(name, f"go install {module}/{package}@v{version}", module, version)


H2LOAD = Peer("h2load", "apt-get install nghttp2-client")
GHZ = of_go("ghz", "github.com/bojand/ghz", "cmd/ghz", "0.121.0")
SOCKPERF = Peer("sockperf", "apt-get install sockperf")
PEERS = (H2LOAD, GHZ, SOCKPERF)


@dataclass(frozen=True)
class At:
    """Where and how long. address: of the server. frame: a file with EMPTY_FRAME. server_cpu_s: what the server used
    meanwhile, once the tool has run."""

    address: str
    seconds: int
    binaries: Path
    frame: Path
    server_cpu_s: float = 0.0


@dataclass(frozen=True)
class Adapter:
    """command: without pinning. figures: by the suffix of a measurement's key, '' for a single one; raises
    BadOutput, BadDocument. more_s: seconds in addition to the requested ones. both: it is both ends, and gets the
    CPUs of both.
    """

    command: Callable[[Measurement, At], list[str]]
    figures: Callable[[str, Measurement, At], dict[str, float]]
    more_s: float = 0.7
    both: bool = False
    patience: float = 3  # times the seconds that are asked for, and half a minute

    def patience_s(self, seconds: int) -> float:
        return self.patience * seconds + 30


def ours(program: str) -> Callable[[Measurement, At], list[str]]:
    """The command of a client of ours."""

    def command(m: Measurement, at: At) -> list[str]:
        load = ["--inflight", f"{m.inflight}", "--warmup", f"{WARMUP_S}", "--interval", f"{at.seconds}"]
        return [str(at.binaries / program), "--host", at.address, *m.flags, *load, "--format", "json"]

    return command


def our_point(text: str) -> Measured:
    """The only one of our client's JSON. Raises BadOutput, BadDocument."""
    points = parse(text.encode(), "our client's output").points
    if len(points) != 1:
        raise BadOutput(f"our client's output has {len(points)} points, not 1")
    return points[0]


def our_figure(text: str, unit: str) -> float:
    """Returns the figure from this client's JSON with one point. Raises BadOutput, BadDocument."""
    point = our_point(text)
    figure = point.throughput if unit == "req/s" else point.p50_ns and point.p50_ns / 1000
    if not figure or point.warnings:
        raise BadOutput("; ".join(warning.text for warning in point.warnings) or point.failure or "no figure")
    return figure


def h2load_command(m: Measurement, at: At) -> list[str]:
    """h2load takes whole seconds only; its warm-up is one second. Of a server with an HTTP port the call is a path."""
    load = ["-D", f"{at.seconds}", "--warm-up-time", "1", "-c", f"{m.connections}", "-m", f"{m.streams}", "-t", "1"]
    if m.path:
        return ["h2load", *m.flags, *load, f"http://{at.address}{m.path}"]
    headers = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
    return ["h2load", *load, "-d", f"{at.frame}", *headers, f"http://{at.address}{PING_PATH}"]


def parse_h2load(text: str, seconds: int) -> float:
    """Requests per second in the measured time, without the warm-up."""
    rate = re.search(r"^finished in [\d.]+m?s, ([\d.]+) req/s", text, re.MULTILINE)
    requests = re.search(
        r"^requests: (\d+) total, .* (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored, "
        r"(\d+) timeout",
        text,
        re.MULTILINE,
    )
    status = re.search(r"^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", text, re.MULTILINE)
    if not (rate and requests and status):
        raise BadOutput("h2load's output has no rate, requests or status codes")
    bad = sum(map(int, requests.groups()[3:])) + sum(map(int, status.groups()[1:]))
    good = int(status[1])
    if bad or good == 0:
        raise BadOutput(f"h2load reports {bad} failed requests, {good} with status 2xx")
    # Guards against a version whose rate covers the warm-up too.
    if abs(good / seconds / float(rate[1]) - 1) > 0.05:
        raise BadOutput(f"h2load's rate {rate[1]} is not its {good} requests over {seconds} s")
    return float(rate[1])


def ghz_command(m: Measurement, at: At) -> list[str]:
    """ghz finds the method through reflection. A scenario brings its own load, with this number of calls; ghz would
    ignore the number because of the scenario's max-duration: -x 0s.
    """
    if m.scenario:
        files = ["--config", f"{SCRIPTS}/scenarios/{m.scenario}.json", "--proto", f"{ROOT}/proto/flex.proto"]
        return ["ghz", *files, "-x", "0s", "--total", f"{SCENARIO_CALLS}", "--format", "json", at.address]
    load = ["-c", f"{m.inflight}", "--connections", f"{m.connections}", "-z", f"{at.seconds}s"]
    return ["ghz", "--insecure", "--call", PING, *load, "--format", "json", at.address]


def parse_ghz(text: str, inflight: int) -> float:
    """Successful calls per second. Up to `inflight` calls may have been cut off at the end."""
    try:
        data = json.loads(text)
        statuses = {str(code): int(count) for code, count in data["statusCodeDistribution"].items()}
        total_s = float(data["total"]) / 1e9
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadOutput("ghz's output is not the JSON that is expected") from None
    good = statuses.pop("OK", 0)
    cut = sum(statuses.pop(code, 0) for code in CUT_OFF)
    if statuses or cut > inflight or good == 0 or total_s <= 0:
        others = ", ".join(f"{count} {code}" for code, count in statuses.items()) or f"{cut} cut off"
        raise BadOutput(f"ghz reports calls that failed: {good} OK, {others}")
    return good / total_s


def parse_ghz_scenario(text: str, calls: int, skipped: int) -> float:
    """Calls per second. What ghz skips is in its time, so it counts here."""
    rate = parse_ghz(text, 0)
    counted: int = sum(json.loads(text)["statusCodeDistribution"].values())
    if counted != calls - skipped:
        raise BadOutput(f"ghz reports {counted} calls, not {calls - skipped}")
    return rate * calls / counted


def sockperf_command(m: Measurement, at: At) -> list[str]:
    """14 bytes is the smallest message it sends."""
    host, _, port = at.address.rpartition(":")
    load = ["-t", f"{at.seconds}", "-m", "14"]
    return ["sockperf", "pp", "--tcp", "--full-rtt", "-i", host, "-p", port, *load]


def parse_sockperf(text: str) -> float:
    """P50 of the full round trip, microseconds."""
    if not re.search(r"Summary: Round trip is [\d.]+ usec", text):
        raise BadOutput("sockperf's output has no round trip")
    p50 = re.search(r"percentile 50\.000 =\s*([\d.]+)", text)
    dropped = re.search(r"# dropped messages = (\d+)", text)
    if not p50:
        raise BadOutput("sockperf's output has no percentile 50")
    if dropped and int(dropped[1]):
        raise BadOutput(f"sockperf reports {dropped[1]} dropped messages")
    return float(p50[1])


def parse_ghz_of(text: str, m: Measurement) -> float:
    return parse_ghz_scenario(text, SCENARIO_CALLS, SKIPPED) if m.scenario else parse_ghz(text, m.inflight)


ADAPTERS = {
    "cqbench": Adapter(ours(CLIENT), lambda text, m, at: {"": our_figure(text, m.unit)}),
    "h2load": Adapter(h2load_command, lambda text, m, at: {"": parse_h2load(text, at.seconds)}, more_s=1.2),
    "ghz": Adapter(ghz_command, lambda text, m, at: {"": parse_ghz_of(text, m)}),
    "sockperf": Adapter(sockperf_command, lambda text, m, at: {"": parse_sockperf(text)}),
}
