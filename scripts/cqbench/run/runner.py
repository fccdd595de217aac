"""Runs the units of an experiment one after another: server, proxy where there is one, client, manifest."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from cqbench.experiment import plan
from cqbench.experiment.spec import Experiment, Variant
from cqbench.experiment.units import Unit
from cqbench.formats import storage
from cqbench.formats.manifest import FAILED, INTERRUPTED, OK, PENDING
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
from cqbench.run.manifest import Facts, Manifest, moment, versions
from cqbench.run.progress import Progress
from cqbench.run.returned import not_asked, not_delayed, read_back

LAST_LINES = 5


class Runner:
    """One run of an experiment in its folder. Owns the server and the proxy of the unit that is running."""

    def __init__(
        self,
        experiment: Experiment,
        placements: dict[str, cpus.Placement],
        programs: Programs,
        manifest: Manifest,
        interrupt: Interrupt,
        launch: Launch | None = None,
    ) -> None:
        """launch: of several client processes; None: one."""
        self.launch = launch
        self.experiment = experiment
        self.variants = {v.name: v for v in experiment.variants}
        self.placements = placements
        self.programs = programs
        self.manifest = manifest
        self.folder = manifest.folder
        self.interrupt = interrupt
        self.facts = facts_of(experiment, placements, launch)
        self.progress = Progress(len(manifest.left()), plan.unit_seconds(experiment))

    def run(self) -> None:
        """Runs what is left. The manifest has the outcomes. Raises OSError."""
        with ExitStack() as stack:
            stack.callback(self.progress.close)
            for unit in self.manifest.left():
                if self.interrupt.signum:
                    break
                self.measure(unit)
        seconds = plan.unit_seconds(self.experiment)
        limits = {name: noticeable(len(plan.used_cpus(p)), seconds) for name, p in self.placements.items()}
        self.manifest.note_other_load(limits)
        self.manifest.end()
        self.manifest.write()

    def measure(self, unit: Unit) -> None:
        """One unit; a failure is noted and the next one can go on."""
        self.progress.begin(unit.words)
        entry = self.manifest.begin_unit(unit, self.facts)
        path = self.folder / unit.file
        path.parent.mkdir(parents=True, exist_ok=True)
        keep_old(path)
        watch = Watch(plan.used_cpus(self.placements[unit.variant]))
        document, tail = self.run_programs(unit, entry, path)
        entry["ended"] = moment()
        others = watch.others()
        if others is not None:
            entry["other_cpus"] = round(others, 3)
        if tail:
            entry["last_lines"] = tail
        self.manifest.append(unit)
        self.progress.end(outcome(entry, document), entry["status"] != OK)
        for line in tail:
            self.progress.say(f"    {line}")

    def run_programs(self, unit: Unit, entry: dict[str, Any], path: Path) -> tuple[Document | None, list[str]]:
        """Fills the entry. The result, and the last lines of who failed."""
        variant = self.variants[unit.variant]
        if variant.host:
            return self.run_client(unit, entry, path, [])
        names = ["server", *(f"server-{number}" for number in range(2, variant.servers + 1))]
        servers = [self.make_server(unit, variant, name) for name in names]
        entry["server_command"] = shlex.join(servers[0].command)
        with ExitStack() as stack:
            for server in servers:
                try:
                    stack.enter_context(server)
                except ServerFailed as error:
                    entry.update(status=FAILED, reason=f"cannot start the server: {error}")
                    return None, last_lines(server.output())
            entry["server_configuration"] = servers[0].description()
            return self.run_before(servers, unit, entry, path)

    def run_before(
        self, servers: list[Server], unit: Unit, entry: dict[str, Any], path: Path
    ) -> tuple[Document | None, list[str]]:
        """With the servers running: the proxy, where the configuration has one, and the client."""
        if self.interrupt.signum:
            return None, []  # stays pending
        variant = self.variants[unit.variant]
        if not variant.proxied:
            return self.run_client(unit, entry, path, servers)
        command = plan.proxy_command(self.placements[unit.variant], self.programs)
        proxy = Toxiproxy(command, servers[0].target, variant.added_rtt_ms or 0, self.log(unit, "proxy"))
        try:
            with proxy:
                used = {"proxy": f"toxiproxy {proxy.version}", "proxy_command": shlex.join(proxy.command)}
                entry["network"] = {**entry["network"], **used}
                return self.run_client(unit, entry, path, servers, proxy)
        except ProxyFailed as error:
            entry.update(status=FAILED, reason=f"cannot start the proxy: {error}")
            return None, last_lines(proxy.output())

    def make_server(self, unit: Unit, variant: Variant, what: str, port: int = 0) -> Server:
        """what: its log is called. port: 0 is a free one."""
        command = plan.server_command(self.experiment, variant, self.placements[variant.name], self.programs)
        command += ranked.server_flags(self.launch, variant)
        return Server(command, self.log(unit, what), variant.connect == "http", port)

    def log(self, unit: Unit, what: str) -> Path:
        """Where a program of a unit writes to."""
        log = self.folder / f"logs/{unit.stem}.{what}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        keep_old(log)
        return log

    def run_client(
        self,
        unit: Unit,
        entry: dict[str, Any],
        path: Path,
        servers: list[Server],
        proxy: Toxiproxy | None = None,
    ) -> tuple[Document | None, list[str]]:
        """servers: none where there is one elsewhere. proxy: where it connects instead."""
        variant, placement = self.variants[unit.variant], self.placements[unit.variant]
        host = proxy.target if proxy else ",".join(server.target for server in servers) or variant.host
        numbers = f"{unit.load.number:.12g}"
        pid = servers[0].pid if servers and variant.server_program else 0
        control = servers[0].address if servers and variant.asked_elsewhere else ""
        unmade = ""
        if self.launch:
            done = self.run_ranks(self.launch, unit, entry, path, host, pid, control)
        else:
            command = plan.client_command(
                self.experiment, variant, placement, self.programs, numbers, host, path, pid, control
            )
            with self.injection(unit, servers, proxy) as injection:
                command += injection.flags() if injection else []
                entry["client_command"] = shlex.join(command)
                patience_s = plan.patience_seconds(self.experiment)
                done = run(command, self.interrupt, patience_s, self.progress.tick, injection)
            if injection:
                entry["fault"], unmade = injection.told(), injection.problem
            if "--output" not in command and done.stdout.strip():
                storage.write(path, done.stdout)
        document, problem = read_back(path, done)
        problem = unmade or problem or not_asked(document, unit) or not_delayed(document, variant.added_rtt_ms)
        services: list[Service] = [*servers, *([proxy] if proxy else [])]
        for service in services if problem and not variant.fault else ():
            if service.ends_within(0.5):
                problem += f"; the {service.what} had ended: {one_line(service.last_line())}"
        self.note(entry, path, done, document, problem)
        return document, last_lines(done.stderr) if entry["status"] == FAILED else []

    def injection(self, unit: Unit, servers: list[Server], proxy: Toxiproxy | None) -> AbstractContextManager[Any]:
        """Returns the injection of the configuration's fault; an empty one if it has none."""
        variant = self.variants[unit.variant]
        if variant.fault is None:
            return nullcontext()

        def another(port: int) -> Server:
            return self.make_server(unit, variant, "server-again", port)

        return Injection(variant.fault, servers, another, proxy, self.experiment.warmup_s, self.interrupt)

    def run_ranks(
        self, launch: Launch, unit: Unit, entry: dict[str, Any], path: Path, host: str, pid: int, control: str
    ) -> Finished:
        """As several client processes, whose files are kept. host: where a server that is started here listens."""
        variant, placement = self.variants[unit.variant], self.placements[unit.variant]
        alone, number = replace(placement, client=()), f"{unit.load.number:.12g}"
        target = ranked.target(launch, host, variant)
        pid = 0 if launch.server_address else pid  # of this machine
        client = plan.client_command(
            self.experiment, variant, alone, self.programs, number, target, None, pid, control, launch.program
        )
        folder = self.folder / ranked.FOLDER / unit.stem
        keep_old(folder)
        folder.mkdir(parents=True)
        patience_s = plan.patience_seconds(self.experiment)
        merger = self.programs.bin / merge.PROGRAM
        what = (launch, unit, variant.build, client, placement, folder, path, merger, entry)
        return ranked.measure(*what, self.interrupt, patience_s, self.progress.tick)

    def note(self, entry: dict[str, Any], path: Path, done: Finished, document: Document | None, problem: str) -> None:
        """Notes the outcome of the client. An interrupt that came too late to cut it short does not count."""
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
        self.manifest.note_versions(found)


