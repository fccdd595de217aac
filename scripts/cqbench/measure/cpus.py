"""Which CPUs the server and the client get. Pure functions over a description that read_machine() makes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from cqbench.formats.text import format_cpus
from cqbench.formats.text import parse_cpus as parse_list


class BadCpuList(ValueError):
    """A CPU list from the user that cannot be used; the text names the variable and what is accepted."""


@dataclass(frozen=True)
class Cpu:
    """One logical CPU. core: the lowest CPU number among the hyper-threads of its core. node: its NUMA node."""

    id: int
    core: int
    node: int = 0


@dataclass(frozen=True)
class Placement:
    """CPUs of each side (empty: not pinned), why, and what the reader should know about the choice."""

    server: tuple[int, ...]
    client: tuple[int, ...]
    why: str
    notes: tuple[str, ...] = ()


def name_cpus(cpus: tuple[int, ...]) -> str:
    """'CPU 3' or 'CPUs 0-2,8'."""
    return f"CPU{'s' if len(cpus) > 1 else ''} {format_cpus(cpus)}"


def parse_cpus(text: str, name: str, machine: tuple[Cpu, ...]) -> tuple[int, ...]:
    """'0-2,8' -> (0, 1, 2, 8). Raises BadCpuList for bad syntax and for CPUs that this process may not use."""
    try:
        chosen = parse_list(text)
    except ValueError as error:
        raise BadCpuList(f"{name}: '{text}' is not {error}") from None
    allowed = {cpu.id for cpu in machine}
    outside = tuple(cpu for cpu in chosen if cpu not in allowed)
    if outside:
        usable = format_cpus(tuple(allowed))
        raise BadCpuList(f"{name}: {name_cpus(outside)} cannot be used by this process; it may use {usable}")
    return chosen


def read_machine(sysfs: Path = Path("/sys/devices/system/cpu"), allowed: set[int] | None = None) -> tuple[Cpu, ...]:
    """The CPUs that this process may run on. What sysfs does not say counts as: own core, NUMA node 0."""
    cpus = os.sched_getaffinity(0) if allowed is None else allowed
    return tuple(_read_cpu(sysfs / f"cpu{n}", n) for n in sorted(cpus))


def _read_cpu(folder: Path, number: int) -> Cpu:
    core = number
    try:
        siblings = re.match(r"\d+", (folder / "topology/thread_siblings_list").read_text())
        core = int(siblings[0]) if siblings else number
    except OSError:
        pass
    nodes = [int(path.name[4:]) for path in folder.glob("node[0-9]*")]
    return Cpu(number, core, nodes[0] if nodes else 0)


def _one_per_core(cpus: tuple[Cpu, ...]) -> tuple[int, ...]:
    """The first usable hyper-thread of every core."""
    first: dict[int, int] = {}
    for cpu in sorted(cpus, key=lambda c: c.id):
        first.setdefault(cpu.core, cpu.id)
    return tuple(sorted(first.values()))


def _nodes(machine: tuple[Cpu, ...]) -> list[tuple[int, tuple[int, ...]]]:
    """(node, one CPU per core) in the order of the node numbers; nodes without a usable CPU do not appear."""
    numbers = sorted({cpu.node for cpu in machine})
    return [(n, _one_per_core(tuple(c for c in machine if c.node == n))) for n in numbers]


def _per_core(machine: tuple[Cpu, ...]) -> str:
    """A remark on hyper-threads where there are any."""
    return "; one hyper-thread of each core" if len({c.core for c in machine}) < len(machine) else ""


def place(machine: tuple[Cpu, ...], server_cpus: str = "", client_cpus: str = "") -> Placement:
    """Server and client on this machine. The strings are SERVER_CPUS and CLIENT_CPUS, empty when not given.

    Raises BadCpuList.
    """
    if server_cpus or client_cpus:
        return _place_given(machine, server_cpus, client_cpus)
    nodes = _nodes(machine)
    if len(nodes) > 1:
        # The two largest, in the order of the post: the client on the lower node.
        (client_node, client), (server_node, server) = sorted(sorted(nodes, key=lambda n: -len(n[1]))[:2])
        why = f"NUMA node {server_node} for the server, node {client_node} for the client{_per_core(machine)}"
        return Placement(server, client, why)
    cores = nodes[0][1]
    if len(cores) == 1:
        what = "a single CPU" if len(machine) == 1 else "a single core, whose hyper-threads are not worth separating,"
        note = "they take CPU time from each other, so the figures say little about either"
        return Placement((), (), f"{what} for both: they run together, not pinned", (note,))
    half = (len(cores) + 1) // 2
    why = f"one NUMA node with {len(cores)} cores, divided between them{_per_core(machine)}"
    return Placement(cores[half:], cores[:half], why)


def _place_given(machine: tuple[Cpu, ...], server_cpus: str, client_cpus: str) -> Placement:
    server = parse_cpus(server_cpus, "SERVER_CPUS", machine) if server_cpus else ()
    client = parse_cpus(client_cpus, "CLIENT_CPUS", machine) if client_cpus else ()
    if server and client:
        why = "as SERVER_CPUS and CLIENT_CPUS say"
    elif server:
        client, why = _other_cores(machine, server), "the server as SERVER_CPUS says, the client next to it"
    else:
        server, why = _other_cores(machine, client), "the client as CLIENT_CPUS says, the server next to it"
    return Placement(server, client, why, _shared_note(machine, server, client))


def _other_cores(machine: tuple[Cpu, ...], taken: tuple[int, ...]) -> tuple[int, ...]:
    """For the side that was not given: another NUMA node, else other cores, else other CPUs, else the same."""
    mine = [cpu for cpu in machine if cpu.id in taken]
    elsewhere = tuple(c for c in machine if c.node not in {m.node for m in mine})
    other_cores = tuple(c for c in machine if c.core not in {m.core for m in mine})
    other_cpus = tuple(c for c in machine if c.id not in taken)
    return _one_per_core(elsewhere or other_cores or other_cpus) or taken


def _shared_note(machine: tuple[Cpu, ...], server: tuple[int, ...], client: tuple[int, ...]) -> tuple[str, ...]:
    both = tuple(sorted(set(server) & set(client)))
    if both:
        return (f"both sides run on {name_cpus(both)} and take time from each other there",)
    core = {cpu.id: cpu.core for cpu in machine}
    if {core[c] for c in server} & {core[c] for c in client}:
        return ("server and client are on hyper-threads of one core and slow each other down",)
    return ()


def place_client(machine: tuple[Cpu, ...], client_cpus: str = "") -> Placement:
    """The client alone, for a server elsewhere: its largest NUMA node. Raises BadCpuList."""
    if client_cpus:
        return Placement((), parse_cpus(client_cpus, "CLIENT_CPUS", machine), "as CLIENT_CPUS says")
    node, cpus = max(_nodes(machine), key=lambda n: len(n[1]))
    return Placement((), cpus, f"NUMA node {node}{_per_core(machine)}")


def place_pair(machine: tuple[Cpu, ...], server_cpus: str = "", client_cpus: str = "") -> Placement:
    """One core for the server, another of the same NUMA node for the client. Raises BadCpuList."""
    if server_cpus or client_cpus:
        return _place_given(machine, server_cpus, client_cpus)
    _, cores = max(_nodes(machine), key=lambda n: len(n[1]))
    if len(cores) == 1:
        return place(machine)
    return Placement((cores[1],), (cores[0],), "one core each")


def pinned(command: list[str], cpus: tuple[int, ...]) -> list[str]:
    """The command behind taskset; as it is when there is nothing to pin to."""
    return ["taskset", "-c", format_cpus(cpus), *command] if cpus else command
