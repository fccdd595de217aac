"""The kinds of values in an experiment's file, for the models in tables.py.

A check raises ValueError with what is accepted ("an integer from 1 to 10"), or Wrong with all that is to be said.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, NoReturn

from pydantic import PlainValidator

from cqbench.experiment.order import MAX_SEED
from cqbench.formats.text import one_line
from cqbench.options import MAX_RATE, flag_name, seconds_of

PLACEMENTS = ("split", "pair", "none")
MAX_INFLIGHT, MAX_REPETITIONS, MAX_NAME = 100_000, 1000, 100
MAX_ADDED_RTT_S = 1.0
MAX_SERVERS = 16
NAME = "a name of letters, digits, '_', '-', '+', at most 100, that begins with a letter or digit"
PART, WHOLE_NAME = r"[A-Za-z0-9][A-Za-z0-9_+-]*", r"[A-Za-z0-9][A-Za-z0-9_+.-]*"
# Flags that the runner itself passes to the programs.
LOAD_FLAGS = (
    *("--inflight", "--min-inflight", "--max-inflight", "--inflight-step", "--inflight-list", "--repetitions"),
    *("--rate", "--min-rate", "--max-rate", "--rate-step", "--rate-list", "--find-rate"),
    *("--until-stable", "--max-repetitions", "--warmup", "--interval"),
)
ASKED = ("--check", "--help", "--help-all", "-h", "--version")
CLIENT_TAKEN = (*LOAD_FLAGS, *ASKED, "--host", "--port", "--format", "--output")
SERVER_TAKEN = (*ASKED, "--port", "--listen")


class Wrong(ValueError):
    """The text says what is wrong. key: in the field's value, such as '.server_cpus'."""

    def __init__(self, text: str, key: str = "") -> None:
        super().__init__(text)
        self.key = key


@dataclass(frozen=True)
class Kind:
    """Names a kind of value in the reference of the keys."""

    name: str


@dataclass(frozen=True)
class Pinning:
    """how: one of PLACEMENTS, or 'cpus' with a CPU list for at least one side."""

    how: str = "split"
    server_cpus: str = ""
    client_cpus: str = ""


def show(value: Any) -> str:
    """A value from a TOML file in a message."""
    return one_line(json.dumps(value, default=str, ensure_ascii=False), 80)


def refuse(value: Any, accepted: str, key: str = "") -> NoReturn:
    """Raises Wrong: "<value> is not <accepted>"."""
    raise Wrong(f"{show(value)} is not {accepted}", key)


def _only(accepted: str, holds: Callable[[Any], object]) -> PlainValidator:
    """As it is, when that holds."""

    def check(value: Any) -> Any:
        if not holds(value):
            raise ValueError(accepted)
        return value

    return PlainValidator(check)


