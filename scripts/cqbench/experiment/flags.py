"""Asks both programs whether they take the flags of each configuration (--check), before anything is run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from cqbench.experiment import plan
from cqbench.experiment.spec import Configuration, Experiment
from cqbench.formats.text import one_line
from cqbench.measure import cpus, group
from cqbench.measure.programs import Programs

CHECK = "--check"
BAD_USAGE = 2
ANSWER_TIMEOUT_S = 20
Command = tuple[str, ...]


def problems(experiment: Experiment, placements: dict[str, cpus.Placement], programs: Programs) -> list[str]:
    """A line each, with its configurations. A program that cannot be asked has none: running it will tell."""
    answers: dict[Command, str] = {}
    found: dict[str, list[str]] = {}
    for configuration in experiment.configurations:
        for command in _commands(experiment, configuration, placements[configuration.name], programs):
            if command not in answers:
                answers[command] = ask(command)
            if answers[command]:
                found.setdefault(answers[command], []).append(configuration.name)
    return [
        f"{experiment.name}: {_names(names, len(experiment.configurations))}: {said}" for said, names in found.items()
    ]


def _commands(
    experiment: Experiment, configuration: Configuration, placement: cpus.Placement, programs: Programs
) -> list[Command]:
    numbers = ",".join(f"{load.number:.12g}" for load in experiment.loads)
    host = configuration.host or "localhost:1"
    to, control = Path(os.devnull), "localhost:1" if configuration.asked_elsewhere else ""
    client = plan.client_command(experiment, configuration, placement, programs, numbers, host, to, control=control)
    ours = not configuration.host and not configuration.server_program
    server = [*plan.server_command(experiment, configuration, placement, programs), "--port", "0"] if ours else []
    return [(*command, CHECK) for command in (client, server) if command]


def ask(command: Command) -> str:
    """Returns the program's error about the flags; '' if it accepts them, or has no --check."""
    try:
        done = group.ask(command, ANSWER_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError):
        return ""
    said = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "")
    return "" if done.returncode != BAD_USAGE or f" {CHECK}: " in said else one_line(said, 400)


def _names(names: list[str], of: int) -> str:
    if len(names) == of > 1:
        return f"all {of} configurations"
    return f"configuration{'s' if len(names) > 1 else ''} {', '.join(names)}"
