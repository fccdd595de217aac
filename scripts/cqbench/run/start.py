"""Begins or resumes an experiment's folder, and runs the experiment."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cqbench.experiment import certs, needs, plan, ranks
from cqbench.experiment.override import Options
from cqbench.experiment.spec import Experiment
from cqbench.formats import storage, sums
from cqbench.measure import busy, cpus, layout
from cqbench.measure.lock import locked
from cqbench.measure.machine import here
from cqbench.measure.processes import Interrupt
from cqbench.measure.programs import CLIENT, ROOT, Programs, inside
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.session import Session, say
from cqbench.run import builds, gate, journal
from cqbench.run.chosen import Unusable, check_programs, launch_of, order_of, save
from cqbench.run.end import conclude
from cqbench.run.journal import Facts, Journal
from cqbench.run.runner import Runner, facts_of

LOCAL_HOSTS = ("localhost", "127.", "[::1]", "unix:")


def new_folder(options: Options, experiment: Experiment) -> Path:
    """Raises click.ClickException."""
    parent = options.results or ROOT / "results"
    try:
        return storage.new_folder(parent, f"{experiment.name}-")
    except OSError as error:
        raise click.ClickException(
            f"no folder for results can be made in {parent}: {error.strerror}; --results DIR puts it elsewhere"
        ) from None


def open_manifest(
    options: Options,
    experiment: Experiment,
    placements: dict[str, cpus.Placement],
    launch: Launch | None,
    held: ExitStack,
) -> Journal:
    """A new folder's, which held gets, or the one to resume, which has been locked.

    Raises BadManifest, Busy, Unusable, click.ClickException, OSError.
    """
    if options.resume:
        return resume(options.resume, options, experiment)
    order, seed = order_of(options, experiment)
    save(options, experiment, order, seed)
    folder = new_folder(options, experiment)
    held.enter_context(locked(folder))
    return Journal.new(folder, experiment, order, seed, *facts_for(experiment, placements, launch))


def facts_for(
    experiment: Experiment, placements: dict[str, cpus.Placement], launch: Launch | None = None
) -> tuple[dict[str, Any], Facts]:
    """Returns what a new manifest says about all runs, and about those of each configuration."""
    fixed = {
        **dict(here()),
        "placements": {c.name: plan.where(c, placements[c.name]) for c in experiment.configurations},
        "notes": [*notes(experiment, placements), *ranks.notes(launch, experiment)],
        "ranks": launch.to_json() if launch else None,
        "hashes": sums.FILE,
    }
    return fixed, facts_of(experiment, placements, launch)


def resume(folder: Path, options: Options, experiment: Experiment) -> Journal:
    """Order, seed and repetitions are the manifest's. folder: locked. Raises BadManifest, Unusable, OSError."""
    begun = journal.read(folder)
    for key in ("repetitions", "seed"):
        given, then = getattr(options, key), getattr(begun, key)
        if given is not None and given != then:
            raise Unusable(f"argument --{key}: {given} is not what {folder} was begun with: {then}")
    return go_on(folder, experiment)


def go_on(folder: Path, experiment: Experiment, who: str = "") -> Journal:
    """With what was begun there. who: begins the notes. Raises BadManifest, OSError."""
    begun = Journal.load(folder, experiment)
    if begun.manifest.note:
        say(f"{who}note: {begun.manifest.note}")
    begun.find_done()
    sums.remove(folder)
    begun.manifest.hashes = sums.FILE
    if changed := begun.note_resumed(here()):
        say(f"{who}note: not as it was when this began: {', '.join(changed)}; the manifest says so")
    return begun


def notes(experiment: Experiment, placements: dict[str, cpus.Placement]) -> list[str]:
    """Returns notes for the reader about the machine."""
    found = [note for p in placements.values() for note in p.notes]
    hosts = {c.host for c in experiment.configurations}
    if any(host.startswith(LOCAL_HOSTS) for host in hosts) and not os.environ.get("CLIENT_CPUS"):
        found.append("that server is on this machine; set CLIENT_CPUS to CPUs that it does not use")
    if "" not in hosts and os.environ.get("SERVER_CPUS"):
        found.append("SERVER_CPUS is not used: no server is started here")
    return list(dict.fromkeys(found))


