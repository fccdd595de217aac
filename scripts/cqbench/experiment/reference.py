"""The reference of an experiment's file: a template to begin with, and every key, from the models."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from cqbench.experiment.tables import PLACES, AxisValue, File, OneConfiguration, Settings
from cqbench.formats.problems import Accepts

WIDTH = 110
INDENT = " " * 38
INTRODUCTION = """\
An experiment is a TOML file; `cqbench run --template` prints one to begin with. A duration is a number of seconds or a
text with us, ms, s or m ("500ms"). Flags are a text as on the command line or a list with a text for each word.
"""
TEMPLATE = """\
# An experiment: configurations of client and server, measured side by side. Try it: cqbench run FILE.toml --plan
# Every key: cqbench run --keys

[experiment]
name = "my-case"             # begins the name of the folder of results
title = "More channels for my service"
question = "Does my client need more than one connection with 1 KiB answers?"
inflight = [1, 4, 16]        # calls in flight, a closed loop
# rates = [1000, 5000]       # or calls per second, an open loop
warmup = "200ms"             # before each point
interval = "1s"              # measured at each point
repetitions = 7              # decisions take six
# seed = 1                   # of the random order; without it one is drawn and noted
# placement = "split"        # or "pair", "none", { server_cpus = "0-3", client_cpus = "8-11" }

[client]                     # what all clients have in common
flags = "--api callback --workload echo --response-bytes 1KiB"
# env = { GRPC_TRACE = "http" }

[server]                     # what all servers have in common
# flags = "--api callback"
# layout = "post"            # the source post's queues and threads, scaled to the server's CPUs

[[axis]]                     # a setting that varies; with several, all combinations are run
name = "connections"
values = [
  { name = "shared", client_flags = "--channel-policy shared" },
  { name = "pool-2", client_flags = "--channel-policy pool:2" },
  { name = "pool-4", client_flags = "--channel-policy pool:4" },
]

# Or, instead of axes, configurations one by one:
# [[configuration]]
# name = "traced"
# client_env = { GRPC_TRACE = "http" }
#
# [[configuration]]
# name = "elsewhere"
# host = "server:2137"       # a server that is there already
"""


# Kinds of what a list holds.
LISTS = {"integer": "list of integers", "number": "list of numbers", "table": "list of tables", "text": "flags"}
PLAIN = {str: "text", int: "integer", float: "number", bool: "true or false"}


def keys() -> str:
    """Every key: name, type, default, meaning. Ends with a newline."""
    models = [model for model in dict.fromkeys(PLACES.values()) if model is not File]
    models.insert(models.index(OneConfiguration), Settings)
    return INTRODUCTION + "".join(f"\n{inspect.cleandoc(m.__doc__ or '')}\n" + "".join(_lines(m)) for m in models)


def _lines(model: type[BaseModel]) -> Iterator[str]:
    inherited = Settings.model_fields if model in (OneConfiguration, AxisValue) else {}
    types = get_type_hints(model, include_extras=True)
    for name, field in model.model_fields.items():
        if name not in inherited:
            text = f"  {name:<18}{_kind(types[name]):<18}{field.description} ({_default(field)})"
            yield textwrap.fill(text, WIDTH, subsequent_indent=INDENT) + "\n"
    if inherited:
        yield f"  and the settings of a {'configuration' if model is OneConfiguration else 'value'}, above\n"


def _kind(of: Any) -> str:
    """'list of integers', by a field's type."""
    inner, origin = get_args(of), get_origin(of)
    if origin is Annotated:
        return next((more.kind for more in inner if isinstance(more, Accepts)), "") or _kind(inner[0])
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_kind(one) for one in inner if one is not type(None)))
    if origin is Literal:
        return "text"
    if origin is list:
        return LISTS[_kind(inner[0])]
    if origin is dict:
        return "table of texts"
    return PLAIN.get(of, "table")


def _default(field: FieldInfo) -> str:
    """As it would be written."""
    if field.is_required():
        return "required"
    if field.default in (None, "", [], {}):
        return "default: none"
    return f"default: {field.default:g}" if isinstance(field.default, float) else f"default: {field.default}"
