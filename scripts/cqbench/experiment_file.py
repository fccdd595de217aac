"""An experiment's TOML file -> one immutable Experiment. Everything a file can get wrong is found here.

[experiment]            name, title, question, warmup, interval, repetitions, seed; placement (optional); and either
                        inflight, a list of calls in flight (closed loop), or rates, a list of calls per second (open)
[client], [server]      what all variants have: flags, env; layout of the server
[[variant]]             name and the settings below; or instead, for a product of settings:
[[axis]]                name, values: a list of tables with name and settings; a variant per combination, named "a.b"
settings                client_flags, server_flags, client_env, server_env, build, pinning, host, needs_grpc, added_rtt
needs_grpc              such as "1.83": with an older client the variant is not run, and the summary says so
added_rtt               such as "5ms": a proxy between client and server holds back each of the server's answers for
                        that long, so that a round trip takes that much more. "0ms": the proxy alone
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cqbench import experiment_values as accept
from cqbench.documents import one_line
from cqbench.experiment_values import BadExperiment, Pinning, Table
from cqbench.offered import Load, closed, open_loop

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOAD_KEYS = ("inflight", "rates")
OPTIONAL_KEYS = (*LOAD_KEYS, "placement")
EXPERIMENT_KEYS = ("name", "title", "question", *LOAD_KEYS, "warmup", "interval", "repetitions", "seed", "placement")
SETTING_KEYS = (
    *("client_flags", "server_flags", "client_env", "server_env"),
    *("build", "pinning", "host", "needs_grpc", "added_rtt"),
)
BUILDS = ("release", "sid")
LAYOUTS = ("post",)
LAYOUT_FLAGS = ("--num-cqs", "--workers-per-cq", "--callbacks-per-cq")
MAX_VARIANTS = 1000
MAX_JOINED_NAME = 200

# What the runner itself says to the programs.
CLIENT_TAKEN = (
    "--host --port --inflight --min-inflight --max-inflight --inflight-step --inflight-list "
    "--rate --rate-list --min-rate --max-rate --rate-step --find-rate --warmup --interval "
    "--repetitions --until-stable --max-repetitions --format --output --help -h --version"
).split()
SERVER_TAKEN = "--port --listen --help -h --version".split()
REPEATABLE = ("--channel-arg",)


@dataclass(frozen=True)
class Variant:
    """One way to run server and client. Flags and variables include what all variants have in common."""

    name: str
    client_flags: tuple[str, ...] = ()
    server_flags: tuple[str, ...] = ()
    client_env: tuple[tuple[str, str], ...] = ()
    server_env: tuple[tuple[str, str], ...] = ()
    build: str = "release"
    pinning: Pinning | None = None  # None: as the experiment says
    host: str = ""  # not empty: a server that is there already
    needs_grpc: str = ""  # the oldest gRPC that can do it; not empty: checked before anything is measured
    added_rtt_ms: int | None = None  # to each round trip, by a proxy; None: no proxy, client and server face to face


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
    seed: int
    placement: Pinning
    layout: str
    variants: tuple[Variant, ...]
    data: Table

    @property
    def open(self) -> bool:
        return self.loads[0].open


def load(path: Path) -> Experiment:
    """Raises BadExperiment."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadExperiment(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Experiment:
    """name: of the file, for messages. Raises BadExperiment."""
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadExperiment(f"{name}: not TOML: {one_line(str(error))}") from None
    return make(data, name)


def make(data: Table, name: str) -> Experiment:
    """From a file's tables, which the command line may have changed. Raises BadExperiment."""
    try:
        return _experiment(data)
    except BadExperiment as error:
        raise BadExperiment(f"{name}: {error}") from None