def _matches(pattern: str, value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value, re.ASCII) is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_whole(low: int, high: int, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _whole(low: int, high: int) -> PlainValidator:
    return _only(f"an integer from {low} to {high}", partial(_is_whole, low, high))


def _name(pattern: str, more: str) -> PlainValidator:
    return _only(NAME + more, lambda value: _matches(pattern, value) and len(value) <= MAX_NAME)


def _words(value: Any) -> str:
    """A text that says something, on one line."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text")
    return " ".join(value.split())


def _list(accepted: str, item: str, holds: Callable[[Any], object]) -> PlainValidator:
    """Accepts a list of at least one value; each must be valid and occur once."""

    def check(value: Any) -> Any:
        if not isinstance(value, list) or not value:
            raise ValueError(accepted)
        for one in value:
            if not holds(one):
                refuse(one, item)
        for one in value:
            if value.count(one) > 1:
                refuse(one, "accepted twice in the list: each once")
        return tuple(value)

    return PlainValidator(check)


def _seconds(low: float, high: float, value: Any) -> float:
    """A number, or a text with a unit."""
    accepted = f'a number of seconds from {low:g} to {high:g}, or one with us, ms, s or m: "500ms"'
    if not isinstance(value, str) and not _is_number(value):
        raise ValueError(accepted)
    try:
        found = seconds_of(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError(accepted) from None
    if not low <= found <= high:  # refuses nan, too
        raise ValueError(accepted)
    return float(found)


def _milliseconds(value: Any) -> int:
    """In whole ones, as toxiproxy counts."""
    found = _seconds(0.0, MAX_ADDED_RTT_S, value) * 1000
    if abs(found - round(found)) > 1e-6:
        raise ValueError('a whole number of milliseconds such as "5ms"')
    return round(found)


def _flags(taken: tuple[str, ...], value: Any) -> tuple[str, ...]:
    """A list of strings, or one string that is split as a shell does."""
    if isinstance(value, str):
        try:
            found = shlex.split(value)
        except ValueError as error:
            raise ValueError(f"a command line: {error}") from None
    elif isinstance(value, list) and all(isinstance(v, str) for v in value):
        found = value
    else:
        raise ValueError('a string of flags such as "--api cq", or a list of strings')
    for flag in found:
        if "\0" in flag:
            refuse(flag, "accepted: it has a NUL character")
        if flag_name(flag) in taken:
            refuse(flag, "accepted: the experiment's own keys or the runner give it")
    return tuple(found)


def _variables(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ValueError('a table of environment variables such as { GRPC_TRACE = "http" }')
    for name, text in value.items():
        if not _matches(r"[A-Za-z_][A-Za-z0-9_]*", name):
            refuse(name, "a name of an environment variable")
        if not isinstance(text, str) or "\0" in text:
            refuse(text, "a string", f".{name}")
    return value


def _pinning(value: Any) -> Pinning:
    """One of PLACEMENTS or CPU lists, which are checked against the machine later."""
    if isinstance(value, str) and value in PLACEMENTS:
        return Pinning(value)
    if not isinstance(value, dict) or not value:
        accepted = ", ".join(f"'{p}'" for p in PLACEMENTS)
        raise ValueError(f"{accepted} or a table with server_cpus, client_cpus or both")
    for key, text in value.items():
        if key not in ("server_cpus", "client_cpus"):
            raise Wrong(f"unknown key {show(key)} (value {show(text)}); accepted are server_cpus, client_cpus")
        if not isinstance(text, str) or not text:
            refuse(text, 'a list of CPUs such as "0-3,8"', f".{key}")
    return Pinning("cpus", **value)


def is_host(value: Any) -> bool:
    """An address as the client takes it."""
    return isinstance(value, str) and bool(value.strip()) and not value.startswith("-") and "\0" not in value


def _one_of(*accepted: str) -> PlainValidator:
    return _only(" or ".join(f"'{a}'" for a in accepted), lambda value: isinstance(value, str) and value in accepted)


RATE = f"a number of calls per second above 0 and up to {MAX_RATE}"
FileName = Annotated[str, _name(WHOLE_NAME, " (dots too)"), Kind("name")]
PartName = Annotated[str, _name(PART, " (no dot: it joins the names of the axes)"), Kind("name")]
Words = Annotated[str, PlainValidator(_words), Kind("text")]
Inflight = Annotated[
    tuple[int, ...],
    _list(
        "a list of in-flight counts such as [1, 2, 4, 8]",
        f"an integer from 1 to {MAX_INFLIGHT}",
        partial(_is_whole, 1, MAX_INFLIGHT),
    ),
    Kind("list of integers"),
]
Rates = Annotated[
    tuple[float, ...],
    _list(
        "a list of calls per second such as [1000, 2000]", RATE, lambda rate: _is_number(rate) and 0 < rate <= MAX_RATE
    ),
    Kind("list of numbers"),
]
Warmup = Annotated[float, PlainValidator(partial(_seconds, 0.001, 3600.0)), Kind("duration")]
Interval = Annotated[float, PlainValidator(partial(_seconds, 0.01, 3600.0)), Kind("duration")]
Milliseconds = Annotated[int, PlainValidator(_milliseconds), Kind("duration")]
Moment = Annotated[float, PlainValidator(partial(_seconds, 0.0, 3600.0)), Kind("duration")]
Servers = Annotated[int, _whole(1, MAX_SERVERS), Kind("integer")]
Kilobytes = Annotated[int, _whole(1, 10_000_000), Kind("integer")]
Repetitions = Annotated[int, _whole(1, MAX_REPETITIONS), Kind("integer")]
Seed = Annotated[int, _whole(0, MAX_SEED), Kind("integer")]
Placement = Annotated[Pinning, PlainValidator(_pinning), Kind("text or table")]
ClientFlags = Annotated[tuple[str, ...], PlainValidator(partial(_flags, CLIENT_TAKEN)), Kind("flags")]
ServerFlags = Annotated[tuple[str, ...], PlainValidator(partial(_flags, SERVER_TAKEN)), Kind("flags")]
Variables = Annotated[dict[str, str], PlainValidator(_variables), Kind("table of texts")]
Build = Annotated[str, _one_of("release", "sid"), Kind("text")]
FaultKind = Annotated[
    str,
    _one_of("latency", "bandwidth", "reset", "half-open", "restart", "goaway", "stop", "gone"),
    Kind("text"),
]
Program = Annotated[
    str,
    _only('the path of a program, such as "build/lineup/lineup"', lambda value: is_host(value) and not value.isspace()),
    Kind("text"),
]
Port = Annotated[str, _one_of("grpc", "http"), Kind("text")]
YesNo = Annotated[bool, _only("true or false", lambda value: isinstance(value, bool)), Kind("true or false")]
Layout = Annotated[str, _one_of("post"), Kind("text")]
Host = Annotated[str, _only('HOST or HOST:PORT, such as "server:2137"', is_host), Kind("text")]
GrpcVersion = Annotated[
    str,
    _only('a version of gRPC such as "1.83"', partial(_matches, r"\d{1,4}\.\d{1,4}(\.\d{1,4})?")),
    Kind("text"),
]