def check_host(
    experiment: Experiment,
    placements: dict[str, cpus.Placement],
    programs: Programs,
    interrupt: Interrupt,
    unmet: Collection[str],
) -> int:
    """Where all configurations use one server that is there already, one that cannot be used is said once, not by each.

    unmet: configurations that are not run. The exit status when it cannot, else 0.
    """
    run = [c for c in experiment.configurations if c.name not in unmet]
    configuration = min(run, key=lambda c: inside(c.client_build))
    if not configuration.host or any(c.host != configuration.host for c in experiment.configurations):
        return 0
    client = programs.command(configuration.client_build, experiment.program(CLIENT), configuration.client_env)
    pinned = cpus.pinned(client, placements[configuration.name].client)
    done = Session(interrupt).probe(pinned, configuration.host, certs.tls_flags(configuration.client_flags))
    if done.returncode == 0 or interrupt.signum:
        return 0
    say(f"the server at {configuration.host} cannot be used: {done.complaint()}")
    return 2 if done.returncode == 2 else 1


def check_mpi(launch: Launch | None, experiment: Experiment, programs: Programs, unmet: Collection[str]) -> None:
    """Raises Unusable: a build does not have the client that the launcher needs. unmet: configurations that are not
    run."""
    program = f"{CLIENT}{launch.program}" if launch else CLIENT
    run = [c for c in experiment.configurations if c.name not in unmet and not inside(c.client_build)]
    without = next((c.client_build for c in run if programs.missing(program, build=c.client_build)), "")
    if launch and launch.program and without:
        raise Unusable(
            f"{programs.origin(without)}: '{programs.folder(without)}' has no program {program}, which "
            f"{launch.launcher} needs: it is built where MPI is (libopenmpi-dev); --launcher none does without"
        )


def announce(
    experiment: Experiment, placements: dict[str, cpus.Placement], begun: Journal, launch: Launch | None = None
) -> None:
    """Says what will be run, where, and for how long."""
    say(f"{experiment.name}: {experiment.title}")
    say(experiment.question)
    say(plan.size(experiment, begun.manifest.repetitions or 1))
    for text in dict.fromkeys(plan.where(c, placements[c.name]) for c in experiment.configurations):
        say(text)
    for note in [*notes(experiment, placements), *ranks.notes(launch, experiment)]:
        say(f"note: {note}")
    others = busy.remark(tuple({cpu for p in placements.values() for cpu in (*p.server, *p.client)}))
    if others:
        say(f"note: {others}")
    for build, of in (begun.manifest.builds or {}).items():
        versions = dict.fromkeys(program.version for program in of.programs.values())
        say(f'build "{build}": {of.folder}: {", ".join(versions)}')
    for reason, configurations in begun.ruled_out().items():
        say(f"not run: {', '.join(configurations)}: {reason}")
    left, done, runs = len(begun.left()), len(begun.done()), len(begun.order())
    if left < runs:
        seconds = left * plan.run_seconds(experiment)
        already = f"{done} of {runs} runs are there already; " if done else ""
        say(f"{already}about {layout.duration(seconds)} for the rest")
    say(f"results: {begun.folder}")


def run(options: Options, experiment: Experiment, placements: dict[str, cpus.Placement]) -> int:
    """The exit status. Raises BadManifest, Busy, Unusable, OSError."""
    launch = launch_of(options, experiment)
    interrupt = Interrupt()
    programs = gate.programs_of(options)
    limit = gate.limit_of(options, programs)
    check_programs(experiment, placements, programs, bool(options.vary))
    unmet = needs.check(experiment, programs)
    check_mpi(launch, experiment, programs, unmet)
    status = check_host(experiment, placements, programs, interrupt, unmet)
    if status:
        return status
    if interrupt.signum:
        say("interrupted before anything was measured")
        return interrupt.exit_code
    with ExitStack() as held:
        begun = open_manifest(options, experiment, placements, launch, held)
        if changed := builds.note(begun, experiment, programs, unmet):
            raise Unusable(changed)
        begun.rule_out(unmet)
        announce(experiment, placements, begun, launch)
        begun.write()
        try:
            with certs.certificates(experiment, begun.folder) as place:
                Runner(experiment, placements, replace(programs, certs=place), begun, interrupt, launch).run()
        except certs.NoCertificates as error:
            raise Unusable(str(error)) from None
        status = conclude(begun, experiment, interrupt)
        judged = gate.judge(begun.folder, limit) if programs.builds and not interrupt.signum else 0
        return status or judged
