"""One's own case from the command line, `cqbench run --vary NAME=V1,V2 ... -- FLAGS` -> the tables of an experiment.

NAME: a flag of the client, server:FLAG, or a variable, env:NAME of the client and server-env:NAME of the server; build,
client-build and server-build are the builds of the programs. All --vary together are a product. A list with a ';' in it
is divided there, and its values may have commas.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import tomli_w

from cqbench.experiment.fields import MAX_NAME
from cqbench.experiment.spec import BadExperiment, Data
from cqbench.experiment.tables import BUILDS
from cqbench.formats.text import one_line

KEYS = {"": "client_flags", "server": "server_flags", "env": "client_env", "server-env": "server_env"}
BUILD_NAMES = {key.replace("_", "-"): key for key in BUILDS}  # NAMEs that are no flags of the client
DEFAULT = {"inflight": [1, 4, 16], "warmup": "200ms", "interval": "1s", "repetitions": 7}
SHOWN = "channel-policy=shared,pool:2, server:poll=block,spin, env:NAME=a,b, server-env:NAME=a,b or build=a,b"
SAVED = "# Written by `cqbench run --save`. `cqbench run --keys` says what each key means.\n\n"


def tables(vary: Sequence[str], client: Sequence[str], server: str) -> Data:
    """client, server: flags of all configurations. Raises BadExperiment with a line for each --vary that is none."""
    axes, said, errors = [], [], []
    for text in vary:
        try:
            kind, name, values = _divided(text)
        except ValueError as error:
            errors.append(f"argument --vary: '{one_line(text)}' is not {error}")
            continue
        axes.append(_axis(kind, name, values))
        said.append(f"{axes[-1]['name']} {_either([shlex.quote(value) for value in values])}")
    if client and not client[0].startswith("-"):
        errors.append(
            f"argument --vary: '{one_line(client[0])}' is not accepted with it: an experiment of its own; flags of "
            "the client follow after --"
        )
    if errors:
        raise BadExperiment("\n".join(errors))
    rest = " ".join(filter(None, [shlex.join(client), f"and the server's {server}" if server else ""]))
    name = "-".join(axis["name"] for axis in axes)[:MAX_NAME].rstrip("-")
    question = f"Which is best: {'; '.join(said)}{f', with {rest}' if rest else ''}?"
    head = {"name": name, "title": "; ".join(said), "question": question, **DEFAULT}
    return {"experiment": head, "client": {"flags": shlex.join(client)}, "server": {"flags": server}, "axis": axes}


def _divided(text: str) -> tuple[str, str, list[str]]:
    """Kind, name, values. Raises ValueError with what is accepted."""
    match = re.fullmatch(r"(?:(server|env|server-env):)?-{0,2}([A-Za-z_][A-Za-z0-9_-]*)=(.*)", text, re.DOTALL)
    if not match:
        raise ValueError(f"NAME=VALUE,VALUE,...: {SHOWN}")
    values = match[3].split(";" if ";" in match[3] else ",")
    if len(values) < 2 or len(set(values)) < len(values):
        raise ValueError("two different values or more, divided by commas, or by ';' where a value has a comma")
    return match[1] or "", match[2], values


def _axis(kind: str, name: str, values: Sequence[str]) -> Data:
    key = "" if kind else BUILD_NAMES.get(name, "")
    settings: Sequence[str | Data]
    if key:
        settings, values = _builds(values), _short(values)
    else:
        key = KEYS[kind]
        of_flag = key.endswith("flags")
        settings = [shlex.join([f"--{name}={value}"]) if of_flag else {name: value} for value in values]
    names: list[str] = []
    for value in values:
        names.append(_name(value, names))
    made = [{"name": n, key: setting} for n, setting in zip(names, settings, strict=True)]
    return {"name": "-".join(filter(None, (kind, name))), "values": made}


def _builds(values: Sequence[str]) -> list[str]:
    """As a file has them, whose folders do not begin where the command was typed."""
    return [str(Path(value).resolve()) if "/" in value else value for value in values]


def _short(folders: Sequence[str]) -> list[str]:
    """Without what all of them begin and end with: '/a/main/bin', '/a/mine/bin' -> 'main', 'mine'."""
    parts = [Path(folder).parts for folder in folders]
    for end in (-1, 0):
        while min(map(len, parts)) > 1 and len({of[end] for of in parts}) == 1:
            parts = [of[:-1] if end else of[1:] for of in parts]
    return ["/".join(of) for of in parts]


def _name(value: str, taken: Sequence[str]) -> str:
    """As a part of a configuration's name: 'pool:2' -> 'pool-2'. Unique."""
    base = re.sub(r"[^A-Za-z0-9_+]+", "-", value).strip("-_+")[: MAX_NAME // 2] or "empty"
    found = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in found if name not in taken)


def _either(names: Sequence[str]) -> str:
    """'a, b or c'."""
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def save(path: Path, data: Data, repetitions: int, seed: int) -> None:
    """A file that runs the same. Raises OSError, FileExistsError when it is there already."""
    head = {**data["experiment"], "repetitions": repetitions, "seed": seed}
    with path.open("x", encoding="utf-8") as file:
        file.write(SAVED + tomli_w.dumps({**data, "experiment": head}))