def facts_of(experiment: Experiment, placements: dict[str, cpus.Placement], launch: Launch | None = None) -> Facts:
    """Returns the facts that all runs of a configuration share."""
    more = {ranked.KEY: launch.words} if launch else {}
    return {variant.name: {**_facts(variant, placements[variant.name]), **more} for variant in experiment.variants}


def _facts(variant: Variant, placement: cpus.Placement) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "client_cpus": format_cpus(placement.client) or None,
        "server_cpus": format_cpus(placement.server) or None,
        "client_env": dict(variant.client_env),
        "server_env": dict(variant.server_env),
        "server_command": None,
    }
    if variant.server_program:
        facts["server_program"] = [variant.server_program, *variant.server_flags]
    if variant.asked_elsewhere:
        facts["server_front"] = plan.front(variant.server_flags)
    if variant.proxied:
        proxy_cpus = format_cpus(plan.proxy_cpus(placement)) or None
        facts["network"] = {"added_rtt_ms": variant.added_rtt_ms or 0, "proxy_cpus": proxy_cpus}
    if variant.servers > 1:
        facts["servers"] = variant.servers
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


def outcome(entry: dict[str, Any], document: Document | None) -> str:
    """One line: a figure, or what went wrong."""
    if entry["status"] == FAILED:
        return f"FAILED: {entry['reason']}"
    if entry["status"] == PENDING:
        return "not run: interrupted"
    if document and document.found_rate:
        return document.found_rate.words
    measured = [p for p in document.points if p.throughput is not None] if document else []
    words = ", ".join(f"{p.throughput:.0f} req/s" for p in measured) or "nothing measured"
    return words + ("; interrupted" if entry["status"] == INTERRUPTED else "")
