"""Options of the command line that replace values of an experiment's file.

The file's tables are changed and the experiment is made from them anew: the manifest then shows what was really run,
and resuming compares with it. Repetitions and seed are not here: they belong to the order, which the manifest has.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cqbench.experiment import spec
from cqbench.experiment.fields import host
from cqbench.experiment.spec import BadExperiment, Data, Experiment
from cqbench.experiment.tables import NOT_WITH_HOST
from cqbench.formats.text import show
from cqbench.options import Value

# Flag -> key of [experiment].
KEYS = {
    "inflight": "inflight",
    "rate": "rates",
    "warmup": "warmup",
    "interval": "interval",
    "budget": "budget",
    "count_allocations": "counting",
}
# Keys of a configuration that apply only if the runner starts the server.
OF_A_SERVER = (*NOT_WITH_HOST, "host", "fault", "servers")


@dataclass(frozen=True)
class Options:
    """The options of the command line. words: the experiment's name or file; with vary, flags of the client."""

    words: tuple[str, ...]
    vary: tuple[str, ...]
    server_flags: str | None
    save: Path | None
    repetitions: int | None
    seed: int | None
    inflight: tuple[int, ...] | None
    rate: tuple[float, ...] | None
    warmup: float | None
    interval: float | None
    budget: float | None
    margin: float | None  # percent
    count_allocations: bool | None
    host: str | None
    ranks: int | None
    hosts: str | None
    launcher: str | None
    launch: str | None
    client_cpus: str | None
    server_address: str | None
    results: Path | None
    resume: Path | None
    bin: Path
    gate: tuple[Path, Path] | None
    fail_if_slower: float | None
    plan: bool
    list: bool
    needs: bool
    template: bool
    keys: bool


HOST = Value("HOST[:PORT]", host)


def given(options: Options) -> Data:
    """By key of [experiment], what the command line says of it."""
    values = {key: getattr(options, name) for name, key in KEYS.items()}
    values["margin"] = None if options.margin is None else f"{options.margin:g}%"
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items() if v is not None}


def _set(head: Data, said: Data) -> None:
    """Into [experiment]. A rate makes a closed loop an open one, and calls in flight the other way round."""
    for one, other in (("inflight", "rates"), ("rates", "inflight")):
        if one in said and other not in said:
            head.pop(other, None)
    head.update(said)


def apply(experiment: Experiment, options: Options) -> Experiment:
    """The experiment as the flags want it. Raises BadExperiment."""
    said = given(options)
    fixed = experiment.budget_s is not None and options.repetitions is not None
    if not said and options.host is None and not fixed:
        return experiment
    data = copy.deepcopy(experiment.data)
    _set(data["experiment"], said)
    if fixed:
        del data["experiment"]["budget"]  # as many as were asked for
    if options.host is not None:
        _set_host(data, options.host)
    return spec.make(data, experiment.name)


def _set_host(data: Data, host: str) -> None:
    """For every configuration. Raises BadExperiment where the experiment is about the server.

    The layout goes: it sizes a server that is started here. A build stays: it is then the client's alone.
    """
    server = data.pop("server", {})
    server.pop("layout", None)
    asked = [(f"server.{key}", value) for key, value in server.items()]
    asked += [(f"{where}.{key}", s[key]) for where, s in _settings(data) for key in OF_A_SERVER if key in s]
    for where, value in asked:
        if value:
            raise BadExperiment(
                f"argument --host: {show(host)} is not accepted for '{data['experiment']['name']}', whose "
                f"{where} is {show(value)}: that server is not started here; experiments that vary the client "
                f"only are"
            )
    for settings in data["axis"][0]["values"] if "axis" in data else data["configuration"]:
        settings["host"] = host


def _settings(data: Data) -> Iterator[tuple[str, Data]]:
    """Yields the settings of every configuration or value of an axis, with a name for messages."""
    for configuration in data.get("configuration", []):
        yield f"configuration '{configuration['name']}'", configuration
    for axis in data.get("axis", []):
        for value in axis["values"]:
            yield f"axis '{axis['name']}', '{value['name']}'", value
