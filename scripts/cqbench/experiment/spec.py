"""An experiment's TOML file -> one immutable Experiment. All that a file can get wrong is found here and said at once.

tables.py has the keys; `cqbench run --keys` and `--template` print them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cqbench.experiment import faults
from cqbench.experiment.fields import Pinning, Wrong, show
from cqbench.experiment.tables import PLACES, Axis, Fault, File, Head, Settings
from cqbench.formats import toml
from cqbench.formats.offered import Load, closed, open_loop, searched
from cqbench.formats.source import BadDocument
from cqbench.formats.text import one_line
from cqbench.options import flag_name

LAYOUT_FLAGS = ("--num-cqs", "--workers-per-cq", "--callbacks-per-cq")
REPEATABLE = ("--channel-arg",)
MAX_CONFIGURATIONS = 1000
MAX_JOINED_NAME = 200
TYPES = {"model_type": "a table", "list_type": "a list of tables"}  # of pydantic's errors
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
    build: str = "release"
    pinning: Pinning | None = None  # None: as the experiment says
    host: str = ""  # not empty: a server that is there already
    needs_grpc: str = ""  # the oldest gRPC that can do it; not empty: checked before anything is measured
    server_program: str = ""  # not empty: a server that is not ours
    connect: str = "grpc"  # to which port of the server the client connects: "grpc" or "http"
    fault: Fault | None = None  # what goes wrong in the window
    servers: int = 1  # how many are started
    added_rtt_ms: int | None = None  # to each round trip, by a proxy; None: no proxy, client and server face to face

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
    repetitions: int
    seed: int | None  # None: one is drawn
    placement: Pinning
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
        lines = [_line(e["type"], e["loc"], e["input"], e.get("ctx", {}), data) for e in error.errors()]
    else:
        problems = _Problems(file, bool(search))
        configurations = problems.configurations()
        lines = problems.lines
    if lines:
        raise BadExperiment("\n".join(f"{name}: {line}" for line in dict.fromkeys(lines)))
    head = file.experiment
    return Experiment(
        name=head.name,
        title=head.title,
        question=head.question,
        loads=(searched(search),) if search else _loads(head),
        warmup_s=head.warmup,
        interval_s=head.interval,
        repetitions=head.repetitions,
        seed=head.seed,
        placement=head.placement,
        layout=file.server.layout,
        configurations=tuple(configurations),
        data=data,
        count_allocations=head.counting,
    )


def _loads(head: Head) -> tuple[Load, ...]:
    return tuple(map(open_loop, map(float, head.rates))) if head.rates else tuple(map(closed, head.inflight or ()))


def _line(kind: str, loc: tuple[int | str, ...], value: Any, context: dict[str, Any], data: Data) -> str:
    """Returns the error text for one of pydantic's errors."""
    where = _where(loc, data)
    if kind == "missing":
        return f"{_where(loc[:-1], data)}: '{loc[-1]}' is missing"
    if kind == "extra_forbidden":
        model = PLACES[tuple(part for part in loc[:-1] if isinstance(part, str))]
        accepted = sorted(model.model_fields, key=lambda key: key != "name")
        said = f"unknown key {show(loc[-1])} (value {show(value)}); accepted are {', '.join(accepted)}"
        return f"{_where(loc[:-1], data)}: {said}"
    error = context.get("error")
    if isinstance(error, Wrong):
        return f"{where}{error.key}: {error}"
    return f"{where}: {show(value)} is not {TYPES.get(kind) or error or kind}"


def _where(loc: tuple[int | str, ...], data: Data) -> str:
    """('axis', 0, 'values', 1, 'build') -> "axis[0] ('api').values[1] ('cq').build". data: the tables, for names."""
    text = ""
    here: Any = data
    for i, part in enumerate(loc):
        if isinstance(part, int):
            here = here[part]
            named = here.get("name") if isinstance(here, dict) and loc[i + 1 :] != ("name",) else None
            text += f"[{part}]" + (f" ('{one_line(named, 40)}')" if isinstance(named, str) and named else "")
        else:
            here = here.get(part) if isinstance(here, dict) else None
            text += f".{part}"
    return text.removeprefix(".") or "the file"


