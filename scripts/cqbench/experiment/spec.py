"""An experiment's TOML file -> one immutable Experiment.

tables.py has the keys, and the rules between the keys of one table; `cqbench run --keys` prints them. Rules for what
all configurations have in common are here. Each step reports all of its errors at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cqbench.experiment import faults, product
from cqbench.experiment.tables import PLACES, CpuLists, File, Head, Settings
from cqbench.formats import problems, toml
from cqbench.formats.offered import Load, closed, open_loop, searched
from cqbench.formats.source import BadDocument
from cqbench.formats.text import show
from cqbench.measure.programs import CLIENT, DEFAULT, SERVER
from cqbench.options import flag_name

LAYOUT_FLAGS = ("--num-cqs", "--workers-per-cq", "--callbacks-per-cq")
REPEATABLE = ("--channel-arg",)
Data = dict[str, Any]


class BadExperiment(ValueError):
    """The text has a line for each error, which names the file, the key, the value and what is accepted."""


@dataclass(frozen=True)
class Configuration:
    """One way to run server and client. Flags and variables include what all configurations have in common."""

    name: str
    client_flags: tuple[str, ...] = ()
    server_flags: tuple[str, ...] = ()
    client_env: tuple[tuple[str, str], ...] = ()
    server_env: tuple[tuple[str, str], ...] = ()
    client_build: str = DEFAULT
    server_build: str = DEFAULT
    pinning: str | CpuLists | None = None  # None: as the experiment says
    host: str = ""  # not empty: a server that is there already
    needs_grpc: str = ""  # the oldest gRPC that can do it; not empty: checked before anything is measured
    server_program: str = ""  # not empty: a server that is not ours
    connect: str = "grpc"  # to which port of the server the client connects: "grpc" or "http"
    fault: faults.Fault | None = None  # what goes wrong in the window
    servers: int = 1  # how many are started
    added_rtt_ms: int | None = None  # to each round trip, by a proxy; None: no proxy, client and server face to face

    @property
    def builds(self) -> dict[str, list[str]]:
        """By build, which of our programs it runs; a client comes last."""
        found: dict[str, list[str]] = {} if self.host or self.server_program else {self.server_build: [SERVER]}
        found.setdefault(self.client_build, []).append(CLIENT)
        return found

    @property
    def proxied(self) -> bool:
        """A proxy stands between client and server."""
        return self.added_rtt_ms is not None or (self.fault is not None and self.fault.kind in faults.PROXIED)

    @property
    def asked_elsewhere(self) -> bool:
        """The server has its control service at another port than the one that the client connects to."""
        return self.connect == "http" and not self.server_program


@dataclass(frozen=True)
class Experiment:
    """data: the file as it was parsed, for the manifest."""

    name: str
    title: str
    question: str
    loads: tuple[Load, ...]  # all of one loop
    warmup_s: float
    interval_s: float
    repetitions: int  # with a budget, the first ones
    budget_s: float | None  # for all runs; None: the repetitions are all
    seed: int | None  # None: one is drawn
    placement: str | CpuLists
    layout: str
    configurations: tuple[Configuration, ...]
    data: Data
    count_allocations: bool = False

    @property
    def open(self) -> bool:
        return self.loads[0].open

    @property
    def searches(self) -> bool:
        """Each run looks for the highest rate."""
        return bool(self.loads[0].search)

    def configuration(self, name: str) -> Configuration:
        return next(c for c in self.configurations if c.name == name)

    def program(self, name: str) -> str:
        """'grpc_ping_client', or the one that counts."""
        return f"{name}_counting" if self.count_allocations else name


def load(path: Path) -> Experiment:
    """Raises BadExperiment."""
    try:
        return make(toml.read(path), str(path))
    except BadDocument as error:
        raise BadExperiment(str(error)) from None


def parse(text: str, name: str) -> Experiment:
    """name: of the file, for messages. Raises BadExperiment."""
    try:
        return make(toml.parse(text, name), name)
    except BadDocument as error:
        raise BadExperiment(str(error)) from None


def make(data: Data, name: str, search: str = "") -> Experiment:
    """From a file's tables, which the command line may have changed. search: what the highest rate has to meet,
    instead of the file's loads; a file cannot say so: configurations that were searched have no load to be compared at.

    Raises BadExperiment.
    """
    try:
        file = File.model_validate(data)
    except ValidationError as error:
        _refuse(name, problems.lines(error, data, models=PLACES))
    head = file.experiment
    lines = []
    if not (search or head.inflight or head.rates):
        lines.append("experiment: 'inflight' is missing, or 'rates' for an open loop")
    settings, combined = product.configurations(file, data)
    configurations = [_configuration(each, own, file) for each, own in settings.items()]
    for one in configurations:
        lines += [f"configuration '{one.name}'.{line}" for line in _against_common(one, file)]
    _refuse(name, [*lines, *combined])
    return Experiment(
        name=head.name,
        title=head.title,
        question=head.question,
        loads=(searched(search),) if search else _loads(head),
        warmup_s=head.warmup,
        interval_s=head.interval,
        repetitions=head.repetitions,
        budget_s=head.budget,
        seed=head.seed,
        placement=head.placement,
        layout=file.server.layout or "",
        configurations=tuple(configurations),
        data=data,
        count_allocations=head.counting,
    )


def _refuse(name: str, lines: list[str]) -> None:
    """Raises BadExperiment if there are lines."""
    if lines:
        raise BadExperiment("\n".join(f"{name}: {line}" for line in dict.fromkeys(lines)))


def _loads(head: Head) -> tuple[Load, ...]:
    return tuple(map(open_loop, head.rates)) if head.rates else tuple(map(closed, head.inflight or ()))


def _configuration(name: str, own: Settings, file: File) -> Configuration:
    """With what all have in common; the configuration's own variables win over it."""
    server_flags = [] if own.server_program else file.server.flags
    return Configuration(
        name,
        client_flags=(*file.client.flags, *own.client_flags),
        server_flags=(*server_flags, *own.server_flags),
        client_env=tuple(sorted({**file.client.env, **own.client_env}.items())),
        server_env=tuple(sorted({**file.server.env, **own.server_env}.items())),
        client_build=own.builds[0],
        server_build=own.builds[1],
        pinning=own.pinning,
        host=own.host,
        needs_grpc=own.needs_grpc,
        server_program=own.server_program,
        connect=own.connect,
        fault=own.fault,
        servers=own.servers,
        added_rtt_ms=own.added_rtt,
    )


