"""The programs of one run: servers, a proxy where the configuration has one, and the client or its ranks."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from cqbench.experiment import plan
from cqbench.experiment.order import PlannedRun
from cqbench.experiment.spec import Experiment
from cqbench.formats import storage
from cqbench.formats.manifest import FAILED, INTERRUPTED, OK, RunRecord
from cqbench.formats.result import Document
from cqbench.formats.result import load as load_document
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line
from cqbench.measure import cpus
from cqbench.measure.processes import Failed, Finished, Server, Service
from cqbench.measure.programs import Programs, inside
from cqbench.measure.ranks import merge
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.session import Session
from cqbench.measure.toxiproxy import Toxiproxy
from cqbench.run import ranked
from cqbench.run.inject import Injection

LAST_LINES = 5


@dataclass(frozen=True)
class Setup:
    """Shared by all runs of an experiment. launch: of several client processes; None: one."""

    experiment: Experiment
    placements: dict[str, cpus.Placement]
    programs: Programs
    folder: Path
    session: Session
    launch: Launch | None = None


class OneRun:
    """Owns its servers and its proxy. The record gets how they were run, and what became of the run."""

    def __init__(self, setup: Setup, planned: PlannedRun, record: RunRecord, tick: Callable[[float], None]) -> None:
        self.setup, self.planned, self.record, self.tick = setup, planned, record, tick
        self.configuration = setup.experiment.configuration(planned.configuration)
        self.placement = setup.placements[planned.configuration]
        self.patience_s = plan.patience_seconds(setup.experiment)
        self.path = setup.folder / planned.file
        self.servers: list[Server] = []
        self.proxy: Toxiproxy | None = None

    def measure(self) -> Document | None:
        """The result, if there is one. Raises OSError."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        storage.keep_old(self.path)
        with ExitStack() as stack:
            return self._client() if self._start(stack) else None

    def _start(self, stack: ExitStack) -> bool:
        """Servers and proxy, where this run has them. False: there is nothing to measure on."""
        if self.configuration.host:
            return True
        names = ["server", *(f"server-{number}" for number in range(2, self.configuration.servers + 1))]
        self.servers = [self._server(name) for name in names]
        self.record.server_command = shlex.join(self.servers[0].command)
        if not all(self._enter(stack, server) for server in self.servers):
            return False
        self.record.server_configuration = self.servers[0].description()
        if self.setup.session.stopped:
            return False  # it stays pending
        return self._start_proxy(stack) if self.configuration.proxied else True

    def _start_proxy(self, stack: ExitStack) -> bool:
        command = plan.proxy_command(self.placement, self.setup.programs)
        added_rtt_ms = self.configuration.added_rtt_ms or 0
        self.proxy = Toxiproxy(command, self.servers[0].target, added_rtt_ms, self._log("proxy"))
        if not self._enter(stack, self.proxy):
            return False
        used = {"proxy": f"toxiproxy {self.proxy.version}", "proxy_command": shlex.join(self.proxy.command)}
        self.record.network = self.record.network and self.record.network.model_copy(update=used)
        return True

    def _enter(self, stack: ExitStack, service: Service) -> bool:
        try:
            stack.enter_context(service)
        except Failed as error:
            self.record.end(FAILED, f"cannot start the {service.what}: {error}")
            self.record.last_lines = last_lines(service.output())
            return False
        return True

    def _server(self, what: str, port: int = 0) -> Server:
        """what: its log is called. port: 0 is a free one."""
        setup = self.setup
        command = plan.server_command(setup.experiment, self.configuration, self.placement, setup.programs)
        command += ranked.server_flags(setup.launch, self.configuration)
        return Server(command, self._log(what), self.configuration.connect == "http", port)

    def _log(self, what: str) -> Path:
        """The file that a program of the run writes to."""
        log = self.setup.folder / f"logs/{self.planned.stem}.{what}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        storage.keep_old(log)
        return log

    def _client(self) -> Document | None:
        launch = self.setup.launch
        done, unmade = (self._ranks(launch), "") if launch else self._alone()
        document, problem = read_back(self.path, done)
        problem = unmade or problem or not_asked(document, self.planned)
        problem = problem or not_delayed(document, self.configuration.added_rtt_ms)
        services: list[Service] = [*self.servers, *([self.proxy] if self.proxy else [])]
        for service in services if problem and not self.configuration.fault else ():
            if service.ends_within(0.5):
                problem += f"; the {service.what} had ended: {one_line(service.last_line())}"
        self._note(done, document, problem)
        return document

    def _alone(self) -> tuple[Finished, str]:
        """One client, and why the configuration's fault could not be made, '' where it was."""
        command = self._client_command(self._host(), self.placement, self.path)
        with self._injection() as injection:
            command += injection.flags() if injection else []
            self.record.client_command = shlex.join(command)
            done = self.setup.session.finish(command, self.patience_s, self.tick, injection)
        if "--output" not in command and done.stdout.strip():
            storage.write(self.path, done.stdout)
        if injection is None:
            return done, ""
        self.record.fault = injection.told()
        return done, injection.problem

    def _ranks(self, launch: Launch) -> Finished:
        """Several client processes, whose files are kept."""
        folder = self.setup.folder / ranked.FOLDER / self.planned.stem
        storage.keep_old(folder)
        folder.mkdir(parents=True)
        of = ranked.pinned(launch.at(self.planned.load), self.placement)
        target = ranked.target(launch, self._host(), self.configuration)
        client = self._client_command(target, replace(self.placement, client=()), None, launch.program)
        build = self.configuration.client_build
        commands = ranked.commands(of, client, build, folder)
        self.record.client_command = shlex.join(commands[0])
        programs = self.setup.programs
        merger = (programs.bin if inside(build) else programs.folder(build)) / merge.PROGRAM
        return ranked.measure(of, commands, folder, self.path, merger, self.setup.session, self.patience_s, self.tick)

    def _host(self) -> str:
        """Where a client of this machine connects."""
        if self.proxy:
            return self.proxy.target
        return ",".join(server.target for server in self.servers) or self.configuration.host

    def _client_command(self, host: str, placement: cpus.Placement, output: Path | None, kind: str = "") -> list[str]:
        setup, first = self.setup, self.servers[0] if self.servers else None
        away = setup.launch is not None and setup.launch.server_address  # the process is another machine's
        pid = first.pid if first and self.configuration.server_program and not away else 0
        control = first.address if first and self.configuration.asked_elsewhere else ""
        what = (setup.experiment, self.configuration, placement, setup.programs, f"{self.planned.load.number:.12g}")
        return plan.client_command(*what, host, output, pid, control, kind)

    def _injection(self) -> AbstractContextManager[Injection | None]:
        """The injection of the configuration's fault; empty if it has none."""
        fault = self.configuration.fault
        if fault is None:
            return nullcontext()

        def another(port: int) -> Server:
            return self._server("server-again", port)

        setup = self.setup
        return Injection(fault, self.servers, another, self.proxy, setup.experiment.warmup_s, setup.session.interrupt)

    def _note(self, done: Finished, document: Document | None, problem: str) -> None:
        """Notes the outcome. An interrupt that came too late to cut the client short does not count."""
        self.record.exit_status = done.returncode
        if document is not None:
            self.record.grpc_version = document.grpc_version
        if not problem:
            self.record.end(OK)
        elif self.setup.session.stopped:
            self.record.end(INTERRUPTED, "interrupted")
        else:
            self.record.end(FAILED, problem)
            self.record.last_lines = last_lines(done.stderr)


def read_back(path: Path, done: Finished) -> tuple[Document | None, str]:
    """Reads the client's output; returns it and its defect ('' if there is none)."""
    problem = done.complaint() if done.returncode != 0 else ""
    if not path.exists():
        return None, problem or "the client wrote no result"
    try:
        document = load_document(path)
    except BadDocument as error:
        return None, problem or str(error)
    return document, problem or ("the result is marked partial" if document.partial else "")


def not_asked(document: Document | None, planned: PlannedRun) -> str:
    """Why a result is not that of its run; '' when it is."""
    if planned.load.search:
        return "" if document is None or document.found_rate else "the result has no answer of a search"
    there = any(point.load.label == planned.load.label for point in document.points) if document else True
    return "" if there else f"the result has no point with {planned.load.words}"


def not_delayed(document: Document | None, added_rtt_ms: int | None) -> str:
    """Returns why the proxy cannot have added the delay; '' if it may have.

    Calls that take at least this time fit into the window a known number of times, plus one that crosses its
    boundaries.
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


def last_lines(text: str) -> list[str]:
    """Printable, without empty ones."""
    lines = ["".join(c if c.isprintable() else " " for c in line).rstrip() for line in text.splitlines()]
    return [line for line in lines if line][-LAST_LINES:]
