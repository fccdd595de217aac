"""Runs the units of an experiment one after another: server, proxy where there is one, client, manifest."""

from __future__ import annotations

import fcntl
import os
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from cqbench import cpus, experiment_plan, results
from cqbench.documents import BadDocument, Document, one_line
from cqbench.documents import load as load_document
from cqbench.experiment_file import Experiment, Variant
from cqbench.experiment_manifest import FAILED, INTERRUPTED, OK, PENDING, Manifest, versions
from cqbench.experiment_plan import Programs, Unit
from cqbench.experiment_progress import Progress
from cqbench.processes import Finished, Interrupt, Server, ServerFailed, Service, run
from cqbench.toxiproxy import ProxyFailed, Toxiproxy

LAST_LINES = 5


class Busy(RuntimeError):
    """Another run works in the folder; the text is one line."""


def lock(folder: Path) -> int:
    """For as long as this process lives or the descriptor is open. Raises Busy, OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Busy(f"{folder}: another experiment.sh is running in it") from None
    return descriptor


class Runner:
    """One run of an experiment in its folder. Owns the server and the proxy of the unit that is running."""

    def __init__(
        self,
        experiment: Experiment,
        placements: dict[str, cpus.Placement],
        programs: Programs,
        manifest: Manifest,
        interrupt: Interrupt,
    ) -> None:
        self.experiment = experiment
        self.variants = {v.name: v for v in experiment.variants}
        self.placements = placements
        self.programs = programs
        self.manifest = manifest
        self.folder = manifest.folder
        self.interrupt = interrupt
        self.progress = Progress(len(manifest.left()), experiment_plan.unit_seconds(experiment))

    def run(self) -> None:
        """What is left. The manifest says what became of it. Raises OSError."""
        with ExitStack() as stack:
            stack.callback(self.progress.close)
            for unit in self.manifest.left():
                if self.interrupt.signum:
                    break
                self.measure(unit)
        self.manifest.end()
        self.manifest.write()

    def measure(self, unit: Unit) -> None:
        """One unit; a failure is noted and the next one can go on."""
        self.progress.begin(f"{unit.variant}, repetition {unit.repetition}")
        entry = self.manifest.begin_unit(unit)
        path = self.folder / unit.file
        path.parent.mkdir(parents=True, exist_ok=True)
        keep_old(path)
        document, tail = self.run_programs(unit, entry, path)
        entry["ended"] = results.now()
        if tail:
            entry["last_lines"] = tail
        self.manifest.write()
        self.progress.end(outcome(entry, document), entry["status"] != OK)
        for line in tail:
            self.progress.say(f"    {line}")

    def run_programs(self, unit: Unit, entry: dict[str, Any], path: Path) -> tuple[Document | None, list[str]]:
        """Fills the entry. The result, and the last lines of who failed."""
        variant = self.variants[unit.variant]
        placement = self.placements[unit.variant]
        entry["server_cpus"] = cpus.format_cpus(placement.server) or None
        entry["client_cpus"] = cpus.format_cpus(placement.client) or None
        entry["client_env"], entry["server_env"] = dict(variant.client_env), dict(variant.server_env)
        entry["server_command"] = None
        if variant.host:
            return self.run_client(variant, placement, entry, path, [])
        server = self.make_server(unit, variant, placement)
        entry["server_command"] = shlex.join(server.command)
        try:
            with server:
                entry["server_configuration"] = server.description()
                return self.run_before(server, unit, variant, placement, entry, path)
        except ServerFailed as error:
            entry.update(status=FAILED, reason=f"cannot start the server: {error}")
            return None, last_lines(server.output())

    def run_before(
        self,
        server: Server,
        unit: Unit,
        variant: Variant,
        placement: cpus.Placement,
        entry: dict[str, Any],
        path: Path,
    ) -> tuple[Document | None, list[str]]:
        """With the server running: the proxy, where the variant has one, and the client."""
        if self.interrupt.signum:
            return None, []  # stays pending
        if variant.added_rtt_ms is None:
            return self.run_client(variant, placement, entry, path, [server])
        command = experiment_plan.proxy_command(placement, self.programs)
        proxy = Toxiproxy(command, server.address, variant.added_rtt_ms, self.log(unit, "proxy"))
        try:
            with proxy:
                entry["network"] = {
                    "added_rtt_ms": variant.added_rtt_ms,
                    "proxy": f"toxiproxy {proxy.version}",
                    "proxy_command": shlex.join(proxy.command),
                    "proxy_cpus": cpus.format_cpus(experiment_plan.proxy_cpus(placement)) or None,
                }
                return self.run_client(variant, placement, entry, path, [server, proxy])
        except ProxyFailed as error:
            entry.update(status=FAILED, reason=f"cannot start the proxy: {error}")
            return None, last_lines(proxy.output())

    def make_server(self, unit: Unit, variant: Variant, placement: cpus.Placement) -> Server:
        command = experiment_plan.server_command(self.experiment, variant, placement, self.programs)
        return Server(command, self.log(unit, "server"))

    def log(self, unit: Unit, what: str) -> Path:
        """Where a program of a unit writes to."""
        log = self.folder / f"logs/{unit.stem}.{what}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        keep_old(log)
        return log

    def run_client(
        self, variant: Variant, placement: cpus.Placement, entry: dict[str, Any], path: Path, services: list[Service]
    ) -> tuple[Document | None, list[str]]:
        """services: what it talks to, the last one directly; none where the server is elsewhere."""
        host = services[-1].address if services else variant.host
        command = experiment_plan.client_command(self.experiment, variant, placement, self.programs, host, path)
        entry["client_command"] = shlex.join(command)
        self.manifest.write()
        done = run(
            command, self.interrupt, experiment_plan.patience_seconds(self.experiment), self.progress.tick
        )
        if "--output" not in command and done.stdout.strip():
            results.write(path, done.stdout)
        document, problem = read_back(path, done)
        problem = problem or not_delayed(document, variant.added_rtt_ms)
        for service in services if problem else ():
            if service.ends_within(0.5):
                problem += f"; the {service.what} had ended: {one_line(service.last_line())}"
        self.note(entry, path, done, document, problem)
        return document, last_lines(done.stderr) if entry["status"] == FAILED else []

    def note(
        self, entry: dict[str, Any], path: Path, done: Finished, document: Document | None, problem: str
    ) -> None:
        """What became of the client. An interrupt that came too late to cut it short does not count."""
        entry["exit_status"] = done.returncode
        if not problem:
            entry["status"] = OK
        elif self.interrupt.signum:
            entry.update(status=INTERRUPTED, reason="interrupted")
        else:
            entry.update(status=FAILED, reason=problem)
        if document is None:
            return
        found = versions(path, document)
        entry["grpc_version"] = found["grpc_version"]
        if self.manifest.data["versions"] is None:
            self.manifest.data["versions"] = found


def read_back(path: Path, done: Finished) -> tuple[Document | None, str]:
    """What the client wrote, and what was wrong ('' when nothing was)."""
    problem = done.complaint() if done.returncode != 0 else ""
    if not path.exists():
        return None, problem or "the client wrote no result"
    try:
        document = load_document(path)
    except BadDocument as error:
        return None, problem or str(error)
    return document, problem or ("the result is marked partial" if document.partial else "")


def not_delayed(document: Document | None, added_rtt_ms: int | None) -> str:
    """Why the proxy cannot have added what it was asked to; '' when it may have.

    A call that takes at least that long fits into the window so many times, and once more across its edges.
    """
    for p in document.points if document and added_rtt_ms else ():
        if not p.throughput or not added_rtt_ms:
            continue
        window_ms = p.completed / p.throughput * 1000
        if p.completed > p.inflight * (window_ms / added_rtt_ms + 1):
            each_ms = p.inflight / p.throughput * 1000
            each = f"{each_ms:.3g} ms per call at {p.load.words}"
            return f"{each}, less than the {added_rtt_ms} ms that were added"
    return ""


def keep_old(path: Path) -> None:
    """A file of an earlier attempt gets .1, .2, ... behind its name: nothing is overwritten. Raises OSError."""
    if not path.exists():
        return
    number = 1
    while (old := path.with_name(f"{path.name}.{number}")).exists():
        number += 1
    path.rename(old)


def last_lines(text: str) -> list[str]:
    """Printable, without empty ones."""
    lines = ["".join(c if c.isprintable() else " " for c in line).rstrip() for line in text.splitlines()]
    return [line for line in lines if line][-LAST_LINES:]


def outcome(entry: dict[str, Any], document: Document | None) -> str:
    """One line: figures at both ends of the sweep, or what went wrong."""
    if entry["status"] == FAILED:
        return f"FAILED: {entry['reason']}"
    if entry["status"] == PENDING:
        return "not run: interrupted"
    measured = [p for p in document.points if p.throughput is not None] if document else []
    ends = measured[:1] + measured[1:][-1:]
    words = ", ".join(f"{p.throughput:.0f} req/s at {p.load.words}" for p in ends) or "nothing measured"
    return words + ("; interrupted" if entry["status"] == INTERRUPTED else "")
