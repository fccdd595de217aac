"""Requirements of an experiment other than the two programs: other builds, a proxy, a gRPC that is new enough.

All of them are checked before anything is measured.
"""

from __future__ import annotations

import os
import re
import subprocess

from cqbench.experiment import faults
from cqbench.experiment.plan import server_program
from cqbench.experiment.spec import Experiment
from cqbench.formats.text import one_line
from cqbench.measure import group, sockets, toxiproxy
from cqbench.measure.programs import AFTER, BEFORE, Programs

ANSWER_TIMEOUT_S = 60  # the sid build's mounts a file system first


class Unmet(ValueError):
    """Nothing of the experiment can be run; the text is one line."""


def lines(experiment: Experiment) -> list[str]:
    """For experiment.sh, which installs and builds it.

    A line each: 'build NAME', 'program PATH', 'counting programs', 'toxiproxy VERSION FOLDER'; command.py adds
    'MPI client'.
    """
    found = [f"build {name}" for name in sorted({c.build for c in experiment.configurations} - {BEFORE, AFTER})]
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
    unmet = {**_too_old(experiment, programs), **_without_program(experiment), **_out_of_hold(experiment)}
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


def _too_old(experiment: Experiment, programs: Programs) -> dict[str, str]:
    """By configuration, why its client's gRPC does not do."""
    builds = sorted({c.build for c in experiment.configurations if c.needs_grpc})
    versions = {build: _grpc_version(programs, build) for build in builds}
    unmet = {}
    for configuration in experiment.configurations:
        if configuration.needs_grpc:
            version, why = versions[configuration.build]
            if not version:
                make = "; scripts/newgrpc.sh makes it (root, Debian)" if configuration.build == "sid" else ""
                unmet[configuration.name] = (
                    f'needs gRPC {configuration.needs_grpc}, and build "{configuration.build}" {why}{make}'
                )
            elif _numbers(version) < _numbers(configuration.needs_grpc):
                unmet[configuration.name] = (
                    f'needs gRPC {configuration.needs_grpc}, this is {version} (build "{configuration.build}")'
                )
    return unmet


def _grpc_version(programs: Programs, build: str) -> tuple[str, str]:
    """Returns the gRPC version of the build's client: '1.83.0', or '' and why it is unknown."""
    command = [*programs.command(build, "grpc_ping_client", ()), "--version"]
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
