"""What an experiment does, in which order, where, for how long, and with which command lines. Starts nothing."""

from __future__ import annotations

import os
import random
import shlex
import textwrap
from dataclasses import dataclass, field, replace
from pathlib import Path

from cqbench import cpus, plan, toxiproxy
from cqbench.experiment_file import Experiment, Variant
from cqbench.experiment_values import Pinning

# Per point, beside warm-up and interval: connecting, draining, asking for evidence. Measured: 21 ms.
POINT_OVERHEAD_S = 0.02
# Per unit, beside its points: a server and a client that start and end. Measured: 140 ms.
UNIT_OVERHEAD_S = 0.14
WIDTH = 112
PROXY_NOTE = (
    "a proxy stands between client and server in some variants: the client's connections and round-trip times are "
    "those of the hop to the proxy, where the added time is not seen; and the proxy, which takes the data of a "
    "connection one piece after the other, can itself be what limits one connection: compare with the variants that "
    "add 0 ms"
)


@dataclass(frozen=True)
class Unit:
    """One variant in one repetition: one client process, and its server. repetition: from 1."""

    variant: str
    repetition: int

    @property
    def stem(self) -> str:
        """Of its files' names."""
        return f"{self.variant}/{self.repetition:02}"

    @property
    def file(self) -> str:
        """Of the result, in the folder of results."""
        return f"raw/{self.stem}.json"


@dataclass(frozen=True)
class Programs:
    """Where the two programs are, and the proxy. newgrpc: the script that runs one with the newest gRPC."""

    bin: Path
    newgrpc: Path
    toxiproxy: Path = field(default_factory=toxiproxy.program)

    def command(self, build: str, program: str, env: tuple[tuple[str, str], ...]) -> list[str]:
        """Without flags. Variables are part of the command, so that the manifest shows them."""
        variables = ["env", *(f"{name}={value}" for name, value in env)] if env else []
        if build == "sid":
            return [str(self.newgrpc), "--run", *variables, program]
        return [*variables, str(self.bin / program)]


def make_order(experiment: Experiment, repetitions: int, seed: int) -> list[Unit]:
    """Repetition after repetition, each with all variants in a new random order, the same for the same seed."""
    generator = random.Random(seed)
    order = []
    for repetition in range(1, repetitions + 1):
        names = [v.name for v in experiment.variants]
        generator.shuffle(names)
        order += [Unit(name, repetition) for name in names]
    return order


def unit_seconds(experiment: Experiment) -> float:
    """How long one unit takes when nothing goes wrong."""
    point = experiment.warmup_s + experiment.interval_s + POINT_OVERHEAD_S
    return len(experiment.loads) * point + UNIT_OVERHEAD_S


def patience_seconds(experiment: Experiment) -> float:
    """After this a client hangs: each point may spend time on connecting (5 s) and on draining (2 s)."""
    return unit_seconds(experiment) + 7 * len(experiment.loads) + 30


def place(
    experiment: Experiment, variant: Variant, machine: tuple[cpus.Cpu, ...], server_cpus: str, client_cpus: str
) -> cpus.Placement:
    """The variant's own pinning; else SERVER_CPUS and CLIENT_CPUS, the last arguments; else the experiment's.

    Raises cpus.BadCpuList.
    """
    placement = _place(experiment, variant, machine, server_cpus, client_cpus)
    return placement if variant.added_rtt_ms is None else replace(placement, notes=(*placement.notes, PROXY_NOTE))


def _place(
    experiment: Experiment, variant: Variant, machine: tuple[cpus.Cpu, ...], server_cpus: str, client_cpus: str
) -> cpus.Placement:
    if variant.pinning is not None:
        return _placed(variant.pinning, f"variant '{variant.name}'.pinning", bool(variant.host), machine)
    if client_cpus or (server_cpus and not variant.host):
        if variant.host:
            return cpus.place_client(machine, client_cpus)
        return cpus.place(machine, server_cpus, client_cpus)
    return _placed(experiment.placement, "experiment.placement", bool(variant.host), machine)


def _placed(pinning: Pinning, where: str, remote: bool, machine: tuple[cpus.Cpu, ...]) -> cpus.Placement:
    if pinning.how == "none":
        return cpus.Placement((), (), f"not pinned, as {where} says")
    for key in ("server_cpus", "client_cpus"):
        if text := getattr(pinning, key):
            cpus.parse_cpus(text, f"{where}.{key}", machine)  # its message names our key
    if remote:
        placement = cpus.place_client(machine, pinning.client_cpus)
    elif pinning.how == "pair":
        return cpus.place_pair(machine)
    else:
        placement = cpus.place(machine, pinning.server_cpus, pinning.client_cpus)
    given = pinning.client_cpus or (pinning.server_cpus and not remote)
    return replace(placement, why=f"as {where} says") if given else placement


