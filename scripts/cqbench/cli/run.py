"""cqbench run: its command line."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import click
from click.core import ParameterSource

from cqbench.cli import common
from cqbench.experiment import needs, override, ranks, reference
from cqbench.experiment.fields import MAX_BUDGET_S, MAX_REPETITIONS
from cqbench.experiment.needs import Unmet
from cqbench.experiment.override import Options
from cqbench.experiment.spec import BadExperiment
from cqbench.measure import cpus
from cqbench.measure.lock import Busy, locked
from cqbench.measure.ranks.launch import LAUNCHERS, MAX_RANKS
from cqbench.options import INFLIGHT_LIST, RATE_LIST, Refused, Value, percentage, seconds, whole
from cqbench.run import chosen, gate, start
from cqbench.run.chosen import Unusable
from cqbench.run.journal import BadManifest


def act(options: Options) -> int:
    """The exit status. Raises what command() reports."""
    if options.list:
        chosen.list_shipped()
        return 0
    if options.template or options.keys:
        click.echo(reference.TEMPLATE if options.template else reference.keys(), nl=False)
        return 0
    only_asked = options.needs or options.plan
    with locked(options.resume) if options.resume and not only_asked else nullcontext():
        return _act(options)


def _act(options: Options) -> int:
    """With the folder that is to be resumed."""
    experiment = chosen.experiment_of(options)
    placements = chosen.placements_for(experiment)
    if options.needs:
        found = ranks.asked(options)
        click.echo("\n".join([*needs.lines(experiment), *(["MPI client"] if found and found.program else [])]))
        return 0
    if options.plan:
        chosen.show_plan(options, experiment, placements, gate.programs_of(options))
        return 0
    return start.run(options, experiment, placements)


def _launcher(text: str) -> str:
    if text not in LAUNCHERS:
        raise ValueError(f"one of {', '.join(LAUNCHERS)}")
    return text


def _cpu_lists(text: str) -> str:
    """Checks only the form of the list, which may be for other machines."""
    if not re.fullmatch(r"(\d{1,5}(-\d{1,5})?[,;])*\d{1,5}(-\d{1,5})?", text, re.ASCII):
        raise ValueError("lists of CPUs such as 0-1 or 0-1;2,3")
    return text


@click.command()
@click.option(
    "--vary",
    metavar="NAME=V1,V2,...",
    multiple=True,
    help="Your own case instead of an experiment: a flag of the client, server:FLAG, or a variable, env:NAME of the "
    "client, server-env:NAME of the server, with each of these values; several are a product. build, client-build and "
    "server-build: builds of both programs or of one, each NAME of build/NAME/bin or a folder with a '/' in it. Flags "
    "of the client follow after --. Divide by ';' where a value has a comma.",
)
@click.option("--server-flags", metavar="FLAGS", help="Flags of all servers, with --vary.")
@click.option("--save", metavar="FILE.toml", type=common.PATH, help="New file for what is run.")
@click.option("--repetitions", type=whole(1, MAX_REPETITIONS), help="Repetitions, instead of the file's.")
@common.SEED
@click.option("--inflight", "--inflight-list", type=INFLIGHT_LIST, help="Calls in flight, instead of the file's.")
@click.option("--rate", "--rate-list", type=RATE_LIST, help="Calls per second, an open loop, instead of the file's.")
@click.option("--warmup", type=seconds(0.001), help="Warm-up of each point, instead of the file's.")
@click.option("--interval", type=seconds(0.01), help="Measured time of each point, instead of the file's.")
@click.option(
    "--budget",
    type=seconds(1, MAX_BUDGET_S),
    help="Time for all runs: what the verdict leaves inconclusive after the file's repetitions is measured again and "
    "again, until all is decided or this time is over. Not with --repetitions. With --resume: more time.",
)
@click.option(
    "--margin", type=percentage(100, 1), help="Smaller differences do not count; declared beforehand (default 10%)."
)
@click.option(
    "--count-allocations",
    is_flag=True,
    default=None,
    help="Count allocations per call: the counting programs run, with a pass after each measured point.",
)
@click.option(
    "--host",
    type=override.HOST,
    help="Address of a running server; no server is started. For experiments that vary the client only (default port "
    "2137).",
)
@click.option("--ranks", type=whole(1, MAX_RANKS), help="Number of client processes, which measure together.")
@click.option(
    "--hosts",
    metavar="A,B:4|@FILE",
    help="Client machines with --ranks, with the number of processes on each; @FILE: one on a line ('a slots=4'). The "
    "server is on this machine (default in a Slurm job: the other machines of the job).",
)
@click.option(
    "--launcher",
    type=Value("|".join(LAUNCHERS), _launcher),
    help="Starter of the client processes: srun (default in a Slurm job), mpirun (default with --hosts), or none: each "
    "by itself, agreeing through files.",
)
@click.option(
    "--launch",
    metavar="COMMAND",
    help="Command before each client's command with --launcher none, such as 'timeout 60 ssh {host}'. With ssh, rsh, "
    "pdsh or the like the client's command is quoted for the remote shell; {command} stands for it as one word: "
    "'my-remote {host} {command}'.",
)
@click.option(
    "--client-cpus",
    metavar="LIST[;LIST...]",
    type=Value("LIST[;LIST...]", _cpu_lists),
    help="CPUs of a machine's client processes in turn, with --ranks: '0-1;2-3'.",
)
@click.option(
    "--server-address",
    metavar="NAME",
    help="Address of this machine's server for the machines of --hosts (default its host name).",
)
@click.option(
    "--gate",
    nargs=2,
    metavar="BEFORE_BIN AFTER_BIN",
    type=common.PATH,
    help="Two folders of programs, instead of --bin: both builds are measured in turns at every point of the "
    "experiment. Exit status 1 if the build after is slower, 3 if that is inconclusive. Nothing is installed or built.",
)
@click.option(
    "--fail-if-slower",
    type=percentage(100),
    help=f"Limit of --gate, as that of cqbench compare (default: {gate.LIMIT_PERCENT:g}%).",
)
@common.RESULTS
@common.RESUME
@common.BIN
@common.PLAN
@click.option("--list", is_flag=True, help="List the experiments with the question each answers.")
@click.option("--template", is_flag=True, help="Print a file to begin with.")
@click.option("--keys", is_flag=True, help="Print every key of a file with its type and default.")
@click.option("--needs", is_flag=True, hidden=True)  # for the script: what it has to build and install
@click.argument("words", nargs=-1, metavar="NAME|FILE.toml|[-- CLIENT FLAGS]")
def command(**given: Any) -> int:
    """Run an experiment: configurations of client and server, repeated, side by side; then verdict and report.

    NAME: one of scripts/experiments/, such as headline (scripts/bench.sh) or ydb-full (scripts/bench.sh --full); or a
    file of your own (--template, --keys); or your own case in one command:

    \b
      cqbench run --vary channel-policy=shared,pool:2,pool:4 --inflight 16 \\
          -- --api callback --workload echo --response-bytes 1KiB

    In each repetition the loads come in random order, and at each load all configurations, one right after the other,
    each with a fresh server and client; those that differ in the last axis (the last --vary) only are neighbours.
    Without flags --vary measures 1, 4 and 16 in flight, 200ms + 1s, seven times. Durations are seconds, or have a
    unit: 500ms, 2s, 1m.

    Environment: SERVER_CPUS, CLIENT_CPUS: CPUs for either side, such as 0-3,8, for configurations without a pinning of
    their own (default: as the experiment says, or different NUMA nodes, or different cores). CQBENCH_TOXIPROXY: a
    toxiproxy-server to use for experiments with a slower network.

    Results: results/<name>-<date>-<time>/ with raw/<configuration>/<repetition>-<load>.json, logs/, manifest.json, and
    made from them summary.txt (medians), results.csv (all points), verdict.txt, verdict.json, report.html. No result is
    overwritten: a run that is repeated leaves its old file next to the new one, as NN-LOAD.json.1.

    Ctrl-C keeps what was measured and ends with verdict and report of that, marked partial. Exit status: 0; 1 a run
    failed, nothing could be started, or verdict or report could not be made, or the gate is closed; 2 usage or a bad
    file; 3 the gate is inconclusive; 130 interrupted.

    \b
      cqbench run headline --repetitions 10 --gate main/bin branch/bin --fail-if-slower 5%

    For CI: --gate adds an axis 'build', of which before and after are neighbours, so what slows the machine slows both.
    An experiment with a budget needs --repetitions: a gate looks once.

    With --ranks, in-flight counts and rates are divided among the client processes. The server runs on this machine.
    The folder of results and the programs must be on a file system that all machines see; each process's own file stays
    in ranks/ of the folder of results.
    """
    options = Options(**given)
    asked = click.get_current_context().get_parameter_source("bin")
    if options.gate and asked is ParameterSource.COMMANDLINE:
        raise click.UsageError(f"argument --bin: '{options.bin}' is not accepted with --gate, which names two folders")
    if options.resume and (options.results or options.save):
        flag, value = ("results", options.results) if options.results else ("save", options.save)
        raise click.UsageError(f"argument --{flag}: '{value}' is not accepted with --resume, which names the folder")
    if options.budget is not None and options.repetitions is not None:
        raise click.UsageError(
            f"argument --budget: '{options.budget:g}' is not accepted with --repetitions, which says how many there are"
        )
    try:
        return act(options)
    except (BadExperiment, BadManifest, Unusable, Unmet, Busy, cpus.BadCpuList) as error:
        raise Refused(str(error)) from None
