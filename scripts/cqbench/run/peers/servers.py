"""The servers of `cqbench peers`, by their names: ours, Go's, HTTP front ends, nginx, sockperf."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

from cqbench.measure import cpus, layout
from cqbench.measure.cpus import Placement
from cqbench.measure.processes import Server, ServerFailed, Service
from cqbench.measure.programs import ROOT, SERVER
from cqbench.run.peers import benchmain, files, transcoding
from cqbench.run.peers.files import FILE, NGINX_SERVER
from cqbench.run.peers.targets import GO, SOCKPERF_SERVER
from cqbench.run.peers.transcoding import HTTP

GO_SERVER = ROOT / "build/lineup/lineup"
HOST = "127.0.0.1"


class Listening(Service):
    """A program that does not say when it listens, at a free port of this machine."""

    def __init__(self, what: str, command: Callable[[int], list[str]], log: Path) -> None:
        """command: for a port."""
        super().__init__([], log)
        self.what = what
        self.make = command

    def start(self) -> None:
        """Raises ServerFailed."""
        with socket.socket() as free:
            free.bind((HOST, 0))
            port = int(free.getsockname()[1])
        self.address, self.command = f"{HOST}:{port}", self.make(port)
        try:
            process = self.launch(self.command)
        except OSError as error:
            raise ServerFailed(f"cannot run {self.what}: {error.strerror}") from None
        give_up_at = time.monotonic() + self.start_timeout_s
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > give_up_at:
                raise ServerFailed(f"{self.what} does not listen: {self.last_line()}")
            time.sleep(0.02)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def make(name: str, binaries: Path, placement: Placement, folder: Path) -> Service:
    """One that is not started."""
    log = folder / f"{name.replace(':', '-')}.log"

    def pinned(command: list[str]) -> list[str]:
        return cpus.pinned(command, placement.server)

    if name == SOCKPERF_SERVER:
        words = ["sockperf", "sr", "--tcp", "-i", HOST]
        return Listening("sockperf", lambda port: pinned([*words, "-p", f"{port}"]), log)
    if name == NGINX_SERVER:
        files.prepare(folder)
        return Listening("nginx", lambda port: pinned(files.nginx_command(folder, port)), log)
    if name.startswith(HTTP):
        return Server(pinned(transcoding.command(name, binaries)), log, http=True)
    if name.startswith(GO):
        return Server(pinned([str(GO_SERVER), "--server", name.removeprefix(GO)]), log)
    counting = name == benchmain.COUNTING_SERVER
    flags = files.FLAGS.get(name, ("--api", "cq" if counting else name))
    # Queues and threads, where they are not the library's; posted as by default.
    size = layout.server_layout(max(1, len(placement.server)))[:4] if flags[1] in ("cq", "generic") else []
    program = binaries / f"{SERVER}{'_counting' * counting}"
    return Server(pinned([str(program), *flags, *size]), log)


def is_there(name: str) -> bool:
    """True if a program of the system or of another project exists; this project's are checked elsewhere."""
    if name.startswith(HTTP):
        return transcoding.is_built(name)
    if name == NGINX_SERVER:
        return files.nginx_program() is not None
    return not name.startswith(GO) or os.access(GO_SERVER, os.X_OK)


def check_flags(name: str) -> tuple[str, ...] | None:
    """Flags of our client's check of a server; None where it cannot call it."""
    if name in (SOCKPERF_SERVER, NGINX_SERVER):
        return None
    if name.startswith(FILE):
        return ("--workload", "blob", "--method", "get")
    if name.startswith(HTTP):
        return ("--api", "http1", *transcoding.METHOD)
    return ("--workload", "flex") if name.startswith(GO) else ()
