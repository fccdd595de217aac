"""Finds an experiment, looks whether it can be run here, begins or resumes its folder, and runs it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cqbench.experiment import certs, flags, needs, override, plan, spec, vary
from cqbench.experiment.order import PlannedRun, draw_seed, make_order
from cqbench.experiment.override import Options
from cqbench.experiment.spec import Experiment
from cqbench.formats import storage
from cqbench.formats.manifest import FILE, Place
from cqbench.measure import busy, cpus, layout
from cqbench.measure.lock import locked
from cqbench.measure.machine import machine
from cqbench.measure.processes import Interrupt
from cqbench.measure.processes import run as run_process
from cqbench.measure.programs import CLIENT, ROOT, SCRIPTS, SERVER, Programs
from cqbench.measure.ranks import launch as launches
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.session import say
from cqbench.run import journal, ranked
from cqbench.run.end import conclude
from cqbench.run.journal import Facts, Journal
from cqbench.run.runner import Runner, facts_of

SHIPPED = SCRIPTS / "experiments"
LOCAL_HOSTS = ("localhost", "127.", "[::1]", "unix:")
# One short point on a server that is there already. The interval holds a call over the slowest network.
CHECK = ("--inflight", "1", "--warmup", "0.05", "--interval", "0.5")
CHECK_PATIENCE_S = 30.0


class Unusable(ValueError):
    """The experiment cannot be run; the text has a line for each reason."""


def shipped() -> dict[str, Path]:
    """Name -> file."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def find(name: str) -> Path:
    """Raises Unusable."""
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    known = shipped()
    if name not in known:
        raise Unusable(f"'{name}' is not an experiment: {', '.join(known)} or a FILE.toml is accepted")
    return known[name]


def experiment_of(options: Options) -> Experiment:
    """By its name, its file, --vary, or the folder to resume; as the flags want it. Raises BadExperiment, Unusable."""
    words = list(options.words)
    if options.vary:
        found = spec.make(vary.tables(options.vary, words, options.server_flags or ""), "--vary")
    elif len(words) > 1:
        raise Unusable(
            f"argument NAME: '{words[1]}' is not accepted behind '{words[0]}'; flags of the client need --vary"
        )
    elif words:
        found = spec.load(find(words[0]))
    elif options.resume:
        found = spec.make(journal.begun(options.resume), str(options.resume / FILE))
    else:
        raise Unusable("which experiment? NAME, FILE.toml or --vary is missing; --list shows the names")
    if options.server_flags is not None and not options.vary:
        raise Unusable(f"argument --server-flags: '{options.server_flags}' is not accepted without --vary")
    return override.apply(found, options)


def order_of(options: Options, experiment: Experiment) -> tuple[list[PlannedRun], int]:
    """With its seed: the command line's, the file's, or one that is drawn."""
    given = experiment.seed if options.seed is None else options.seed
    seed = draw_seed() if given is None else given
    names = [configuration.name for configuration in experiment.configurations]
    return make_order(names, experiment.loads, options.repetitions or experiment.repetitions, seed), seed


def save(options: Options, experiment: Experiment, order: list[PlannedRun], seed: int) -> None:
    """--save. Raises Unusable."""
    if options.save is None:
        return
    try:
        vary.save(options.save, experiment.data, max(planned.repetition for planned in order), seed)
    except OSError as error:
        raise Unusable(f"argument --save: '{options.save}' cannot be written: {error.strerror}") from None
    say(f"saved: {options.save}")


def list_shipped() -> None:
    """--list. Raises BadExperiment."""
    for name, path in shipped().items():
        experiment = spec.load(path)
        print(f"{name}: {experiment.title}")
        print(f"    {experiment.question}")
        print(f"    {plan.size(experiment, experiment.repetitions)}")


def placements_for(experiment: Experiment) -> dict[str, cpus.Placement]:
    """By configuration. Raises cpus.BadCpuList."""
    here = cpus.read_machine()
    server, client = os.environ.get("SERVER_CPUS", ""), os.environ.get("CLIENT_CPUS", "")
    return {c.name: plan.place(experiment, c, here, server, client) for c in experiment.configurations}


def needed_programs(experiment: Experiment) -> list[str]:
    """Without those of the sid build, which its configurations look for themselves: the others go on."""
    ours = [c for c in experiment.configurations if c.build == "release"]
    names = [SERVER] * any(not v.host and not v.server_program for v in ours) + [CLIENT] * bool(ours)
    return [experiment.program(name) for name in names]


def check_programs(experiment: Experiment, placements: dict[str, cpus.Placement], programs: Programs) -> None:
    """Raises Unusable: one is not there, or does not take what a configuration says."""
    if why := programs.refusal(*needed_programs(experiment)):
        raise Unusable(why)
    if found := flags.problems(experiment, placements, programs):
        raise Unusable("\n".join(found))


def here() -> Place:
    """This machine, these variables, this source code."""
    environment = {k: v for k, v in sorted(os.environ.items()) if k.startswith("GRPC_")}
    return Place(git_revision=storage.git_revision(ROOT) or "", machine=machine(), environment=environment)


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
        "notes": [*notes(experiment, placements), *ranked.notes(launch, experiment)],
        "ranks": launch.to_json() if launch else None,
    }
    return fixed, facts_of(experiment, placements, launch)


