"""What the command line says instead of an experiment's file.

The file's tables are changed and the experiment is made from them anew: the manifest then shows what was really run,
and resuming compares with it. Repetitions and seed are not here: they belong to the order, which the manifest has.
"""

from __future__ import annotations

import argparse
import copy
import shlex
from collections.abc import Iterator

from cqbench import experiment_file
from cqbench import experiment_values as accept
from cqbench.experiment_file import Experiment
from cqbench.experiment_values import BadExperiment, Table
from cqbench.options import Parser, inflight_list, rate_list, seconds

# Flag -> key of [experiment].
KEYS = {"inflight_list": "inflight", "rate_list": "rates", "warmup": "warmup", "interval": "interval"}
# What a variant may say about a server that is started for it.
OF_A_SERVER = ("server_flags", "server_env", "host", "added_rtt")


def add_arguments(parser: Parser) -> None:
    """The flags."""
    parser.add_argument("--host", type=_host)
    parser.add_argument("--inflight-list", type=inflight_list)
    parser.add_argument("--rate-list", type=rate_list)
    parser.add_argument("--warmup", type=seconds(0.001))
    parser.add_argument("--interval", type=seconds(0.01))


def _host(text: str) -> str:
    try:
        return accept.host(text, "host")
    except BadExperiment:
        raise argparse.ArgumentTypeError(f"'{text}' is not HOST or HOST:PORT, such as server:2137") from None


def given(options: argparse.Namespace) -> str:
    """The flags that were given, as they are typed; '' for none."""
    words = []
    for name in ("host", *KEYS):
        value = getattr(options, name)
        if value is not None:
            text = ",".join(f"{number:.12g}" for number in value) if isinstance(value, tuple) else value
            words += [f"--{name.replace('_', '-')}", text if isinstance(text, str) else f"{text:.9g}"]
    return shlex.join(words)


def apply(experiment: Experiment, options: argparse.Namespace) -> Experiment:
    """The experiment as the flags want it. Raises BadExperiment."""
    if not given(options):
        return experiment
    _refuse_the_other_loop(experiment, options)
    data = copy.deepcopy(experiment.data)
    for name, key in KEYS.items():
        value = getattr(options, name)
        if value is not None:
            data["experiment"][key] = list(value) if isinstance(value, tuple) else value
    if options.host is not None:
        _set_host(data, options.host)
    return experiment_file.make(data, experiment.name)


def _refuse_the_other_loop(experiment: Experiment, options: argparse.Namespace) -> None:
    """Raises BadExperiment."""
    wrong, right, is_a, numbers = ("rate", "inflight", "a closed loop", "calls in flight")
    if experiment.open:
        wrong, right, is_a, numbers = ("inflight", "rate", "an open loop", "calls per second")
    value = getattr(options, f"{wrong}_list")
    if value is not None:
        shown = ",".join(f"{number:.12g}" for number in value)
        raise BadExperiment(
            f"argument --{wrong}-list: {shown} is not accepted for '{experiment.name}', which is {is_a}: it takes "
            f"{numbers}, with --{right}-list"
        )


def _set_host(data: Table, host: str) -> None:
    """For every variant. Raises BadExperiment where the experiment is about the server.

    The layout goes: it sizes a server that is started here. A build stays: it is then the client's alone.
    """
    server = data.pop("server", {})
    server.pop("layout", None)
    asked = [(f"server.{key}", value) for key, value in server.items()]
    asked += [(f"{where}.{key}", s[key]) for where, s in _settings(data) for key in OF_A_SERVER if key in s]
    for where, value in asked:
        if value:
            raise BadExperiment(
                f"argument --host: {accept.show(host)} is not accepted for '{data['experiment']['name']}', whose "
                f"{where} is {accept.show(value)}: that server is not started here; experiments that vary the client "
                f"only are"
            )
    for settings in data["axis"][0]["values"] if "axis" in data else data["variant"]:
        settings["host"] = host


def _settings(data: Table) -> Iterator[tuple[str, Table]]:
    """Of every variant or value of an axis, with its name for a message."""
    for variant in data.get("variant", []):
        yield f"variant '{variant['name']}'", variant
    for axis in data.get("axis", []):
        for value in axis["values"]:
            yield f"axis '{axis['name']}', '{value['name']}'", value
