"""An experiment whose client is several processes: what the command line says of them, whether they can be started for
it, and a run of it.
"""

from __future__ import annotations

import os
import shlex
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cqbench.experiment.order import PlannedRun
from cqbench.experiment.override import Options
from cqbench.experiment.spec import BadExperiment, Configuration, Experiment
from cqbench.formats.manifest import RunRecord
from cqbench.formats.text import format_cpus
from cqbench.measure.cpus import Placement
from cqbench.measure.processes import Finished, Interrupt
from cqbench.measure.ranks import hosts, launch, template
from cqbench.measure.ranks.hosts import HERE, BadHosts
from cqbench.measure.ranks.launch import MPIRUN, NONE, SRUN, Launch
from cqbench.measure.ranks.template import HOST
from cqbench.run import together

KEY = "ranks"  # in the manifest: what was asked for; in its runs: in words
FOLDER = "ranks"  # in the folder of results: each run's rank files
AGREE_S = 45.0  # starting on other machines, and agreeing on a window; more than what ranks wait for each other
NEED_RANKS = ("hosts", "launcher", "launch", "client_cpus", "server_address")  # options that need --ranks


def asked(options: Options) -> Launch | None:
    """None for a single client. Raises BadExperiment."""
    if options.ranks is None:
        for name in NEED_RANKS:
            if value := getattr(options, name):
                flag = name.replace("_", "-")
                raise BadExperiment(f"argument --{flag}: '{value}' is not accepted without --ranks")
        return None
    launcher = options.launcher or _default(options)
    placed = _placed(options, launcher)
    elsewhere = any(host != HERE for host in placed)
    if options.launch and launcher != NONE:
        raise BadExperiment(f"argument --launch: '{options.launch}' is not accepted with --launcher {launcher}")
    if launcher == NONE and elsewhere and HOST not in (options.launch or ""):
        raise BadExperiment(
            f"argument --hosts: '{options.hosts}' needs --launch with {HOST} in it, such as 'ssh {HOST}', "
            f"with --launcher {NONE}"
        )
    address = options.server_address or (socket.gethostname() if elsewhere else "")
    cpus = tuple(options.client_cpus.split(";")) if options.client_cpus else ()
    return Launch(placed, launcher, cpus, options.launch or "", address)


def _default(options: Options) -> str:
    if options.launch or not (options.hosts or os.environ.get("SLURM_JOB_ID")):
        return NONE
    return SRUN if os.environ.get("SLURM_JOB_ID") else MPIRUN


def _placed(options: Options, launcher: str) -> tuple[str, ...]:
    count = options.ranks or 1
    try:
        if options.hosts:
            return hosts.parse(options.hosts, count)
        names = hosts.of_slurm() if launcher != NONE else ()
        return hosts.parse(",".join(names[:count]), count) if names else (HERE,) * count
    except BadHosts as error:
        raise BadExperiment(f"argument --hosts: {error}") from None


def check(of: Launch | None, experiment: Experiment) -> None:
    """Raises BadExperiment: this experiment cannot be run so."""
    if of is None:
        return
    if why := template.why_not(of.template):
        raise BadExperiment(f"argument --launch: '{of.template}' {why}")
    if experiment.searches:
        raise BadExperiment(
            f"argument --ranks: '{experiment.name}' searches a rate, which each rank would do by itself"
        )
    if experiment.count_allocations and of.launcher != NONE:
        raise BadExperiment(f"argument --launcher: '{of.launcher}' has no counting client: {NONE} is accepted")
    if faulty := next((c for c in experiment.configurations if c.fault), None):
        raise BadExperiment(f"argument --ranks: {of.count} is not accepted: configuration '{faulty.name}' has a fault")
    for configuration in experiment.configurations:
        if why := _against(of, configuration):
            raise BadExperiment(
                f"argument --ranks: {of.count} is not accepted for configuration '{configuration.name}': {why}"
            )


def _against(of: Launch, configuration: Configuration) -> str:
    flag = next((word for word in configuration.client_flags if word.partition("=")[0] in launch.BY_ITSELF), "")
    if flag:
        return f"its {flag} goes by what one process sees"
    if configuration.build != "release" and (of.launcher != NONE or any(host != HERE for host in of.hosts)):
        return f"its client is of the build '{configuration.build}', which is on this machine alone and without MPI"
    elsewhere = of.server_address and not configuration.host
    if elsewhere and configuration.added_rtt_ms is not None:
        return "its proxy is reached from this machine only"
    if elsewhere and configuration.connect == "http":
        return "its HTTP port is reached from this machine only"
    if elsewhere and configuration.server_program:
        return (
            f"its server {configuration.server_program} listens where it does; --host names one that is there already"
        )
    return ""


def notes(of: Launch | None, experiment: Experiment) -> list[str]:
    """Returns notes for the reader about how clients are started."""
    if of is None:
        return []
    here = sum(host == HERE for host in of.hosts)
    cpus = len(os.sched_getaffinity(0))
    found = [f"client processes: {of.words}"]
    if here > cpus:
        found.append(f"{here} client processes on {cpus} CPUs of this machine take time from each other")
    if of.launcher == MPIRUN and os.geteuid() == 0:
        found.append("mpirun is told --allow-run-as-root, as this runs as root")
    fewest = min((int(load.number) for load in experiment.loads if not load.open), default=of.count)
    if fewest < of.count:
        found.append(f"with fewer calls in flight than {of.count} there are as many client processes as calls")
    return found


def server_flags(of: Launch | None, configuration: Configuration) -> list[str]:
    """For a server that other machines reach."""
    return ["--host", "0.0.0.0"] if of and of.server_address and not configuration.server_program else []


def target(of: Launch | None, host: str, configuration: Configuration) -> str:
    """Where the clients find a server that is started here. host: as it says where it listens."""
    return (
        f"{of.server_address}:{host.rpartition(':')[2]}"
        if of and of.server_address and not configuration.host
        else host
    )


def measure(
    of: Launch,
    planned: PlannedRun,
    build: str,
    client: list[str],
    placement: Placement,
    folder: Path,
    path: Path,
    merger: Path,
    record: RunRecord,
    interrupt: Interrupt,
    patience_s: float,
    tick: Callable[[float], None],
) -> Finished:
    """A run. build: the client's. client: not pinned, without --output. folder: for rank files, which is there and
    empty. path: of the merged result. merger: the program that merges. Notes in the record how it was started. Raises
    OSError.
    """
    now = of.at(planned.load)
    if not now.cpus and placement.client and not any(now.hosts):
        now = replace(now, cpus=(format_cpus(placement.client),))
    elsewhere = build == "sid"  # it does not see our folders, but one that scripts/newgrpc.sh shows it
    shown = ["env", f"CQBENCH_SID_SHARED={folder.resolve()}"] if elsewhere else []
    commands = launch.commands(now, [*shown, *client], folder, "/cqbench/shared" if elsewhere else "")
    record.client_command = shlex.join(commands[0])
    done = together.run_all(commands, folder, interrupt, patience_s + AGREE_S, tick, now.interrupt)
    merged = together.collect(merger, folder, path, now.pinned())
    problem = together.complaint(now, done) or merged
    stderr = "\n".join(one.stderr for one in done if one.returncode or one.why)
    return Finished(1 if problem else 0, "", stderr, problem)
