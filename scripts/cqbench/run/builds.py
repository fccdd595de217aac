"""The builds of our programs that an experiment runs: are they there, and what does the manifest say of them?"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Iterator

from cqbench.experiment.spec import Experiment
from cqbench.formats import sums
from cqbench.formats.manifest import Build, BuiltProgram
from cqbench.formats.text import one_line
from cqbench.measure import group
from cqbench.measure.programs import DEFAULT, SID, Programs
from cqbench.run.journal import Journal

ANSWER_TIMEOUT_S = 60


def needed(experiment: Experiment, without: Collection[str] = ()) -> dict[str, list[str]]:
    """By build, the names of the programs that are run. without: configurations that are not."""
    found: dict[str, dict[str, None]] = {}
    for configuration in experiment.configurations:
        for build, names in configuration.builds.items() if configuration.name not in without else ():
            found.setdefault(build, {}).update(dict.fromkeys(map(experiment.program, names)))
    return {build: [*names] for build, names in found.items()}


def absent(experiment: Experiment, programs: Programs) -> dict[str, list[str]]:
    """By build, the names of its programs, where one of them is not there. Without the sid build, which newgrpc.sh
    looks for."""
    found = needed(experiment)
    return {b: names for b, names in found.items() if b != SID and programs.missing(*names, build=b)}


def refusal(experiment: Experiment, programs: Programs, typed: bool = False) -> str:
    """One line on a program that is not there; '' if none is missing. A build of a file that is not there leaves out
    its configurations instead: see needs.py. typed: the builds are those of the command line."""
    found = absent(experiment, programs)
    missing = (programs.refusal(*found[build], build=build) for build in found if typed or build in programs.given)
    return next(missing, "")


def note(begun: Journal, experiment: Experiment, programs: Programs, unmet: Collection[str]) -> str:
    """Notes the builds in the manifest, where there is another than the default. Returns one line if a program is not
    the one with which a resumed folder was begun; else ''. unmet: configurations that are not run. Raises OSError.
    """
    known = dict(begun.manifest.builds or {})
    for build, now in described(experiment, programs, unmet):
        before = known[build].programs if build in known else {}
        changed = next((name for name, one in now.programs.items() if before.get(name, one) != one), "")
        if changed:
            return (
                f"argument --resume: '{begun.folder}' is not accepted: the {changed} of the build {build}, in "
                f"{now.folder}, is not the one that was measured"
            )
        known[build] = now.model_copy(update={"programs": {**before, **now.programs}})
    begun.manifest.builds = known or None
    return ""


def described(experiment: Experiment, programs: Programs, unmet: Collection[str]) -> Iterator[tuple[str, Build]]:
    """Yields each build with the folder, hashes and versions of its programs. Raises OSError."""
    several = {*needed(experiment)} - {DEFAULT}
    for build, names in needed(experiment, unmet).items() if several else ():
        folder = programs.folder(build)
        there = [name for name in names if os.access(folder / name, os.X_OK)]
        told = {
            name: BuiltProgram(sha256=sums.of_file(folder / name), version=_version(programs.command(build, name)))
            for name in there
        }
        if told:
            yield build, Build(folder=str(folder), programs=told)


def _version(command: list[str]) -> str:
    """The program's first line of --version; '' where it does not say."""
    try:
        done = group.ask([*command, "--version"], ANSWER_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        return ""
    return one_line(done.stdout.partition("\n")[0]) if done.returncode == 0 else ""