def _experiment(data: Table) -> Experiment:
    accept.known_keys(data, "the file", ("experiment", "client", "server", "variant", "axis"))
    head = accept.one_table(data, "experiment", "the file")
    accept.known_keys(head, "experiment", EXPERIMENT_KEYS)
    given = {key: accept.required(head, key, "experiment") for key in EXPERIMENT_KEYS if key not in OPTIONAL_KEYS}
    common = _common(data)
    layout = accept.one_of(accept.optional_table(data, "server").get("layout", ""), "server.layout", ("", *LAYOUTS))
    variants = tuple(_variant(name, common, own, layout) for name, own in _combinations(data))
    return Experiment(
        name=accept.file_name(given["name"], "experiment.name"),
        title=accept.words(given["title"], "experiment.title"),
        question=accept.words(given["question"], "experiment.question"),
        loads=_loads(head),
        warmup_s=accept.seconds(given["warmup"], "experiment.warmup", 0.001),
        interval_s=accept.seconds(given["interval"], "experiment.interval", 0.01),
        repetitions=accept.whole(given["repetitions"], "experiment.repetitions", 1, accept.MAX_REPETITIONS),
        seed=accept.whole(given["seed"], "experiment.seed", 0, accept.MAX_SEED),
        placement=accept.pinning(head.get("placement", "split"), "experiment.placement"),
        layout=layout,
        variants=_distinct(variants),
        data=data,
    )


def _loads(head: Table) -> tuple[Load, ...]:
    """What is asked for at each point of the sweep."""
    if "inflight" in head and "rates" in head:
        accept.refuse("experiment.rates", head["rates"], "accepted beside inflight: write one of the two")
    if "rates" in head:
        return tuple(map(open_loop, accept.rates(head["rates"])))
    if "inflight" not in head:
        raise BadExperiment("experiment: 'inflight' is missing, or 'rates' for an open loop")
    return tuple(map(closed, accept.inflight_counts(head["inflight"])))


def _common(data: Table) -> Table:
    """[client] and [server] as settings."""
    client, server = accept.optional_table(data, "client"), accept.optional_table(data, "server")
    accept.known_keys(client, "client", ("flags", "env"))
    accept.known_keys(server, "server", ("flags", "env", "layout"))
    return {
        "client_flags": accept.flags(client.get("flags", []), "client.flags", CLIENT_TAKEN),
        "server_flags": accept.flags(server.get("flags", []), "server.flags", SERVER_TAKEN),
        "client_env": accept.variables(client.get("env", {}), "client.env"),
        "server_env": accept.variables(server.get("env", {}), "server.env"),
    }


def _combinations(data: Table) -> list[tuple[str, Table]]:
    """(name, settings) of every variant."""
    if "variant" in data and "axis" in data:
        accept.refuse("variant", data["variant"], "accepted beside [[axis]]: write one of the two")
    if "axis" not in data:
        tables = accept.tables(data.get("variant"), "variant", "[[variant]] or [[axis]]")
        return [_named(table, f"variant[{i}]", dots=True) for i, table in enumerate(tables)]
    axes = [_axis(table, f"axis[{i}]") for i, table in enumerate(accept.tables(data["axis"], "axis", "[[axis]]"))]
    accept.all_different([name for name, _ in axes], "axis.name")
    count = math.prod(len(values) for _, values in axes)
    if count > MAX_VARIANTS:
        raise BadExperiment(f"axis: a product of {count} variants; at most {MAX_VARIANTS} are accepted")
    return [
        (".".join(name for name, _ in chosen), _disjoint(chosen))
        for chosen in itertools.product(*(values for _, values in axes))
    ]


def _axis(table: Table, where: str) -> tuple[str, list[tuple[str, Table]]]:
    accept.known_keys(table, where, ("name", "values"))
    name = accept.file_name(accept.required(table, "name", where), f"{where}.name")
    where = f"axis '{name}'"
    tables = accept.tables(accept.required(table, "values", where), f"{where}.values", "values")
    values = [_named(value, f"{where}.values[{i}]", dots=False) for i, value in enumerate(tables)]
    accept.all_different([value for value, _ in values], f"{where}.values.name")
    return name, values


