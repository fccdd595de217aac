"""The runs for a cost profile, their order and command lines. Starts nothing."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from cqbench.analysis.cost import callgrind, perf, strace
from cqbench.analysis.cost.profile import (
    ALLOCATIONS,
    CLIENT,
    INSTRUCTIONS,
    PARTS,
    PROGRAM,
    SAMPLES,
    SERVER,
    SYSCALLS,
    TIME,
)
from cqbench.experiment.fields import CLIENT_TAKEN, SERVER_TAKEN
from cqbench.measure import cpus, layout
from cqbench.measure.programs import Programs

# Calls by what is counted: enough that one wake-up hardly matters, and few enough for two minutes.
CALLS = {ALLOCATIONS: 10_000, SAMPLES: 3_000, SYSCALLS: 2_500, INSTRUCTIONS: 500}
PROGRAM_CALLS = 500
# Times N: the longer run. What differs by chance between two processes is in the difference f / (f - 1) times for the
# one and 1 / (f - 1) times for the other: with 2 that would be more than twice as much, with 5 it is 1.3 times.
FACTOR = 5
WARMUP_S, INTERVAL_S = 0.3, 1.0  # of the timed repetitions
SLOW_S = 120  # for calls whose program is looked at: deadline, connecting
WINDOW_S = 3000
TAKEN_FROM_CLIENT = (*CLIENT_TAKEN, "--total", "--skip-first", "--no-evidence", "--allocation-sites", "--byte-rate")
TAKEN_FROM_SERVER = SERVER_TAKEN
PLACEHOLDER = "{calls}"
SIDES = (CLIENT, SERVER, PROGRAM)
TOOLS = {SAMPLES: "perf", SYSCALLS: "strace", INSTRUCTIONS: "valgrind"}
PACKAGES = {"perf": "linux-perf"}  # the others have the names of their tools
MEANS = {
    TIME: "what the kernel accounts to the processes, without a tool, in repetitions of {interval:g} s",
    ALLOCATIONS: "the counting programs (malloc and its family), {calls} calls in each repetition",
    SAMPLES: f"perf record (the software clock, {perf.HERTZ} times a second of CPU), the difference between {{calls}} "
    "and {more} calls",
    SYSCALLS: "strace -f (ptrace; no root, no tracefs), the difference between {calls} and {more} calls",
    INSTRUCTIONS: "callgrind (valgrind; no hardware counters), the difference between {calls} and {more} calls",
}
# Measured with the ping on two cores of a virtual machine: of a run, and of a call in it, in seconds.
START_S = {SAMPLES: 1.3, SYSCALLS: 0.7, INSTRUCTIONS: 4.5}
CALL_S = {SAMPLES: 0.00012, SYSCALLS: 0.0003, INSTRUCTIONS: 0.0025}


def _one_of(accepted: tuple[str, ...], word: str) -> str:
    """Raises ValueError."""
    if word not in accepted:
        raise ValueError(f"one of {', '.join(accepted)}")
    return word


class Asked(BaseModel):
    """The options of the command line. words: flags of the client, or with `program` that and its arguments."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    words: tuple[str, ...]
    program: bool
    calls: int | None = Field(ge=1)
    inflight: int = Field(ge=1)
    repetitions: int = Field(ge=1)
    sides: tuple[Annotated[str, AfterValidator(partial(_one_of, SIDES))], ...]
    parts: tuple[Annotated[str, AfterValidator(partial(_one_of, PARTS))], ...]
    server_flags: tuple[str, ...]
    build: Literal["release", "sid"]
    programs: Programs = Field(exclude=True)

    def n(self, part: str) -> int:
        """Calls of the shorter run."""
        return self.calls or (PROGRAM_CALLS if self.program else CALLS[part])


class Step(NamedTuple):
    """One run of the programs. side: that is looked at; '' both, by themselves. calls: 0 where time decides.

    longer: the other one of two.
    """

    part: str
    side: str
    repetition: int
    calls: int
    longer: bool = False


def steps(asked: Asked) -> list[Step]:
    """Quick steps come first, so that an interrupt leaves as much as possible."""
    found = []
    ours = not asked.program
    if ours and TIME in asked.parts:
        found.append(Step(TIME, "", 0, 0))
    if ours and ALLOCATIONS in asked.parts:
        # Processes of their own: repetitions in one process would not show how much two processes differ.
        found += [Step(ALLOCATIONS, "", repetition, asked.n(ALLOCATIONS)) for repetition in range(asked.repetitions)]
    slopes = [p for p in PARTS if p in asked.parts and (p in TOOLS or (p == TIME and not ours))]
    for repetition in range(asked.repetitions):
        for part in slopes:
            for side in asked.sides:
                n = asked.n(SYSCALLS if part == TIME else part)
                found += [Step(part, side, repetition, n), Step(part, side, repetition, FACTOR * n, longer=True)]
    return found


