"""The choice of what is run, and where: by a name, a file, --vary or a folder, as the flags want it."""

from __future__ import annotations

import os
from pathlib import Path

from cqbench.experiment import flags, gate, override, plan, ranks, spec, vary
from cqbench.experiment.order import PlannedRun, draw_seed, make_order
from cqbench.experiment.override import Options
from cqbench.experiment.spec import Experiment
from cqbench.formats.manifest import FILE
from cqbench.measure import cpus
from cqbench.measure.programs import AFTER, BEFORE, SCRIPTS, Programs
from cqbench.measure.ranks import launch as launches
from cqbench.measure.ranks.launch import Launch
from cqbench.measure.session import say
from cqbench.run import builds, journal

SHIPPED = SCRIPTS / "experiments"


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
    found = override.apply(found, options)
    return gate.apply(found) if options.gate else found


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


def check_programs(
    experiment: Experiment, placements: dict[str, cpus.Placement], programs: Programs, typed: bool = False
) -> None:
    """typed: see builds.refusal(). Raises Unusable: a program is not there, or does not take what a configuration
    says."""
    named = ((build, c.name) for c in experiment.configurations for build in c.builds)
    for build, name in named:
        if build in (BEFORE, AFTER) and build not in programs.builds:
            raise Unusable(f"{experiment.name}: the build '{build}' of configuration '{name}' needs --gate")
    if why := builds.refusal(experiment, programs, typed):
        raise Unusable(why)
    if found := flags.problems(experiment, placements, programs):
        raise Unusable("\n".join(found))


def launch_of(options: Options, experiment: Experiment) -> Launch | None:
    """The command line's; of a folder that is resumed, what that was begun with. Raises BadExperiment, Unusable."""
    found = ranks.asked(options)
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
    ranks.check(found, experiment)
    return found


def show_plan(
    options: Options, experiment: Experiment, placements: dict[str, cpus.Placement], programs: Programs
) -> None:
    """--plan. Raises Unusable."""
    absent = builds.absent(experiment, programs)
    for build, names in absent.items():
        of = "" if build in programs.given else f' of build "{build}"'
        say(f"note: the flags{of} are not checked: there is no {programs.missing(*names, build=build)} yet")
    if not {*absent} & {*programs.given}:
        check_programs(experiment, placements, programs)
    order, seed = order_of(options, experiment)
    save(options, experiment, order, seed)
    for note in ranks.notes(launch_of(options, experiment), experiment):
        print(f"note: {note}")
    print(plan.describe(experiment, order, seed, placements, programs), end="")
