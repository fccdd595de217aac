"""The peers' command lines and the parsers of what they print. Parsers are pure; they raise BadOutput."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

PING = "Ydb.Debug.V1.DebugService.PingPlainGrpc"
PING_PATH = "/Ydb.Debug.V1.DebugService/PingPlainGrpc"
# An empty gRPC message: not compressed, length 0.
EMPTY_FRAME = bytes(5)
# ghz: calls that were in flight when the time was up.
CUT_OFF = ("Unavailable", "Canceled", "DeadlineExceeded")


class BadOutput(ValueError):
    """The peer's output is not what is expected, or it says that calls failed; one line."""


@dataclass(frozen=True)
class Peer:
    """A program that we measure ourselves against. version: the only one that is measured; '' for any."""

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


def h2load_command(address: str, seconds: int, connections: int, streams: int, frame_file: str) -> list[str]:
    """h2load takes whole seconds only; its warm-up is one second."""
    headers = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
    load = ["-D", f"{seconds}", "--warm-up-time", "1", "-c", f"{connections}", "-m", f"{streams}", "-t", "1"]
    return ["h2load", *load, "-d", frame_file, *headers, f"http://{address}{PING_PATH}"]


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


def ghz_command(address: str, seconds: int, inflight: int, connections: int) -> list[str]:
    """ghz finds the method through reflection."""
    load = ["-c", f"{inflight}", "--connections", f"{connections}", "-z", f"{seconds}s"]
    return ["ghz", "--insecure", "--call", PING, *load, "--format", "json", address]


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


def ghz_scenario_command(root: Path, scenario: str, address: str, calls: int) -> list[str]:
    """A scenario's own load with so many calls. Its max-duration would make ghz ignore their number: -x 0s."""
    files = ["--config", f"{root}/scripts/scenarios/{scenario}.json", "--proto", f"{root}/proto/flex.proto"]
    return ["ghz", *files, "-x", "0s", "--total", f"{calls}", "--format", "json", address]


def parse_ghz_scenario(text: str, calls: int, skipped: int) -> float:
    """Calls per second. What ghz skips is in its time, so it counts here."""
    rate = parse_ghz(text, 0)
    counted: int = sum(json.loads(text)["statusCodeDistribution"].values())
    if counted != calls - skipped:
        raise BadOutput(f"ghz reports {counted} calls, not {calls - skipped}")
    return rate * calls / counted


def sockperf_server_command(port: int) -> list[str]:
    return ["sockperf", "sr", "--tcp", "-i", "127.0.0.1", "-p", f"{port}"]


def sockperf_command(port: int, seconds: int) -> list[str]:
    """14 bytes is the smallest message it sends."""
    return ["sockperf", "pp", "--tcp", "--full-rtt", "-i", "127.0.0.1", "-p", f"{port}", "-t", f"{seconds}", "-m", "14"]


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