def launch_of(options: Options, experiment: Experiment) -> Launch | None:
    """The command line's; of a folder that is resumed, what that was begun with. Raises BadExperiment, Unusable."""
    found = ranked.asked(options)
    if options.resume:
        told = journal.read(options.resume).ranks
        try:
            begun = launches.from_json(told) if told is not None else None
        except ValueError as error:
            raise Unusable(f"{options.resume / FILE}: {error}") from None
        if options.ranks is not None and found != begun:
            then = begun.words if begun else "one client"
            raise Unusable(f"argument --ranks: {options.ranks} is not what {options.resume} was begun with: {then}")
        found = begun
    ranked.check(found, experiment)
    return found


def resume(folder: Path, options: Options, experiment: Experiment) -> Journal:
    """Order, seed and repetitions are the manifest's. folder: locked. Raises BadManifest, Unusable, OSError."""
    begun = journal.read(folder)
    for key in ("repetitions", "seed"):
        given, then = getattr(options, key), getattr(begun, key)
        if given is not None and given != then:
            raise Unusable(f"argument --{key}: {given} is not what {folder} was begun with: {then}")
    return go_on(folder, experiment)


def go_on(folder: Path, experiment: Experiment, who: str = "") -> Journal:
    """With what was begun there. who: begins the notes. Raises BadManifest."""
    begun = Journal.load(folder, experiment)
    if begun.manifest.note:
        say(f"{who}note: {begun.manifest.note}")
    begun.find_done()
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
    experiment: Experiment, placements: dict[str, cpus.Placement], programs: Programs, interrupt: Interrupt
) -> int:
    """Where all configurations use one server that is there already, one that cannot be used is said once, not by each.

    The exit status when it cannot, else 0.
    """
    configuration = min(experiment.configurations, key=lambda c: c.build != "release")
    if not configuration.host or any(c.host != configuration.host for c in experiment.configurations):
        return 0
    client = programs.command(configuration.build, experiment.program(CLIENT), configuration.client_env)
    tls = certs.tls_flags(configuration.client_flags)
    command = cpus.pinned([*client, "--host", configuration.host, *tls, *CHECK], placements[configuration.name].client)
    done = run_process(command, interrupt, CHECK_PATIENCE_S)
    if done.returncode == 0 or interrupt.signum:
        return 0
    say(f"the server at {configuration.host} cannot be used: {done.complaint()}")
    return 2 if done.returncode == 2 else 1


def announce(
    experiment: Experiment, placements: dict[str, cpus.Placement], begun: Journal, launch: Launch | None = None
) -> None:
    """Says what will be run, where, and for how long."""
    say(f"{experiment.name}: {experiment.title}")
    say(experiment.question)
    say(plan.size(experiment, begun.manifest.repetitions or 1))
    for text in dict.fromkeys(plan.where(c, placements[c.name]) for c in experiment.configurations):
        say(text)
    for note in [*notes(experiment, placements), *ranked.notes(launch, experiment)]:
        say(f"note: {note}")
    others = busy.remark(tuple({cpu for p in placements.values() for cpu in (*p.server, *p.client)}))
    if others:
        say(f"note: {others}")
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
    programs = Programs(options.bin)
    program = f"{CLIENT}{launch.program}" if launch else ""
    if launch and launch.program and programs.missing(program):
        raise Unusable(
            f"argument --bin: '{programs.bin}' has no program {program}, which {launch.launcher} needs: it is built "
            f"where MPI is (libopenmpi-dev); --launcher none does without"
        )
    check_programs(experiment, placements, programs)
    unmet = needs.check(experiment, programs)
    status = check_host(experiment, placements, programs, interrupt)
    if status:
        return status
    if interrupt.signum:
        say("interrupted before anything was measured")
        return interrupt.exit_code
    with ExitStack() as held:
        begun = open_manifest(options, experiment, placements, launch, held)
        begun.rule_out(unmet)
        announce(experiment, placements, begun, launch)
        begun.write()
        try:
            with certs.certificates(experiment, begun.folder) as place:
                Runner(experiment, placements, replace(programs, certs=place), begun, interrupt, launch).run()
        except certs.NoCertificates as error:
            raise Unusable(str(error)) from None
        return conclude(begun, experiment, interrupt)


def show_plan(options: Options, experiment: Experiment, placements: dict[str, cpus.Placement]) -> None:
    """--plan. Raises Unusable."""
    programs = Programs(options.bin)
    if missing := programs.missing(*needed_programs(experiment)):
        say(f"note: the flags are not checked: there is no {programs.bin / missing} yet")
    else:
        check_programs(experiment, placements, programs)
    order, seed = order_of(options, experiment)
    save(options, experiment, order, seed)
    for note in ranked.notes(launch_of(options, experiment), experiment):
        print(f"note: {note}")
    print(plan.describe(experiment, order, seed, placements, programs), end="")
