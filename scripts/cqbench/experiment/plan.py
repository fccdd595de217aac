"""The plan of an experiment: its steps, their order, places, times and command lines. Starts nothing."""

from __future__ import annotations

import os
import shlex
import textwrap
from dataclasses import replace
from pathlib import Path

from cqbench.experiment import certs, faults
from cqbench.experiment.order import PlannedRun
from cqbench.experiment.spec import Configuration, Experiment
from cqbench.experiment.tables import CpuLists
from cqbench.measure import cpus, layout, toxiproxy
from cqbench.measure.programs import CLIENT, ROOT, SERVER, Programs, inside, with_variables

# Per run, in addition to warm-up and interval: server and client start, connect, drain and end. Measured: 90 ms.
RUN_OVERHEAD_S = 0.1
SEARCHED_POINTS = 50  # of a search for the highest rate, about
MAX_COUNTING_S = 1.0  # warm-up, and the same again, of the pass that counts allocations
WIDTH = 112
# Flags of grpc_ping_server for its HTTP front end. The server's own description is that of its gRPC side.
FRONT_FLAGS = (
    *("--http-threads", "--transcoder", "--backend", "--backend-target", "--backend-channels"),
    "--backend-channel-policy",
)
PROXY_NOTE = (
    "a proxy stands between client and server in some configurations: the client's connections and round-trip times "
    "are those of the hop to the proxy, where the added time is not seen; and the proxy, which takes the data of a "
    "connection one piece after the other, can itself be what limits one connection: compare with the configurations "
    "that add 0 ms"
)


def server_program(configuration: Configuration) -> Path:
    """Returns the program of a configuration whose server is another project's."""
    return ROOT / configuration.server_program


def front(flags: tuple[str, ...]) -> list[str]:
    """['transcoder descriptor', 'backend direct'], by what a server's flags say of its HTTP port."""
    pairs = ((*flag.partition("="), following) for flag, following in zip(flags, (*flags[1:], ""), strict=False))
    return [f"{name[2:]} {value if given else next_}" for name, given, value, next_ in pairs if name in FRONT_FLAGS]


def run_seconds(experiment: Experiment) -> float:
    """How long one run takes when nothing goes wrong."""
    counting = min(experiment.warmup_s, MAX_COUNTING_S) + min(experiment.interval_s, MAX_COUNTING_S)
    more = counting if experiment.count_allocations else 0.0
    more += faults.LEAD_S if any(c.fault for c in experiment.configurations) else 0.0
    points = SEARCHED_POINTS if experiment.searches else 1
    return points * (experiment.warmup_s + experiment.interval_s + more) + RUN_OVERHEAD_S


def patience_seconds(experiment: Experiment) -> float:
    """After this a client hangs: it may spend time on connecting (5 s) and on draining (2 s each point)."""
    points = SEARCHED_POINTS if experiment.searches else 1
    return 1.5 * run_seconds(experiment) + 5 + 2 * points + 30


def place(
    experiment: Experiment,
    configuration: Configuration,
    machine: tuple[cpus.Cpu, ...],
    server_cpus: str,
    client_cpus: str,
) -> cpus.Placement:
    """The configuration's own pinning; else SERVER_CPUS and CLIENT_CPUS, the last arguments; else the experiment's.

    Raises cpus.BadCpuList.
    """
    placement = _place(experiment, configuration, machine, server_cpus, client_cpus)
    return replace(placement, notes=(*placement.notes, PROXY_NOTE)) if configuration.proxied else placement


def _place(
    experiment: Experiment,
    configuration: Configuration,
    machine: tuple[cpus.Cpu, ...],
    server_cpus: str,
    client_cpus: str,
) -> cpus.Placement:
    if configuration.pinning is not None:
        return _placed(
            configuration.pinning, f"configuration '{configuration.name}'.pinning", bool(configuration.host), machine
        )
    if client_cpus or (server_cpus and not configuration.host):
        if configuration.host:
            return cpus.place_client(machine, client_cpus)
        return cpus.place(machine, server_cpus, client_cpus)
    return _placed(experiment.placement, "experiment.placement", bool(configuration.host), machine)


