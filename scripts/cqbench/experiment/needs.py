"""Requirements of an experiment other than the two programs: other builds, a proxy, a gRPC that is new enough.

All of them are checked before anything is measured.
"""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache, partial

from cqbench.experiment import faults
from cqbench.experiment.plan import server_program
from cqbench.experiment.spec import Experiment
from cqbench.formats.text import one_line
from cqbench.measure import group, sockets, toxiproxy
from cqbench.measure.programs import AFTER, BEFORE, SID, Programs, inside

ANSWER_TIMEOUT_S = 60  # the sid build's mounts a file system first


class Unmet(ValueError):
    """Nothing of the experiment can be run; the text is one line."""


def lines(experiment: Experiment) -> list[str]:
    """For experiment.sh, which installs and builds it.

    A line each: 'build NAME' (not of one that is a folder), 'program PATH', 'counting programs', 'toxiproxy VERSION
    FOLDER'; command.py adds 'MPI client'.
    """
    found = [f"build {name}" for name in sorted(_builds(experiment) - {BEFORE, AFTER}) if "/" not in name]
    found += [f"program {path}" for path in sorted({c.server_program for c in experiment.configurations} - {""})]
    if experiment.count_allocations:
        found.append("counting programs")
    if _proxied(experiment) and not os.environ.get(toxiproxy.VARIABLE):
        found.append(f"toxiproxy {toxiproxy.VERSION} {toxiproxy.FOLDER}")
    return found


def check(experiment: Experiment, programs: Programs) -> dict[str, str]:
    """By name, the configurations that cannot be run with what is at hand, each with the reason. Raises Unmet."""
    proxied = _proxied(experiment)
    if proxied and not os.access(programs.toxiproxy, os.X_OK):
        where = toxiproxy.VARIABLE if os.environ.get(toxiproxy.VARIABLE) else "toxiproxy"
        raise Unmet(
            f"{where}: '{programs.toxiproxy}' is not a program, and configuration '{proxied[0]}' needs the proxy for "
            f"its network; scripts/experiment.sh without --bin installs it, or set {toxiproxy.VARIABLE} to a "
            f"toxiproxy-server"
        )
    unmet = {**_without_build(experiment, programs), **_without_program(experiment), **_out_of_hold(experiment)}
    if len(unmet) == len(experiment.configurations):
        reasons = "; ".join(dict.fromkeys(unmet.values()))
        raise Unmet(f"{experiment.name}: no configuration can be run: {reasons}")
    return unmet


def _proxied(experiment: Experiment) -> list[str]:
    return [c.name for c in experiment.configurations if c.proxied]


def _out_of_hold(experiment: Experiment) -> dict[str, str]:
    """By configuration with a fault of one connection, why that cannot be made here."""
    need = [c.name for c in experiment.configurations if c.fault and c.fault.kind in faults.SOCKETS]
    why = sockets.why_not() if need else ""
    return dict.fromkeys(need, f"another process's socket cannot be taken hold of: {why}") if why else {}


def _without_program(experiment: Experiment) -> dict[str, str]:
    """By configuration, which server is not there."""
    own = [c for c in experiment.configurations if c.server_program]
    return {v.name: f"there is no program {v.server_program}" for v in own if not os.access(server_program(v), os.X_OK)}


def _builds(experiment: Experiment) -> set[str]:
    return {build for c in experiment.configurations for build in c.builds}


def _without_build(experiment: Experiment, programs: Programs) -> dict[str, str]:
    """By configuration, why one of its builds does not do. Builds that options name were looked for before."""
    version = cache(partial(_grpc_version, programs))
    unmet: dict[str, str] = {}
    for configuration in experiment.configurations:
        for build, names in configuration.builds.items():
            known = build in (SID, *programs.given)
            missing = "" if known else programs.missing(*map(experiment.program, names), build=build)
            why = f'build "{build}": there is no program {missing}' if missing else ""
            if not why and (configuration.needs_grpc or inside(build)):
                why = _too_old(configuration.needs_grpc, build, *version(build, names[-1]))
            if why:
                unmet.setdefault(configuration.name, why)
    return unmet


def _too_old(needed: str, build: str, version: str, why: str) -> str:
    """One line if the build has an older gRPC than needed, or why its version is unknown; else ''."""
    if why:
        head = f"needs gRPC {needed}, and " if needed else ""
        make = "; scripts/newgrpc.sh makes it (root, Debian)" if build == SID else ""
        return f'{head}build "{build}" {why}{make}'
    if needed and _numbers(version) < _numbers(needed):
        return f'needs gRPC {needed}, this is {version} (build "{build}")'
    return ""


def _grpc_version(programs: Programs, build: str, program: str) -> tuple[str, str]:
    """Returns the gRPC version of a build's program: '1.83.0', or '' and why it is unknown."""
    command = [*programs.command(build, program, ()), "--version"]
    try:
        done = group.ask(command, ANSWER_TIMEOUT_S)
    except (OSError, subprocess.SubprocessError) as error:
        return "", f"cannot be run: {one_line(str(error))}"
    found = re.search(r"\(gRPC (\d+\.\d+\.\d+)", done.stdout)
    if done.returncode == 0 and found:
        return found[1], ""
    said = next((line for line in reversed((done.stderr.strip() or done.stdout).splitlines()) if line.strip()), "")
    return "", f"does not say which it has: {one_line(said) or f'exit status {done.returncode}'}"


def _numbers(version: str) -> tuple[int, ...]:
    """'1.83.0' -> (1, 83, 0), which is not less than the (1, 83) of '1.83'."""
    return tuple(map(int, version.split(".")))
