"""Several client processes: what the command line says of them, and whether an experiment can be measured so."""

from __future__ import annotations

import os
import socket

from cqbench.experiment.override import Options
from cqbench.experiment.spec import BadExperiment, Configuration, Experiment
from cqbench.measure.programs import inside
from cqbench.measure.ranks import hosts, launch, template
from cqbench.measure.ranks.hosts import HERE, BadHosts
from cqbench.measure.ranks.launch import MPIRUN, NONE, SRUN, Launch
from cqbench.measure.ranks.template import HOST

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
    if inside(configuration.client_build) and (of.launcher != NONE or any(host != HERE for host in of.hosts)):
        return (
            f"its client is of the build '{configuration.client_build}', which is on this machine alone and without MPI"
        )
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