class _Problems:
    """Problems that the models cannot detect: keys that exclude each other. lines: filled by configurations()."""

    def __init__(self, file: File, without_loads: bool) -> None:
        self.file = file
        self.without_loads = without_loads
        self.lines: list[str] = []

    def refuse(self, where: str, value: Any, what: str) -> None:
        self.lines.append(f"{where}: {show(value)} is not accepted{what}")

    def configurations(self) -> list[Configuration]:
        """Returns the file's configurations; complete if there is no problem."""
        head = self.file.experiment
        if head.inflight and head.rates:
            self.refuse("experiment.rates", head.rates, " with inflight: write one of the two")
        if not head.inflight and not head.rates and not self.without_loads:
            self.lines.append("experiment: 'inflight' is missing, or 'rates' for an open loop")
        found = [self._configuration(name, own) for name, own in self._combinations()]
        self._different([v.name for v in found], "configuration.name")
        for configuration in found:
            if len(configuration.name) > MAX_JOINED_NAME:
                self.refuse(
                    "configuration.name",
                    configuration.name,
                    f": at most {MAX_JOINED_NAME} characters fit a file's name",
                )
        return found

    def _different(self, names: list[str], where: str) -> None:
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            self.lines.append(f"{where}: {show(name)} is there twice; each must be different")

    def _combinations(self) -> list[tuple[str, Data]]:
        """(name, settings) of every configuration."""
        configurations, axes = self.file.configuration, self.file.axis
        if configurations and axes:
            self.lines.append("configuration: it is not accepted with [[axis]]: write one of the two")
        if not configurations and not axes:
            needed = "at least one of [[configuration]] or [[axis]] is needed"
            self.lines.append(f"configuration: there are none, so there is nothing to run; {needed}")
        if not axes:
            return [(configuration.name, _given(configuration)) for configuration in configurations]
        return self._product(axes)

    def _product(self, axes: Sequence[Axis]) -> list[tuple[str, Data]]:
        self._different([axis.name for axis in axes], "axis.name")
        for axis in axes:
            self._different([value.name for value in axis.values], f"axis '{axis.name}'.values.name")
        count = math.prod(len(axis.values) for axis in axes)
        if count > MAX_CONFIGURATIONS:
            self.lines.append(f"axis: a product of {count} configurations; at most {MAX_CONFIGURATIONS} are accepted")
        if self.lines:
            return []
        return [
            (name := ".".join(value.name for value in chosen), self._together(name, list(map(_given, chosen))))
            for chosen in itertools.product(*(axis.values for axis in axes))
        ]

    def _together(self, name: str, chosen: Sequence[Data]) -> Data:
        """The settings of one value of each axis. Flags add up; the rest may be said by one axis only."""
        together: Data = {}
        for key, value in (item for settings in chosen for item in settings.items()):
            before = together.get(key)
            if key.endswith("_flags"):
                together[key] = (before or ()) + value
            elif key.endswith("_env"):
                for twice in sorted(set(before or {}) & set(value)):
                    self.refuse(f"configuration '{name}'.{key}", twice, " from two axes: one axis may set a variable")
                together[key] = {**(before or {}), **value}
            else:
                if key in together:
                    shown = vars(value) if isinstance(value, (Pinning, Fault)) else value
                    self.refuse(f"configuration '{name}'.{key}", shown, " from two axes: one axis may set it")
                together[key] = value
        return together

    def _configuration(self, name: str, own: Data) -> Configuration:
        """With what all have in common; the configuration's own variables win over it."""
        where = f"configuration '{name}'"
        if own.get("host"):
            for key in ("server_flags", "server_env", "server_program", "connect"):
                if own.get(key):
                    self.refuse(f"{where}.{key}", own[key], " with host: that server is not started here")
            if "added_rtt" in own:
                what = " with host: the proxy needs a server that is started here"
                self.refuse(f"{where}.added_rtt", f"{own['added_rtt']}ms", what)
        self.lines += faults.problems(where, own, self.file.experiment)
        foreign = bool(own.get("server_program"))
        flags, env = {}, {}
        for end, common in (("client", self.file.client), ("server", self.file.server)):
            shared = () if end == "server" and foreign else common.flags
            flags[end] = (*shared, *own.get(f"{end}_flags", ()))
            env[end] = tuple(sorted({**common.env, **own.get(f"{end}_env", {})}.items()))
            layout = LAYOUT_FLAGS if end == "server" and self.file.server.layout and not foreign else ()
            self._once(flags[end], f"{where}.{end}_flags", layout)
        kept = ("build", "pinning", "host", "needs_grpc", "server_program", "connect", "fault", "servers")
        more = {key: own[key] for key in kept if key in own}
        return Configuration(
            name,
            flags["client"],
            flags["server"],
            env["client"],
            env["server"],
            added_rtt_ms=own.get("added_rtt"),
            **more,
        )

    def _once(self, flags: tuple[str, ...], where: str, from_layout: tuple[str, ...]) -> None:
        """The programs take each flag once; the layout's are counted in."""
        seen = set(from_layout)
        for flag in (flag_name(f) for f in flags if f.startswith("--")):
            if flag in seen and flag not in REPEATABLE:
                also = "server.layout gives it" if flag in from_layout else "with what is common to all configurations"
                self.refuse(where, flag, f" twice ({also})")
            seen.add(flag)


def _given(settings: Settings) -> Data:
    """Those that the file has."""
    return {key: getattr(settings, key) for key in Settings.model_fields if key in settings.model_fields_set}