def seconds(asked: Asked, left: list[Step]) -> float:
    """An estimate of these runs, of our programs' ping at 1 in flight."""
    direct = {TIME: asked.repetitions * (WARMUP_S + INTERVAL_S) + 0.5, ALLOCATIONS: WARMUP_S + INTERVAL_S + 0.5}
    return sum(direct[s.part] if s.part not in TOOLS else START_S[s.part] + s.calls * CALL_S[s.part] for s in left)


def wrapper(part: str, file: str, fixed: bool) -> tuple[str, ...]:
    """Returns the prefix of a counted program. fixed: addresses are not random."""
    tool = {SAMPLES: perf.command, SYSCALLS: strace.command, INSTRUCTIONS: callgrind.command}.get(part)
    return (*(("setarch", "-R") if fixed else ()), *(tool(file) if tool else ()))


def server_command(asked: Asked, placement: cpus.Placement, step: Step, tool: tuple[str, ...]) -> list[str]:
    """Without --port. tool: as wrapper() has it; () when this end is not looked at."""
    name = f"grpc_ping_server{'_counting' if step.part == ALLOCATIONS else ''}"
    command = asked.programs.command(asked.build, name, (), tool)
    return cpus.pinned([*command, *asked.server_flags], placement.server)


def client_command(asked: Asked, placement: cpus.Placement, step: Step, tool: tuple[str, ...], host: str) -> list[str]:
    """It writes its result to standard output: the sid build does not see our folders."""
    name = f"grpc_ping_client{'_counting' if step.part == ALLOCATIONS else ''}"
    command = asked.programs.command(asked.build, name, (), tool)
    flags = ["--host", host, *asked.words, "--inflight", f"{asked.inflight}", "--format", "json"]
    return cpus.pinned([*command, *flags, *_load(asked, step)], placement.client)


def _load(asked: Asked, step: Step) -> list[str]:
    """How long. Where a tool looks on, everything takes longer, and nothing else is asked of either end."""
    if step.part == TIME:
        return ["--warmup", f"{WARMUP_S}", "--interval", f"{INTERVAL_S}", "--repetitions", f"{asked.repetitions}"]
    if step.part == ALLOCATIONS:
        times = ["--warmup", f"{WARMUP_S}", "--interval", "30", "--repetitions", "1"]
        return [*times, "--total", f"{step.calls}"]
    given = {word.split("=")[0] for word in asked.words}
    slow = [word for flag in ("--deadline", "--connect-timeout") if flag not in given for word in (flag, f"{SLOW_S}")]
    return [*slow, "--warmup", "0", "--interval", f"{WINDOW_S}", "--total", f"{step.calls}", "--no-evidence"]


def program_command(asked: Asked, step: Step, tool: tuple[str, ...]) -> list[str]:
    """The user's own."""
    words = [word.replace(PLACEHOLDER, f"{step.calls}") for word in asked.words]
    return [*tool, *words]


def means(asked: Asked) -> dict[str, str]:
    """By part, how it is counted."""
    found = {}
    for part in asked.parts:
        n = 0 if part == TIME else asked.n(part)
        found[part] = MEANS[part].format(calls=n, more=FACTOR * n, interval=INTERVAL_S)
    if asked.program and TIME in found:
        n = asked.n(SYSCALLS)
        found[TIME] = f"what the kernel accounts to the process, the difference between {n} and {FACTOR * n} calls"
    return found


def describe(asked: Asked, placement: cpus.Placement) -> str:
    """--plan. Ends with a newline."""
    every = steps(asked)
    lines = [f"{len(every)} runs, {asked.repetitions} repetitions: about {layout.duration(seconds(asked, every))}"]
    if not asked.program:
        lines.append(
            f"server on CPUs {placement.server or 'all'}, client on {placement.client or 'all'}: {placement.why}"
        )
    for step in (s for s in every if s.repetition == 0):
        lines.append(f"{step.part}{f' of the {step.side}' if step.side else ''}, {step.calls or 'timed'} calls")
        lines += [f"    {shlex.join(command)}" for command in _commands(asked, placement, step)]
    return "\n".join(lines) + "\n"


def _commands(asked: Asked, placement: cpus.Placement, step: Step) -> list[list[str]]:
    tool = wrapper(step.part, str(Path("FILE")), fixed=True)
    if step.side == PROGRAM:
        return [program_command(asked, step, tool)]
    server = server_command(asked, placement, step, tool if step.side == SERVER else ())
    client = client_command(asked, placement, step, tool if step.side == CLIENT else (), "HOST:PORT")
    return [[*server, "--port", "0"], client]
