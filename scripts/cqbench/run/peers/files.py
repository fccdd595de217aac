"""Our Get beside an HTTP/2 file server that nobody here wrote: the same 16 MiB from both to h2load, the same client.

What is compared is the CPU that the server needs per Gbit/s, of the whole process and its children, by the kernel's
ticks. h2load sends MyService/Get an empty GetRequest, which asks for 1024 chunks of 16 KiB.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from cqbench.measure import cpus, layout
from cqbench.measure.processes import START_TIMEOUT_S, Interrupt, Server, ServerFailed, Service, run
from cqbench.run.peers import tools
from cqbench.run.peers.session import Failed, Options, say
from cqbench.run.peers.tools import BadOutput
from cqbench.stats import ratios

BLOB_BYTES = 16 << 20
GET_PATH = "/MyService/Get"
STREAMS_PER_SECOND = 40  # so many are loaded for each second that a measurement is to last
NGINX = tools.Peer("nginx", "apt-get install nginx-light")
INTERVALS = "the rounds' own ratios: geometric mean and 95 % interval, from six rounds on"


@dataclass(frozen=True)
class Kind:
    """A server to be measured. flags: of ours; None: nginx."""

    name: str
    what: str
    flags: tuple[str, ...] | None


KINDS = (
    Kind("nginx", "nginx, a static file", None),
    Kind("fresh", "cq, a new message for each chunk", ("--api", "cq", "--messages", "fresh")),
    Kind("reused", "cq, one message", ("--api", "cq", "--messages", "reused")),
    Kind("bytes", "generic, one slice", ("--api", "generic")),
    Kind("bytes-buffer", "generic, one slice, buffer hint", ("--api", "generic", "--write-hint", "buffer")),
)


@dataclass(frozen=True)
class Transfer:
    """One measurement."""

    gbits_per_second: float
    cost: float  # cores of the server per Gbit/s, which is its CPU seconds per Gbit


def nginx_config(folder: Path, port: int) -> str:
    """One worker, no log, sendfile, HTTP/2 without TLS; everything that it writes goes into the folder.

    Frames as large as ours: with its own 8 KiB it took a quarter more CPU here; 128 KiB, which clients do not allow by
    default, and buffers in place of sendfile were no better than 16 KiB.
    """
    paths = "".join(
        f"  {what}_temp_path {folder}/{what};\n" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""  # its worker has to read the folder
    return (
        f"{user}daemon off;\nworker_processes 1;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{ worker_connections 64; }}\nhttp {{\n{paths}  access_log off;\n  sendfile on;\n  tcp_nopush on;\n"
        f"  keepalive_requests 10000000;\n  http2_chunk_size 16k;\n"
        f"  server {{\n    listen 127.0.0.1:{port} http2;\n    root {folder}/www;\n"
        "  }\n}\n"
    )


def h2load_command(url: str, requests: int, frame: Path | None) -> list[str]:
    """One connection, one request at a time. frame: the body of a gRPC call."""
    call = ["-d", f"{frame}", "-H", "content-type: application/grpc", "-H", "te: trailers"] if frame else []
    return ["h2load", "-n", f"{requests}", "-c", "1", "-m", "1", "-t", "1", *call, url]


def parse_h2load(text: str, requests: int) -> float:
    """Seconds. Raises BadOutput unless every request brought a whole blob."""
    took = re.search(r"^finished in ([\d.]+)(ms|s|us),", text, re.MULTILINE)
    done = re.search(r"^status codes: (\d+) 2xx", text, re.MULTILINE)
    data = re.search(r"^traffic: .*\((\d+)\) data$", text, re.MULTILINE)
    if not (took and done and data):
        raise BadOutput("h2load's output has no time, status codes or traffic")
    seconds = float(took[1]) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[took[2]]
    if int(done[1]) != requests or int(data[1]) < requests * BLOB_BYTES or seconds <= 0:
        raise BadOutput(f"h2load got {data[1]} bytes by {done[1]} answers, not {requests} times {BLOB_BYTES}")
    return seconds


def cpu_seconds(pid: int) -> float:
    """User and system CPU time of the process and of its descendants that live. Raises OSError."""
    try:
        server = psutil.Process(pid)
        times = [process.cpu_times() for process in (server, *server.children(recursive=True))]
    except psutil.Error as error:
        raise OSError(str(error)) from None
    return sum(t.user + t.system for t in times)


class Nginx(Service):
    """On a free port of this machine, with the blob as a file."""

    what = "nginx"

    def __init__(self, folder: Path, pinning: tuple[int, ...]) -> None:
        super().__init__([], folder / "nginx.log")
        self.folder = folder
        self.pinning = pinning

    def start(self) -> None:
        """Raises ServerFailed."""
        (self.folder / "www").mkdir(exist_ok=True)
        (self.folder / "www" / "blob").write_bytes(bytes(BLOB_BYTES))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        self.address = f"127.0.0.1:{port}"
        (self.folder / "nginx.conf").write_text(nginx_config(self.folder, port))
        command = [str(nginx_program()), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        try:
            process = self.launch(cpus.pinned(command, self.pinning))
        except OSError as error:
            raise ServerFailed(f"cannot run nginx: {error.strerror}") from None
        give_up_at = time.monotonic() + START_TIMEOUT_S
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise ServerFailed(f"nginx does not listen: {self.last_line()}")
            time.sleep(0.02)


def nginx_program() -> str | None:
    """Debian puts it where only root's PATH looks."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


