"""Our Get compared with another project's HTTP/2 file server: the same 16 MiB from both to h2load, the same client.

What is compared is the CPU that the server needs per Gbit/s, of the whole process and its children, by the kernel's
ticks. h2load sends MyService/Get an empty GetRequest, which asks for 1024 chunks of 16 KiB.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from cqbench.render import text
from cqbench.render.experiment.cells import words
from cqbench.render.table import Column, Line, Table
from cqbench.run.peers.adapters import Adapter, At, BadOutput, Peer
from cqbench.run.peers.targets import Measurement
from cqbench.stats import ratios

FILE = "file:"  # begins the name of a server
NGINX_SERVER = "file:nginx"
TOOL = "h2load of files"
BLOB_BYTES = 16 << 20
GET_PATH = "/MyService/Get"
STREAMS_PER_SECOND = 40  # number of streams for each second of a measurement
NGINX = Peer("nginx", "apt-get install nginx-light")
# Flags of this project's servers, by name.
FLAGS: dict[str, tuple[str, ...]] = {
    "file:fresh": ("--api", "cq", "--messages", "fresh"),
    "file:reused": ("--api", "cq", "--messages", "reused"),
    "file:bytes": ("--api", "generic"),
    "file:bytes-buffer": ("--api", "generic", "--write-hint", "buffer"),
}
WORDS = {
    NGINX_SERVER: "nginx, a static file",
    "file:fresh": "cq, a new message for each chunk",
    "file:reused": "cq, one message",
    "file:bytes": "generic, one slice",
    "file:bytes-buffer": "generic, one slice, buffer hint",
}
LEGEND = (
    "The CPUs of the server while h2load fetches 16 MiB after 16 MiB on one connection. Medians; x: the rounds' own "
    "ratios: geometric mean and 95 % interval, from six rounds on. nginx frames a file that the kernel has in memory."
)


def measurements() -> list[Measurement]:
    """Returns for each server the rate and the cost: cores of the server per Gbit/s, which is its CPU seconds per
    Gbit.
    """
    return [
        Measurement(name, TOOL, what, name, path="/blob" if name == NGINX_SERVER else GET_PATH)
        for name, what in WORDS.items()
    ]


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


def prepare(folder: Path) -> None:
    """The file that nginx has."""
    (folder / "www").mkdir(exist_ok=True)
    (folder / "www" / "blob").write_bytes(bytes(BLOB_BYTES))


def nginx_command(folder: Path, port: int) -> list[str]:
    (folder / "nginx.conf").write_text(nginx_config(folder, port))
    return [str(nginx_program()), "-p", str(folder), "-c", str(folder / "nginx.conf")]


def nginx_program() -> str | None:
    """Debian puts it where only root's PATH looks."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")


def requests(at: At) -> int:
    return STREAMS_PER_SECOND * at.seconds


def command(m: Measurement, at: At) -> list[str]:
    """One connection, one request at a time. Of ours the body of a gRPC call."""
    call = ["-d", f"{at.frame}", "-H", "content-type: application/grpc", "-H", "te: trailers"]
    body = call if m.path == GET_PATH else []
    return ["h2load", "-n", f"{requests(at)}", "-c", "1", "-m", "1", "-t", "1", *body, f"http://{at.address}{m.path}"]


def parse_h2load(output: str, wanted: int) -> float:
    """Seconds. Raises BadOutput unless every request brought a whole blob."""
    took = re.search(r"^finished in ([\d.]+)(ms|s|us),", output, re.MULTILINE)
    done = re.search(r"^status codes: (\d+) 2xx", output, re.MULTILINE)
    data = re.search(r"^traffic: .*\((\d+)\) data$", output, re.MULTILINE)
    if not (took and done and data):
        raise BadOutput("h2load's output has no time, status codes or traffic")
    seconds = float(took[1]) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[took[2]]
    if int(done[1]) != wanted or int(data[1]) < wanted * BLOB_BYTES or seconds <= 0:
        raise BadOutput(f"h2load got {data[1]} bytes by {done[1]} responses, not {wanted} times {BLOB_BYTES}")
    return seconds


def figures(output: str, m: Measurement, at: At) -> dict[str, float]:
    gbits = requests(at) * BLOB_BYTES * 8e-9
    return {"rate": gbits / parse_h2load(output, requests(at)), "cost": at.server_cpu_s / gbits}


ADAPTERS = {TOOL: Adapter(command, figures, patience=60)}


def render(rounds: Sequence[dict[str, float]], shown: Sequence[Measurement]) -> str:
    """The table. Ratios are to nginx, or to the first there is. Ends with a newline."""
    first = shown[0].key
    against = f"x {first.removeprefix(FILE)} (95 %)"
    head = (Column(title, True) for title in ("Gbit/s", "cores per Gbit/s", against, "rounds"))
    table = Table([Column("server"), *head])
    for m in shown:
        there = [found for found in rounds if f"{m.key}/cost" in found]
        rate, cost = ([found[f"{m.key}/{of}"] for found in there] for of in ("rate", "cost"))
        both = [(found[f"{m.key}/cost"], found[f"{first}/cost"]) for found in there if f"{first}/cost" in found]
        ratio = "" if m.key == first else words(ratios.paired(both))
        middle = (f"{median(rate):.2f}", f"{median(cost):.4f}") if rate else ("-", "-")
        table.add(m.what, *middle, ratio, f"{len(rate)}")
    return text.render([table, Line(LEGEND, width=120, later="")])