def _placed(pinning: str | CpuLists, where: str, remote: bool, machine: tuple[cpus.Cpu, ...]) -> cpus.Placement:
    if pinning == "none":
        return cpus.Placement((), (), f"not pinned, as {where} says")
    if pinning == "pair" and not remote:
        return cpus.place_pair(machine)
    server, client = (pinning.server_cpus, pinning.client_cpus) if isinstance(pinning, CpuLists) else ("", "")
    for key, text in (("server_cpus", server), ("client_cpus", client)):
        if text:
            cpus.parse_cpus(text, f"{where}.{key}", machine)  # its message names our key
    placement = cpus.place_client(machine, client) if remote else cpus.place(machine, server, client)
    given = client or (server and not remote)
    return replace(placement, why=f"as {where} says") if given else placement


def server_command(
    experiment: Experiment, configuration: Configuration, placement: cpus.Placement, programs: Programs
) -> list[str]:
    """Without --port."""
    if configuration.server_program:
        command = [
            *with_variables(configuration.server_env),
            str(server_program(configuration)),
            *configuration.server_flags,
        ]
        return cpus.pinned(command, placement.server)
    layout_flags = layout.server_layout(max(1, len(placement.server))) if experiment.layout == "post" else []
    command = programs.command(configuration.server_build, experiment.program(SERVER), configuration.server_env)
    flags = certs.filled(configuration.server_flags, programs.certs)
    shared = faults.SHARED_PORT if configuration.fault and configuration.fault.kind == "goaway" else ()
    return cpus.pinned([*command, *layout_flags, *flags, *shared], placement.server)


def used_cpus(placement: cpus.Placement) -> tuple[int, ...]:
    """Those that others ought to leave alone; all that may be used where a side is not pinned."""
    if not placement.client:
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(sorted({*placement.server, *placement.client, *proxy_cpus(placement)}))


def proxy_cpus(placement: cpus.Placement) -> tuple[int, ...]:
    """Those that neither side is pinned to; where both have all, all of theirs: it then takes time from both.

    Empty, for not pinned, when a side is not.
    """
    if not placement.server or not placement.client:
        return ()
    taken = {*placement.server, *placement.client}
    return tuple(sorted(os.sched_getaffinity(0) - taken or taken))


def proxy_command(placement: cpus.Placement, programs: Programs) -> list[str]:
    """Without -port."""
    return cpus.pinned(toxiproxy.command(programs.toxiproxy), proxy_cpus(placement))


def client_command(
    experiment: Experiment,
    configuration: Configuration,
    placement: cpus.Placement,
    programs: Programs,
    numbers: str,
    host: str,
    output: Path | None,
    server_pid: int = 0,
    control: str = "",
    kind: str = "",
) -> list[str]:
    """numbers: of the loads, '8' or a list; a search has none. The sid build does not see our folders: it writes to
    standard output. output: None where it is said elsewhere. kind: what the program's name ends with.

    server_pid: of a server that cannot be asked, to look at from outside; 0: none. control: where a server can be asked
    that is not asked at host, HOST:PORT; '': at host.
    """
    command = programs.command(configuration.client_build, experiment.program(CLIENT) + kind, configuration.client_env)
    to = [] if inside(configuration.client_build) or output is None else ["--output", str(output)]
    sweep = ["--rate-list" if experiment.open else "--inflight-list", numbers]
    loads = ["--find-rate", experiment.loads[0].search] if experiment.searches else sweep
    durations = ["--warmup", f"{experiment.warmup_s:.9g}", "--interval", f"{experiment.interval_s:.9g}"]
    looks = ["--server-pid", f"{server_pid}"] if server_pid else ["--control", control] if control else []
    own = certs.filled(configuration.client_flags, programs.certs)
    flags = ["--host", host, *looks, *own, *loads, *durations, "--format", "json", *to]
    return cpus.pinned([*command, *flags], placement.client)


