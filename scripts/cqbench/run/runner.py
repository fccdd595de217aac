"""Measures the runs of an experiment one after another: server, proxy where there is one, client, manifest."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from cqbench.experiment import plan
from cqbench.experiment.order import PlannedRun
from cqbench.experiment.spec import Configuration, Experiment
from cqbench.formats import storage
from cqbench.formats.manifest import FAILED, INTERRUPTED, OK, PENDING, Network, RunRecord
from cqbench.formats.result import Document
from cqbench.formats.text import format_cpus, one_line
from cqbench.measure import cpus
from cqbench.measure.busy import Watch, noticeable
from cqbench.measure.processes import Finished, Interrupt, Server, ServerFailed, Service, run
from cqbench.measure.programs import Programs
from cqbench.measure.ranks import merge
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.toxiproxy import ProxyFailed, Toxiproxy
from cqbench.run import ranked
from cqbench.run.inject import Injection
from cqbench.run.journal import Facts, Journal, moment
from cqbench.run.progress import Progress
from cqbench.run.returned import not_asked, not_delayed, read_back

LAST_LINES = 5


class Runner:
    """Measures an experiment in its folder. Owns the server and the proxy of the current run."""

    def __init__(
        self,
        experiment: Experiment,
        placements: dict[str, cpus.Placement],
        programs: Programs,
        journal: Journal,
        interrupt: Interrupt,
        launch: Launch | None = None,
    ) -> None:
        """launch: of several client processes; None: one."""
        self.launch = launch
        self.experiment = experiment
        self.configurations = {c.name: c for c in experiment.configurations}
        self.placements = placements
        self.programs = programs
        self.journal = journal
        self.folder = journal.folder
        self.interrupt = interrupt
        self.facts = facts_of(experiment, placements, launch)
        self.progress = Progress(len(journal.left()), plan.run_seconds(experiment))

    def run(self) -> None:
        """Runs what is left. The manifest has the outcomes. Raises OSError."""
        with ExitStack() as stack:
            stack.callback(self.progress.close)
            for planned in self.journal.left():
                if self.interrupt.signum:
                    break
                self.measure(planned)
        seconds = plan.run_seconds(self.experiment)
        limits = {name: noticeable(len(plan.used_cpus(p)), seconds) for name, p in self.placements.items()}
        self.journal.note_other_load(limits)
        self.journal.end()
        self.journal.write()

    def measure(self, planned: PlannedRun) -> None:
        """One run; a failure is noted and the next one can go on."""
        self.progress.begin(planned.words)
        record = self.journal.begin_run(planned, self.facts)
        path = self.folder / planned.file
        path.parent.mkdir(parents=True, exist_ok=True)
        keep_old(path)
        watch = Watch(plan.used_cpus(self.placements[planned.configuration]))
        document, tail = self.run_programs(planned, record, path)
        record.ended = moment()
        others = watch.others()
        if others is not None:
            record.other_cpus = round(others, 3)
        record.last_lines = tail
        self.journal.append(planned)
        self.progress.end(outcome(record, document), record.status != OK)
        for line in tail:
            self.progress.say(f"    {line}")

    def run_programs(self, planned: PlannedRun, record: RunRecord, path: Path) -> tuple[Document | None, list[str]]:
        """Fills the record. The result, and the last lines of who failed."""
        configuration = self.configurations[planned.configuration]
        if configuration.host:
            return self.run_client(planned, record, path, [])
        names = ["server", *(f"server-{number}" for number in range(2, configuration.servers + 1))]
        servers = [self.make_server(planned, configuration, name) for name in names]
        record.server_command = shlex.join(servers[0].command)
        with ExitStack() as stack:
            for server in servers:
                try:
                    stack.enter_context(server)
                except ServerFailed as error:
                    record.end(FAILED, f"cannot start the server: {error}")
                    return None, last_lines(server.output())
            record.server_configuration = servers[0].description()
            return self.run_before(servers, planned, record, path)

    def run_before(
        self, servers: list[Server], planned: PlannedRun, record: RunRecord, path: Path
    ) -> tuple[Document | None, list[str]]:
        """With the servers running: the proxy, where the configuration has one, and the client."""
        if self.interrupt.signum:
            return None, []  # stays pending
        configuration = self.configurations[planned.configuration]
        if not configuration.proxied:
            return self.run_client(planned, record, path, servers)
        command = plan.proxy_command(self.placements[planned.configuration], self.programs)
        proxy = Toxiproxy(command, servers[0].target, configuration.added_rtt_ms or 0, self.log(planned, "proxy"))
        try:
            with proxy:
                used = {"proxy": f"toxiproxy {proxy.version}", "proxy_command": shlex.join(proxy.command)}
                record.network = record.network and record.network.model_copy(update=used)
                return self.run_client(planned, record, path, servers, proxy)
        except ProxyFailed as error:
            record.end(FAILED, f"cannot start the proxy: {error}")
            return None, last_lines(proxy.output())

    def make_server(self, planned: PlannedRun, configuration: Configuration, what: str, port: int = 0) -> Server:
        """what: its log is called. port: 0 is a free one."""
        command = plan.server_command(
            self.experiment, configuration, self.placements[configuration.name], self.programs
        )
        command += ranked.server_flags(self.launch, configuration)
        return Server(command, self.log(planned, what), configuration.connect == "http", port)

    def log(self, planned: PlannedRun, what: str) -> Path:
        """Where a program of a run writes to."""
        log = self.folder / f"logs/{planned.stem}.{what}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        keep_old(log)
        return log

    def run_client(
        self,
        planned: PlannedRun,
        record: RunRecord,
        path: Path,
        servers: list[Server],
        proxy: Toxiproxy | None = None,
    ) -> tuple[Document | None, list[str]]:
        """servers: none where there is one elsewhere. proxy: where it connects instead."""
        configuration, placement = self.configurations[planned.configuration], self.placements[planned.configuration]
        host = proxy.target if proxy else ",".join(server.target for server in servers) or configuration.host
        numbers = f"{planned.load.number:.12g}"
        pid = servers[0].pid if servers and configuration.server_program else 0
        control = servers[0].address if servers and configuration.asked_elsewhere else ""
        unmade = ""
        if self.launch:
            done = self.run_ranks(self.launch, planned, record, path, host, pid, control)
        else:
            command = plan.client_command(
                self.experiment, configuration, placement, self.programs, numbers, host, path, pid, control
            )
            with self.injection(planned, servers, proxy) as injection:
                command += injection.flags() if injection else []
                record.client_command = shlex.join(command)
                patience_s = plan.patience_seconds(self.experiment)
                done = run(command, self.interrupt, patience_s, self.progress.tick, injection)
            if injection:
                record.fault, unmade = injection.told(), injection.problem
            if "--output" not in command and done.stdout.strip():
                storage.write(path, done.stdout)
        document, problem = read_back(path, done)
        problem = unmade or problem or not_asked(document, planned) or not_delayed(document, configuration.added_rtt_ms)
        services: list[Service] = [*servers, *([proxy] if proxy else [])]
        for service in services if problem and not configuration.fault else ():
            if service.ends_within(0.5):
                problem += f"; the {service.what} had ended: {one_line(service.last_line())}"
        self.note(record, path, done, document, problem)
        return document, last_lines(done.stderr) if record.status == FAILED else []

    def injection(
        self, planned: PlannedRun, servers: list[Server], proxy: Toxiproxy | None
    ) -> AbstractContextManager[Any]:
        """Returns the injection of the configuration's fault; an empty one if it has none."""
        configuration = self.configurations[planned.configuration]
        if configuration.fault is None:
            return nullcontext()

        def another(port: int) -> Server:
            return self.make_server(planned, configuration, "server-again", port)

        return Injection(configuration.fault, servers, another, proxy, self.experiment.warmup_s, self.interrupt)

    def run_ranks(
        self, launch: Launch, planned: PlannedRun, record: RunRecord, path: Path, host: str, pid: int, control: str
    ) -> Finished:
        """As several client processes, whose files are kept. host: where a server that is started here listens."""
        configuration, placement = self.configurations[planned.configuration], self.placements[planned.configuration]
        alone, number = replace(placement, client=()), f"{planned.load.number:.12g}"
        target = ranked.target(launch, host, configuration)
        pid = 0 if launch.server_address else pid  # of this machine
        client = plan.client_command(
            self.experiment, configuration, alone, self.programs, number, target, None, pid, control, launch.program
        )
        folder = self.folder / ranked.FOLDER / planned.stem
        keep_old(folder)
        folder.mkdir(parents=True)
        patience_s = plan.patience_seconds(self.experiment)
        merger = self.programs.bin / merge.PROGRAM
        what = (launch, planned, configuration.build, client, placement, folder, path, merger, record)
        return ranked.measure(*what, self.interrupt, patience_s, self.progress.tick)

    def note(self, record: RunRecord, path: Path, done: Finished, document: Document | None, problem: str) -> None:
        """Notes the outcome of the client. An interrupt that came too late to cut it short does not count."""
        record.exit_status = done.returncode
        if not problem:
            record.end(OK)
        elif self.interrupt.signum:
            record.end(INTERRUPTED, "interrupted")
        else:
            record.end(FAILED, problem)
        if document is not None:
            record.grpc_version = document.grpc_version
            self.journal.note_versions(document)


