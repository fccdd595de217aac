"""Measures the runs of an experiment one after another, and writes down what became of each."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from cqbench.experiment import plan
from cqbench.experiment.order import PlannedRun
from cqbench.experiment.spec import Configuration, Experiment
from cqbench.formats.manifest import FAILED, INTERRUPTED, OK, PENDING, Network, RunRecord
from cqbench.formats.result import Document
from cqbench.formats.text import format_cpus
from cqbench.measure import cpus
from cqbench.measure.busy import Watch, noticeable
from cqbench.measure.processes import Interrupt
from cqbench.measure.programs import Programs
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.session import Session
from cqbench.run.budget import Budget
from cqbench.run.journal import Facts, Journal, moment
from cqbench.run.one import OneRun, Setup
from cqbench.run.progress import Progress


class Runner:
    """An experiment in its folder."""

    def __init__(
        self,
        experiment: Experiment,
        placements: dict[str, cpus.Placement],
        programs: Programs,
        journal: Journal,
        interrupt: Interrupt,
        launch: Launch | None = None,
    ) -> None:
        self.setup = Setup(experiment, placements, programs, journal.folder, Session(interrupt), launch)
        self.journal = journal
        self.facts = facts_of(experiment, placements, launch)
        self.run_seconds = plan.run_seconds(experiment)
        self.progress = Progress(len(journal.left()), self.run_seconds)

    def run(self) -> None:
        """Runs what is left, and what a budget allows. The manifest has the outcomes. Raises OSError."""
        with ExitStack() as stack:
            stack.callback(self.progress.close)
            self.measure_left()
            budget = Budget(self.setup.experiment, self.journal)
            while not self.setup.session.stopped and (more := budget.further()):
                self.journal.extend(more, self.facts)
                self.progress.add(len(more))
                self.measure_left()
        placements = self.setup.placements.items()
        self.journal.note_other_load(
            {name: noticeable(len(plan.used_cpus(p)), self.run_seconds) for name, p in placements}
        )
        self.journal.end()
        self.journal.write()

    def measure_left(self) -> None:
        for planned in self.journal.left():
            if self.setup.session.stopped:
                break
            self.measure(planned)

    def measure(self, planned: PlannedRun) -> None:
        """One run; a failure is noted and the next one can go on."""
        self.progress.begin(planned.words)
        record = self.journal.begin_run(planned, self.facts)
        watch = Watch(plan.used_cpus(self.setup.placements[planned.configuration]))
        document = self.run_programs(planned, record)
        if document is not None:
            self.journal.note_versions(document)
        record.ended = moment()
        others = watch.others()
        if others is not None:
            record.other_cpus = round(others, 3)
        self.journal.append(planned)
        self.progress.end(outcome(record, document), record.status != OK)
        for line in record.last_lines:
            self.progress.say(f"    {line}")

    def run_programs(self, planned: PlannedRun, record: RunRecord) -> Document | None:
        return OneRun(self.setup, planned, record, self.progress.tick).measure()


def facts_of(experiment: Experiment, placements: dict[str, cpus.Placement], launch: Launch | None = None) -> Facts:
    """Returns the facts that all runs of a configuration share."""
    more = {"ranks": launch.words} if launch else {}
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