def _named(table: Table, where: str, dots: bool) -> tuple[str, Table]:
    """A variant, or a value of an axis: its name and settings."""
    accept.known_keys(table, where, ("name", *SETTING_KEYS))
    name = accept.file_name(accept.required(table, "name", where), f"{where}.name", dots)
    return name, _settings(table, f"{where} ('{name}')")


def _settings(table: Table, where: str) -> Table:
    """The keys that are there, checked."""
    checks = {
        "client_flags": lambda v, w: accept.flags(v, w, CLIENT_TAKEN),
        "server_flags": lambda v, w: accept.flags(v, w, SERVER_TAKEN),
        "client_env": accept.variables,
        "server_env": accept.variables,
        "build": lambda v, w: accept.one_of(v, w, BUILDS),
        "pinning": accept.pinning,
        "host": accept.host,
        "needs_grpc": accept.grpc_version,
        "added_rtt": accept.milliseconds,
    }
    return {key: checks[key](table[key], f"{where}.{key}") for key in SETTING_KEYS if key in table}


def _disjoint(chosen: Sequence[tuple[str, Table]]) -> Table:
    """The settings of one value of each axis together. Flags add up; the rest may be said by one axis only."""
    together: Table = {}
    name = ".".join(value for value, _ in chosen)
    for _, settings in chosen:
        for key, value in settings.items():
            if key.endswith("_flags"):
                together[key] = together.get(key, ()) + value
            elif key.endswith("_env"):
                twice = sorted(set(together.get(key, {})) & set(value))
                if twice:
                    what = "accepted from two axes: one axis may set a variable"
                    accept.refuse(f"variant '{name}'.{key}", twice[0], what)
                together[key] = {**together.get(key, {}), **value}
            elif key in together:
                accept.refuse(f"variant '{name}'.{key}", _plain(value), "accepted from two axes: one axis may set it")
            else:
                together[key] = value
    return together


def _plain(value: Any) -> Any:
    return vars(value) if isinstance(value, Pinning) else value


def _variant(name: str, common: Table, own: Table, layout: str) -> Variant:
    """common: what all have; the variant's own variables win over it."""
    where = f"variant '{name}'"
    if own.get("host"):
        for key in ("server_flags", "server_env"):
            if own.get(key):
                accept.refuse(f"{where}.{key}", own[key], "accepted beside host: that server is not started here")
        if "added_rtt" in own:
            what = "accepted beside host: the proxy stands before a server that is started here"
            accept.refuse(f"{where}.added_rtt", f"{own['added_rtt']}ms", what)
    flags = {key: common[key] + own.get(key, ()) for key in ("client_flags", "server_flags")}
    env = {key: {**common[key], **own.get(key, {})} for key in ("client_env", "server_env")}
    for key, given in flags.items():
        _once(given, f"{where}.{key}", LAYOUT_FLAGS if layout and key == "server_flags" else ())
    return Variant(
        name,
        **flags,
        **{key: tuple(sorted(variables.items())) for key, variables in env.items()},
        **{key: own[key] for key in ("build", "pinning", "host", "needs_grpc") if key in own},
        added_rtt_ms=own.get("added_rtt"),
    )


def _once(flags: tuple[str, ...], where: str, from_layout: tuple[str, ...]) -> None:
    """The programs take each flag once; the layout's are counted in."""
    seen = set(from_layout)
    for flag in (accept.flag_name(f) for f in flags if f.startswith("--")):
        if flag in seen and flag not in REPEATABLE:
            also = " (server.layout gives it)" if flag in from_layout else " (with what is common to all variants)"
            accept.refuse(where, flag, f"accepted twice{also}")
        seen.add(flag)


def _distinct(variants: tuple[Variant, ...]) -> tuple[Variant, ...]:
    accept.all_different([v.name for v in variants], "variant.name")
    for variant in variants:
        if len(variant.name) > MAX_JOINED_NAME:
            what = f"short enough for a file: at most {MAX_JOINED_NAME} characters"
            accept.refuse("variant.name", variant.name, what)
    return variants