def facts_of(experiment: Experiment, placements: dict[str, cpus.Placement], launch: Launch | None = None) -> Facts:
    """Returns the facts that all runs of a configuration share."""
    more = {ranked.KEY: launch.words} if launch else {}
    return {
        configuration.name: {**_facts(configuration, placements[configuration.name]), **more}
        for configuration in experiment.configurations
    }


def _facts(configuration: Configuration, placement: cpus.Placement) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "client_cpus": format_cpus(placement.client),
        "server_cpus": format_cpus(placement.server),
        "client_env": dict(configuration.client_env),
        "server_env": dict(configuration.server_env),
        "servers": configuration.servers,
    }
    if configuration.server_program:
        facts["server_program"] = [configuration.server_program, *configuration.server_flags]
    if configuration.asked_elsewhere:
        facts["server_front"] = plan.front(configuration.server_flags)
    if configuration.proxied:
        proxy_cpus = format_cpus(plan.proxy_cpus(placement))
        facts["network"] = Network(added_rtt_ms=configuration.added_rtt_ms or 0, proxy_cpus=proxy_cpus)
    return facts


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


def outcome(record: RunRecord, document: Document | None) -> str:
    """One line: a figure, or what went wrong."""
    if record.status == FAILED:
        return f"FAILED: {record.reason}"
    if record.status == PENDING:
        return "not run: interrupted"
    if document and document.found_rate:
        return document.found_rate.words
    measured = [p for p in document.points if p.throughput is not None] if document else []
    words = ", ".join(f"{p.throughput:.0f} req/s" for p in measured) or "nothing measured"
    return words + ("; interrupted" if record.status == INTERRUPTED else "")