def _against_common(one: Configuration, file: File) -> Iterator[str]:
    """Yields what does not go with what all configurations have in common: key, value and reason."""
    layout = LAYOUT_FLAGS if file.server.layout and not one.server_program else ()
    yield from (f"client_flags: {line}" for line in _twice(one.client_flags, ()))
    yield from (f"server_flags: {line}" for line in _twice(one.server_flags, layout))
    if not one.fault:
        return
    head, kind = file.experiment, show(one.fault.kind)
    if head.counting:
        yield f"fault.kind: {kind} is not accepted with experiment.counting: counting has windows of its own"
    if one.fault.ends >= head.interval:
        why = f"it ends {one.fault.ends:g} s into a window of {head.interval:g} s"
        yield f"fault.at: {one.fault.at:g} s is not accepted: {why}"


def _twice(flags: tuple[str, ...], from_layout: tuple[str, ...]) -> Iterator[str]:
    """The programs take each flag once; the layout's are counted in."""
    seen = set(from_layout)
    for flag in (flag_name(f) for f in flags if f.startswith("--")):
        if flag in seen and flag not in REPEATABLE:
            also = "server.layout gives it" if flag in from_layout else "with what is common to all configurations"
            yield f"{show(flag)} is not accepted twice ({also})"
        seen.add(flag)