class Files:
    """One run: servers, rounds. Every other round runs backwards."""

    def __init__(self, options: Options, placement: cpus.Placement, interrupt: Interrupt) -> None:
        self.options = options
        self.placement = placement
        self.interrupt = interrupt
        self.wanted = [k for k in KINDS if k.flags is not None or nginx_program()]
        self.servers: dict[str, Service] = {}
        self.rounds: list[dict[str, Transfer]] = []
        self.failures: dict[str, list[int]] = {}  # what failed and why -> the rounds

    def run(self) -> None:
        """Raises ServerFailed when there is nothing to measure on."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cqbench-files-")))
            frame = folder / "frame"
            frame.write_bytes(tools.EMPTY_FRAME)
            for kind in self.wanted:
                self.servers[kind.name] = stack.enter_context(self.server(kind, folder))
            for number in range(1, self.options.rounds + 1):
                say(f"round {number}/{self.options.rounds}")
                self.one_round(number, frame)
                if self.interrupt.signum:
                    return

    def server(self, kind: Kind, folder: Path) -> Service:
        if kind.flags is None:
            return Nginx(folder, self.placement.server)
        size = layout.server_layout(max(1, len(self.placement.server)))[:4]  # queues and threads
        command = [str(self.options.bin / "grpc_ping_server"), *kind.flags, *size]
        return Server(cpus.pinned(command, self.placement.server), folder / f"{kind.name}.log")

    def one_round(self, number: int, frame: Path) -> None:
        figures: dict[str, Transfer] = {}
        self.rounds.append(figures)
        for kind in self.wanted if number % 2 else self.wanted[::-1]:
            if self.interrupt.signum:
                return
            try:
                figures[kind.name] = self.measure(kind, frame)
            except (Failed, BadOutput, OSError) as error:
                if not self.interrupt.signum:
                    self.failures.setdefault(f"{kind.what}: {error}", []).append(number)

    def measure(self, kind: Kind, frame: Path) -> Transfer:
        """Raises Failed, BadOutput, OSError."""
        server = self.servers[kind.name]
        ours = kind.flags is not None
        url = f"http://{server.address}{GET_PATH if ours else '/blob'}"
        requests = STREAMS_PER_SECOND * self.options.seconds
        before = cpu_seconds(server.pid)
        command = cpus.pinned(h2load_command(url, requests, frame if ours else None), self.placement.client)
        done = run(command, self.interrupt, 60 * self.options.seconds)
        used = cpu_seconds(server.pid) - before
        if done.returncode != 0 or done.why:
            raise Failed(done.complaint())
        gbits = requests * BLOB_BYTES * 8e-9
        return Transfer(gbits / parse_h2load(done.stdout, requests), used / gbits)


def render(rounds: list[dict[str, Transfer]], kinds: list[Kind]) -> str:
    """The table. Ratios are to nginx, or to the first there is."""
    first = kinds[0].name
    width = max(len(k.what) for k in kinds)
    lines = [f"{'server':<{width}} {'Gbit/s':>8} {'cores per Gbit/s':>17} {'x ' + first + ' (95 %)':>22} {'rounds':>7}"]
    for kind in kinds:
        there = [figures[kind.name] for figures in rounds if kind.name in figures]
        if not there:
            lines.append(f"{kind.what:<{width}} {'-':>8} {'-':>17} {'-':>22} {0:>7}")
            continue
        both = [(f[kind.name].cost, f[first].cost) for f in rounds if kind.name in f and first in f]
        ratio = "" if kind.name == first else _ratio(ratios.paired(both))
        rate, cost = median(t.gbits_per_second for t in there), median(t.cost for t in there)
        lines.append(f"{kind.what:<{width}} {rate:>8.2f} {cost:>17.4f} {ratio:>22} {len(there):>7}")
    return "\n".join(lines)


def _ratio(ratio: ratios.Ratio | None) -> str:
    if ratio is None:
        return "-"
    interval = f" ({ratio.low:.2f}-{ratio.high:.2f})" if ratio.interval else ""
    return f"{ratio.value:.2f}{interval}"


def compare(options: Options, placement: cpus.Placement, interrupt: Interrupt) -> int:
    """Measures, prints the table; the exit status. Raises ServerFailed."""
    where = cpus.name_cpus(placement.server), cpus.name_cpus(placement.client)
    say(f"server on {where[0]}, h2load on {where[1]}: {placement.why}" if placement.server else placement.why)
    say(f"{options.rounds} rounds of {len(KINDS)} servers, about {options.seconds} s each")
    if options.plan:
        return 0
    if shutil.which("h2load") is None:
        say(f"h2load is not installed, and nothing can be measured without it: {tools.H2LOAD.install}")
        return 1
    files = Files(options, placement, interrupt)
    if not nginx_program():
        say(f"nginx is not installed and left out; to install it: {NGINX.install}")
    files.run()
    print(render(files.rounds, files.wanted))
    print("The CPUs of the server while h2load fetches 16 MiB after 16 MiB on one connection. Medians; x:")
    print(f"{INTERVALS}. nginx frames a file that the kernel has in memory.")
    for failure, rounds in files.failures.items():
        print(f"FAILED in round {', '.join(map(str, rounds))}: {failure}")
    if interrupt.signum:
        print("PARTIAL: interrupted.")
    return interrupt.exit_code or (1 if files.failures else 0)