def size(experiment: Experiment, repetitions: int) -> str:
    """'8 configurations x 6 loads x 1 repetition = 48 runs of 0.1 + 0.4 s: about 31 s'."""
    configurations, loads = len(experiment.configurations), len(experiment.loads)
    runs = configurations * loads * repetitions
    how_long = layout.duration(runs * run_seconds(experiment))
    if experiment.budget_s is not None:
        how_long += f", then what is inconclusive again, {layout.duration(experiment.budget_s)} in all at most"
    return (
        f"{count(configurations, 'configuration')} x {count(loads, 'load')} x {count(repetitions, 'repetition')} = "
        f"{count(runs, 'run')} of {experiment.warmup_s:g} + {experiment.interval_s:g} s: about {how_long}"
    )


def count(number: int, what: str) -> str:
    """'1 run', '2 runs'."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def where(configuration: Configuration, placement: cpus.Placement) -> str:
    """In words, on which CPUs the two sides of a configuration run."""
    client = f"client on {cpus.name_cpus(placement.client)}" if placement.client else "client not pinned"
    if configuration.host:
        return f"server at {configuration.host} (not started here), {client}: {placement.why}"
    server = f"server on {cpus.name_cpus(placement.server)}" if placement.server else "server not pinned"
    return f"{server}, {client}{_proxy(configuration, placement)}: {placement.why}"


def _proxy(configuration: Configuration, placement: cpus.Placement) -> str:
    """', through a proxy on CPUs 0-1 that adds 5 ms to each round trip'; '' without."""
    if not configuration.proxied:
        return ""
    found = proxy_cpus(placement)
    on = f"on {cpus.name_cpus(found)}" if found else "that is not pinned"
    adds = (
        f" that adds {configuration.added_rtt_ms} ms to each round trip"
        if configuration.added_rtt_ms is not None
        else ""
    )
    return f", through a proxy {on}{'' if found or not adds else ','}{adds}"


def describe(
    experiment: Experiment,
    order: list[PlannedRun],
    seed: int,
    placements: dict[str, cpus.Placement],
    programs: Programs,
) -> str:
    """--plan. Ends with a newline."""
    repetitions = max(planned.repetition for planned in order)
    lines = [f"{experiment.name}: {experiment.title}", experiment.question, size(experiment, repetitions)]
    for note in dict.fromkeys(note for p in placements.values() for note in p.notes):
        lines.append(f"note: {note}")
    places = {
        configuration.name: where(configuration, placements[configuration.name])
        for configuration in experiment.configurations
    }
    same_place = len(set(places.values())) == 1
    lines += [places[order[0].configuration]] if same_place else []
    lines += ["", "Configurations"]
    for configuration in experiment.configurations:
        lines += [f"  {configuration.name}", *([] if same_place else [f"    {places[configuration.name]}"])]
        lines += _commands(experiment, configuration, placements[configuration.name], programs)
    return "\n".join([*lines, *_order(order, seed)]) + "\n"


def _order(order: list[PlannedRun], seed: int) -> list[str]:
    """Returns the order of the first repetition; the whole order would be too long to read."""
    repetitions = max(planned.repetition for planned in order)
    lines = ["", f"Order (seed {seed})"]
    for load in dict.fromkeys(planned.load for planned in order if planned.repetition == 1):
        names = ", ".join(
            planned.configuration for planned in order if planned.repetition == 1 and planned.load == load
        )
        lines.append(_fill(f"  1, {load.words}: {names}", "     "))
    return [*lines, f"  and so on, each repetition in another order, up to {repetitions}"] if repetitions > 1 else lines


def _fill(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _commands(
    experiment: Experiment, configuration: Configuration, placement: cpus.Placement, programs: Programs
) -> list[str]:
    """As they are typed."""
    host = configuration.host or "HOST:PORT"
    control = "GRPC-HOST:PORT" if configuration.asked_elsewhere else ""
    client = client_command(experiment, configuration, placement, programs, "N", host, Path("FILE"), control=control)
    server = (
        [] if configuration.host else [*server_command(experiment, configuration, placement, programs), "--port", "0"]
    )
    proxy = [] if not configuration.proxied else [*proxy_command(placement, programs), "-port", "API-PORT"]
    needs = [f"    needs gRPC {configuration.needs_grpc}, or is not run"] if configuration.needs_grpc else []
    if configuration.fault:
        needs.append(f"    {configuration.fault.at:g} s into the window: {configuration.fault.words}")
    return needs + [f"    {shlex.join(command)}" for command in (server, proxy, client) if command]