def server_command(
    experiment: Experiment, variant: Variant, placement: cpus.Placement, programs: Programs
) -> list[str]:
    """Without --port."""
    layout = plan.server_layout(max(1, len(placement.server))) if experiment.layout == "post" else []
    command = programs.command(variant.build, "grpc_ping_server", variant.server_env)
    return cpus.pinned([*command, *layout, *variant.server_flags], placement.server)


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
    experiment: Experiment, variant: Variant, placement: cpus.Placement, programs: Programs, host: str, output: Path
) -> list[str]:
    """The sid build does not see our folders: it writes to standard output instead."""
    command = programs.command(variant.build, "grpc_ping_client", variant.client_env)
    to = [] if variant.build == "sid" else ["--output", str(output)]
    flags = ["--host", host, *variant.client_flags, *sweep_flags(experiment), "--format", "json", *to]
    return cpus.pinned([*command, *flags], placement.client)


def sweep_flags(experiment: Experiment) -> list[str]:
    """The client's flags that all variants have in common."""
    numbers = ",".join(f"{load.number:.12g}" for load in experiment.loads)
    durations = ("--warmup", f"{experiment.warmup_s:.9g}", "--interval", f"{experiment.interval_s:.9g}")
    return ["--rate-list" if experiment.open else "--inflight-list", numbers, *durations]


def size(experiment: Experiment, repetitions: int) -> str:
    """'8 variants x 1 repetition = 8 units of 7 points, 0.5 + 2.5 s each: about 3 min 0 s'."""
    variants, points = len(experiment.variants), len(experiment.loads)
    units = variants * repetitions
    how_long = plan.duration(units * unit_seconds(experiment))
    return (
        f"{count(variants, 'variant')} x {count(repetitions, 'repetition')} = {count(units, 'unit')} of "
        f"{count(points, 'point')}, {experiment.warmup_s:g} + {experiment.interval_s:g} s each: about {how_long}"
    )


def count(number: int, what: str) -> str:
    """'1 unit', '2 units'."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def where(variant: Variant, placement: cpus.Placement) -> str:
    """In words, on which CPUs the two sides of a variant run."""
    client = f"client on {cpus.name_cpus(placement.client)}" if placement.client else "client not pinned"
    if variant.host:
        return f"server at {variant.host} (not started here), {client}: {placement.why}"
    server = f"server on {cpus.name_cpus(placement.server)}" if placement.server else "server not pinned"
    return f"{server}, {client}{_proxy(variant, placement)}: {placement.why}"


def _proxy(variant: Variant, placement: cpus.Placement) -> str:
    """', through a proxy on CPUs 0-1 that adds 5 ms to each round trip'; '' without."""
    if variant.added_rtt_ms is None:
        return ""
    found = proxy_cpus(placement)
    on = f"on {cpus.name_cpus(found)}" if found else "that is not pinned"
    return f", through a proxy {on}{'' if found else ','} that adds {variant.added_rtt_ms} ms to each round trip"


def describe(
    experiment: Experiment, order: list[Unit], seed: int, placements: dict[str, cpus.Placement], programs: Programs
) -> str:
    """--plan. Ends with a newline."""
    repetitions = max(unit.repetition for unit in order)
    lines = [f"{experiment.name}: {experiment.title}", experiment.question, size(experiment, repetitions)]
    for note in dict.fromkeys(note for p in placements.values() for note in p.notes):
        lines.append(f"note: {note}")
    places = {variant.name: where(variant, placements[variant.name]) for variant in experiment.variants}
    same_place = len(set(places.values())) == 1
    lines += [places[order[0].variant]] if same_place else []
    lines += ["", "Variants"]
    for variant in experiment.variants:
        lines += [f"  {variant.name}", *([] if same_place else [f"    {places[variant.name]}"])]
        lines += _commands(experiment, variant, placements[variant.name], programs)
    lines += ["", f"Order (seed {seed})"]
    for repetition in range(1, repetitions + 1):
        names = ", ".join(unit.variant for unit in order if unit.repetition == repetition)
        lines.append(_fill(f"  {repetition}: {names}", "     "))
    return "\n".join(lines) + "\n"


def _fill(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _commands(experiment: Experiment, variant: Variant, placement: cpus.Placement, programs: Programs) -> list[str]:
    """As they are typed."""
    client = client_command(experiment, variant, placement, programs, variant.host or "HOST:PORT", Path("FILE"))
    server = [] if variant.host else [*server_command(experiment, variant, placement, programs), "--port", "0"]
    proxy = [] if variant.added_rtt_ms is None else [*proxy_command(placement, programs), "-port", "API-PORT"]
    needs = [f"    needs gRPC {variant.needs_grpc}, or is not run"] if variant.needs_grpc else []
    return needs + [f"    {shlex.join(command)}" for command in (server, proxy, client) if command]
